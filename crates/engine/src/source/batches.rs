//! Rows that are read a batch at a time.

use firesteel_types::RddId;

use crate::task::{Abort, TaskContext, abort_task};
use firesteel_files::IoError;
use firesteel_storage::memory::BatchLimit;

/// The most rows that are read in one go, between two checks for an order to end.
const BATCH_ROWS_MAX: usize = 1024;

/// Flattens the batches that `next` reads; `next` adds at most so many rows and tells whether there may be more. A read
/// error ends the task and blames `operator`.
///
/// What rows own is bounded by the readers, who know how long they are in the file: none reads on when it has given out as
/// much as its buffer holds.
pub(crate) fn batches<'a, T: 'a>(
    operator: RddId,
    task: &'a TaskContext,
    mut next: impl FnMut(&mut Vec<T>, usize) -> Result<bool, IoError> + 'a,
) -> impl Iterator<Item = T> + 'a {
    let mut more = true;
    let read = move || {
        if !more {
            return None;
        }
        task.check();
        let rows_max = const { BatchLimit::rows::<T>(BATCH_ROWS_MAX) };
        let mut rows = Vec::with_capacity(rows_max);
        more = or_abort(next(&mut rows, rows_max), operator);
        task.count_input(rows.len() as u64, 0);
        Some(rows)
    };
    std::iter::from_fn(read).flatten()
}

/// The value, or the end of the task.
pub(crate) fn or_abort<T>(result: Result<T, IoError>, operator: RddId) -> T {
    result.unwrap_or_else(|error| {
        let causes = std::iter::successors(std::error::Error::source(&error), |cause| cause.source());
        let text = causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"));
        abort_task(Abort::failed(operator, text))
    })
}
