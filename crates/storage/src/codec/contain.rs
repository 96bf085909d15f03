//! Keeps a panic of the user's code from going further: [`contain`].

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `call` on a value that was made up; nothing if it panics.
pub(super) fn contain<R>(call: impl FnOnce() -> R) -> Option<R> {
    // What a panic carries may panic itself when it is dropped.
    catch_unwind(AssertUnwindSafe(call)).map_err(std::mem::forget).ok()
}
