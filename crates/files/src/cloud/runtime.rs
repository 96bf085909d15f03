//! The bridge from ordinary threads to `object_store`, which is async: [`spawn`] and [`block_on`].
//!
//! A small runtime of its own starts at the first remote request. The caller's thread never enters it: a request is
//! spawned there and its answer comes back through a channel. So a caller may itself stand inside another runtime
//! (it blocks that runtime's worker, as any blocking call does, but nothing panics).

use std::future::Future;
use std::io;
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, sync_channel};

use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

use crate::error::IoError;

/// Requests mostly wait for the network; two threads keep them moving beside the task threads.
const WORKER_THREADS: usize = 2;

static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .thread_name("firesteel-io")
        .enable_all()
        .build()
});

/// A request under way; dropping it cancels the request.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    answer: Receiver<T>,
    task: AbortHandle,
}

impl<T> Pending<T> {
    /// Blocks until the answer is there.
    pub(crate) fn wait(self) -> Result<T, IoError> {
        let died = |_| IoError::Runtime { reason: "a request panicked, see the log".to_owned() };
        self.answer.recv().map_err(died)
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Starts a request in the background.
pub(crate) fn spawn<F>(request: F) -> Result<Pending<F::Output>, IoError>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let runtime = match &*RUNTIME {
        Ok(runtime) => runtime,
        Err(error) => return Err(IoError::Runtime { reason: error.to_string() }),
    };
    let (sender, answer) = sync_channel(1);
    let task = runtime.spawn(async move {
        // The caller may have given up, which is no error.
        let _ = sender.send(request.await);
    });
    Ok(Pending { answer, task: task.abort_handle() })
}

/// Makes a request and blocks until it is answered.
pub(crate) fn block_on<F>(request: F) -> Result<F::Output, IoError>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawn(request)?.wait()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_request_is_answered_on_any_thread() {
        assert_eq!(block_on(async { 6 * 7 }).unwrap(), 42);
    }

    #[test]
    fn a_caller_may_stand_inside_another_runtime() {
        let outer = tokio::runtime::Builder::new_current_thread().build().unwrap();

        assert_eq!(outer.block_on(async { block_on(async { 6 * 7 }).unwrap() }), 42);
    }

    #[test]
    fn a_request_that_panics_is_an_error() {
        let answer = block_on(async { panic!("in the request") });

        assert!(matches!(answer, Err::<(), _>(IoError::Runtime { .. })));
    }

    #[test]
    fn a_dropped_request_is_cancelled() {
        let (kept, dropped) = mpsc::channel::<()>();
        let pending = spawn(async move {
            let _kept = kept;
            std::future::pending::<()>().await;
        });

        drop(pending.unwrap());

        assert!(dropped.recv().is_err(), "the request's state is dropped with it");
    }
}
