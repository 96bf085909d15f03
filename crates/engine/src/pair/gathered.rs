//! Rows that wait for each other: [`Gathered`].

use firesteel_storage::memory::BatchLimit;

/// Rows kept until there are so many of them that one step after the other is done for all. A large row is not kept waiting
/// for others.
///
/// To find a key is to miss the cache. A processor waits for many of those at once if nothing stands between them; what
/// makes rows, and what is done with them, does.
pub(super) struct Gathered<T> {
    rows: Vec<T>,
    most: usize,
    limit: BatchLimit,
}

impl<T> Gathered<T> {
    pub(super) fn new(most: usize) -> Self {
        let most = BatchLimit::rows::<T>(most).min(most);
        Self { rows: Vec::with_capacity(most), most, limit: BatchLimit::start() }
    }

    /// Keeps a row; returns whether it is time to hand the batch out.
    #[inline]
    pub(super) fn push(&mut self, row: T) -> bool {
        self.rows.push(row);
        self.rows.len() == self.most || self.limit.is_reached::<T>()
    }

    /// Hands the rows out, none of which is kept.
    #[inline]
    pub(super) fn hand_out<R>(&mut self, f: impl FnOnce(&mut Vec<T>) -> R) -> R {
        let result = f(&mut self.rows);
        self.rows.clear();
        self.limit = BatchLimit::start();
        result
    }
}
