//! The handle of a running action: [`JobHandle`].

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context as PollContext, Poll},
    time::{Duration, Instant},
};

use firesteel_scheduler::RowsSeen;
use firesteel_types::JobId;

use super::{Call, JobProgress, JobState, flow::Flow, progress::progress_of};
use crate::{Error, Result};

/// An action that runs in the background. Made by the `_async` twin of each action.
///
/// Also a `Future` of the action's value, for any async runtime. Dropping the handle does not cancel the job. What is
/// left to do on the driver, such as merging the results of partitions, is done by the thread that waits for the value; for
/// a future by a thread of its own, so that a poll never computes. A panic of the application's code there, as in its own
/// merge function, is the error of the action.
///
/// ```
/// use firesteel::prelude::*;
///
/// let ctx = Context::local(2)?;
/// let handle = ctx.range(0..100).count_async();
/// assert_eq!(handle.wait()?, 100);
/// # Ok::<(), firesteel::Error>(())
/// ```
#[must_use = "an action without a waiter may not be over when the program ends"]
pub struct JobHandle<T>(pub(super) Arc<Flow<T>>);

impl<T> JobHandle<T> {
    /// An action that cannot even begin.
    pub(crate) fn failed(call: Call, error: Error) -> Self {
        Self(Flow::failed(call, error))
    }

    /// Waits for the value.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// // Both run at the same time.
    /// let (sum, count) = (ctx.range(0_i32..100).sum_async(), ctx.range(0..100).count_async());
    /// assert_eq!((sum.wait()?, count.wait()?), (4950_i64, 100));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn wait(self) -> Result<T> {
        self.0.until_over(None);
        self.0.take_value()
    }

    /// Waits for the value for at most `limit`; gives the handle back when the time is up.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::time::Duration;
    /// # let ctx = Context::local(2)?;
    /// let mut handle = ctx.range(0..1000).count_async();
    /// let count = loop {
    ///     match handle.wait_timeout(Duration::from_millis(100)) {
    ///         Ok(count) => break count?,
    ///         Err(running) => handle = running,
    ///     }
    /// };
    /// assert_eq!(count, 1000);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn wait_timeout(self, limit: Duration) -> Result<Result<T>, Self> {
        if self.0.until_over(Instant::now().checked_add(limit)) { Ok(self.0.take_value()) } else { Err(self) }
    }

    /// The run that its rows are of, when it is over.
    pub(crate) fn rows_seen(&self) -> Option<RowsSeen> {
        self.0.until_over(None);
        self.0.rows_seen()
    }

    /// Cancels what is running, and what would follow. Nothing happens if the action is over.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let endless = ctx.range(0..1).flat_map(|_| std::iter::repeat(1)).count_async();
    /// endless.cancel();
    /// assert!(endless.wait().is_err());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn cancel(&self) {
        self.cancel_because("cancelled by its handle");
    }

    /// Cancels for a reason that the error will name.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let endless = ctx.range(0..1).flat_map(|_| std::iter::repeat(1)).count_async();
    /// endless.cancel_because("the user left");
    /// assert!(endless.wait().unwrap_err().to_string().contains("the user left"));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn cancel_because(&self, reason: impl Into<String>) {
        self.0.cancel(reason.into());
    }

    /// Whether the action runs, or how it ended.
    ///
    /// ```
    /// # use firesteel::{JobState, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let handle = ctx.range(0..100).count_async();
    /// while handle.state() == JobState::Running {
    ///     std::thread::yield_now();
    /// }
    /// assert_eq!(handle.state(), JobState::Succeeded);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn state(&self) -> JobState {
        self.0.state()
    }

    /// How many of its tasks are done.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let handle = ctx.range_into(0..100, 8).count_async();
    /// while !handle.is_finished() {
    ///     std::thread::yield_now();
    /// }
    /// let progress = handle.progress();
    /// assert_eq!((progress.jobs, progress.tasks, progress.tasks_done), (1, 8, 8));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn progress(&self) -> JobProgress {
        progress_of(self.0.driver(), &self.0.jobs())
    }

    /// Whether the action is over, with or without a value.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let endless = ctx.range(0..1).flat_map(|_| std::iter::repeat(1)).count_async();
    /// assert!(!endless.is_finished());
    /// endless.cancel();
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn is_finished(&self) -> bool {
        self.state() != JobState::Running
    }

    /// The jobs that were run so far, the running one last.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let handle = ctx.range(0..9).count_async();
    /// assert_eq!(handle.job_ids().len(), 1);
    /// assert_eq!(handle.wait()?, 9);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn job_ids(&self) -> Vec<JobId> {
        self.0.jobs().iter().map(|run| run.job).collect()
    }

    /// Calls `f` when the action is over, at once if it is.
    ///
    /// No thread waits for it: `f` runs on a thread of the engine and must not block, so it cannot wait for another
    /// action; it may start one. A panic in it is logged and goes no further.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let (done, heard) = std::sync::mpsc::channel();
    /// ctx.range(0..9).count_async().on_complete(move || done.send("counted").unwrap());
    /// assert_eq!(heard.recv().unwrap(), "counted");
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn on_complete(&self, f: impl FnOnce() + Send + 'static) {
        self.0.on_complete(Box::new(f));
    }
}

impl<T: Send + 'static> Future for JobHandle<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut PollContext<'_>) -> Poll<Result<T>> {
        self.0.poll(cx.waker())
    }
}

impl<T> std::fmt::Debug for JobHandle<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("JobHandle")
            .field("action", &self.0.action())
            .field("state", &self.0.state())
            .finish_non_exhaustive()
    }
}
