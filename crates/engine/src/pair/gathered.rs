//! Rows that wait for each other: [`Gathered`].

use std::mem::needs_drop;

use firesteel_storage::memory::meter;

/// What gathered rows may own in all. A row that owns more is not kept waiting for others.
const BYTES_MAX: i64 = 64 << 10;

/// Rows kept until there are so many of them that one step after the other is done for all.
///
/// To find a key is to miss the cache. A processor waits for many of those at once if nothing stands between them; what
/// makes rows, and what is done with them, does.
pub(super) struct Gathered<T> {
    rows: Vec<T>,
    most: usize,
    /// What the task held when there were none.
    before: i64,
}

impl<T> Gathered<T> {
    pub(super) fn new(most: usize) -> Self {
        Self { rows: Vec::with_capacity(most), most, before: meter::live() }
    }

    /// Keeps a row; says whether it is time to hand them out.
    #[inline]
    pub(super) fn push(&mut self, row: T) -> bool {
        self.rows.push(row);
        self.rows.len() == self.most || (needs_drop::<T>() && meter::live() - self.before > BYTES_MAX)
    }

    /// Hands the rows out, none of which is kept.
    #[inline]
    pub(super) fn hand_out<R>(&mut self, f: impl FnOnce(&mut Vec<T>) -> R) -> R {
        let result = f(&mut self.rows);
        self.rows.clear();
        self.before = meter::live();
        result
    }
}
