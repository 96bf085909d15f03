//! How many rows come between two checks of a task: [`Pace`].

use firesteel_storage::memory::meter;

use super::TaskContext;

/// Rows between two checks at most.
const ROWS_MAX: usize = 4096;
/// What a batch of rows may leave behind in memory; where it is more, batches get smaller.
const GROWTH_MAX: i64 = 256 << 10;

/// The size of the batches in which a source gives out its rows.
///
/// A check costs little, but not nothing: rows that leave nothing behind come in large batches, and rows that a closure
/// keeps, or makes large, in batches so small that a task is found out before it holds much more than it may.
pub(crate) struct Pace<'a> {
    task: &'a TaskContext,
    rows: usize,
    live: i64,
}

impl<'a> Pace<'a> {
    pub(crate) fn new(task: &'a TaskContext) -> Self {
        Self { task, rows: 64, live: meter::live() }
    }

    /// Checks whether the task may go on, and returns how many rows come next.
    pub(crate) fn next_rows(&mut self) -> usize {
        self.task.check();
        let live = meter::live();
        let growth = live - std::mem::replace(&mut self.live, live);
        self.rows = match growth {
            ..=GROWTH_MAX => (2 * self.rows).min(ROWS_MAX),
            growth => (self.rows / (growth / GROWTH_MAX).cast_unsigned() as usize).max(1),
        };
        self.rows
    }
}
