//! Threads that help a task.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    thread::{self, JoinHandle},
};

use super::{Abort, TaskContext, panic_text, take_panic};
use crate::ship::take_blamed;

/// Runs `work` on a thread of its own as part of `task`: functions of the user find the task there, and a panic is kept
/// for its report. However the work unwinds, the thread ends in order and returns how; its joiner passes that on to
/// the task.
pub(crate) fn spawn_helper<T: Send + 'static>(
    name: &str,
    task: &TaskContext,
    work: impl FnOnce(&TaskContext) -> T + Send + 'static,
) -> io::Result<JoinHandle<Result<T, Abort>>> {
    let task = task.clone();
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        TaskContext::set_current(Some(task.clone()));
        let done = catch_unwind(AssertUnwindSafe(|| work(&task)));
        TaskContext::set_current(None);
        done.map_err(|payload| {
            let (operator, panic) = (take_blamed(), take_panic());
            match payload.downcast::<Abort>() {
                Ok(abort) => *abort,
                Err(payload) => Abort::Failed { message: panic_text(panic, payload), operator },
            }
        })
    })
}
