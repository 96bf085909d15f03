//! A running action.
//!
//! ```text
//! Running ── a job ends, Steps::next ──▶ Running (the next job)
//!    ├── the last step gives a value ──▶ Done(Ok) ─┐
//!    └── a job fails or is cancelled ──▶ Done(Err) ┴─ wait, poll ──▶ Taken
//!        or a step panics
//! ```
//!
//! Between its jobs an action meets code of the application: rows are compared, merged and dropped. A panic there is
//! the action's error, on any thread: an action that is over always reports that.

use std::{
    future::Future,
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context as PollContext, Poll, Waker},
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex, MutexGuard};

use firesteel_scheduler::{Cancel, JobError, JobRejection, RowsSeen};
use firesteel_types::{JobId, Properties};

use super::{
    Call, JobProgress, JobState, Next, Steps,
    progress::{RunJob, progress_of},
};
use crate::{
    Error, Result,
    contain::{contain, discard},
    driver::{Driver, Submission},
    executor::TaskContext,
};

/// An action that runs in the background. Made by the `_async` twin of each action.
///
/// Also a `Future` of the action's value, for any async runtime. Dropping the handle does not cancel the job. What is
/// left to do on the driver, such as merging the results of partitions, is done by the thread that takes it. A panic of the
/// application's code there, as in its own merge function, is the error of the action.
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
pub struct JobHandle<T>(Arc<Flow<T>>);

struct Flow<T> {
    call: Call,
    driver: Option<Arc<Driver>>,
    /// Those of the thread that called the action: later jobs are submitted from other threads.
    properties: Properties,
    inner: Mutex<Inner<T>>,
    done: Condvar,
}

struct Inner<T> {
    phase: Phase<T>,
    /// The jobs so far, the running one last.
    jobs: Vec<RunJob>,
    /// The run that the first of them had its rows from. No later one may see another.
    rows_seen: Option<RowsSeen>,
    cancelled: Option<String>,
    /// The steps of an action that is over; dropped by the thread that takes it, since that may take a while.
    leftover: Option<Box<dyn Steps<T>>>,
    waker: Option<Waker>,
    on_complete: Vec<Box<dyn FnOnce() + Send>>,
}

enum Phase<T> {
    /// With the steps, unless one of them is being asked for right now.
    Running(Option<Box<dyn Steps<T>>>),
    Done(Outcome<T>),
    /// The value was handed out.
    Taken {
        state: JobState,
    },
}

type Outcome<T> = Result<Box<dyn FnOnce() -> Result<T> + Send>>;

/// What was not taken is the user's as well, and the last handle may be dropped on any thread.
impl<T> Drop for Flow<T> {
    fn drop(&mut self) {
        let inner = self.inner.get_mut();
        let taken = Phase::Taken { state: inner.state() };
        discard(mem::replace(&mut inner.phase, taken));
        discard(inner.leftover.take());
        mem::take(&mut inner.on_complete).into_iter().for_each(discard);
    }
}

impl<T: 'static> JobHandle<T> {
    /// An action that cannot even begin.
    pub(crate) fn failed(call: Call, error: Error) -> Self {
        Self(Arc::new(Flow::new(call, None, Phase::Done(Err(error)))))
    }

    /// Begins an action.
    pub(crate) fn start(call: Call, driver: &Arc<Driver>, steps: Box<dyn Steps<T>>) -> Self {
        if TaskContext::is_set() {
            return Self::failed(call, Error::InsideTask { action: call.action });
        }
        let flow = Arc::new(Flow::new(call, Some(driver.clone()), Phase::Running(Some(steps))));
        flow.advance();
        Self(flow)
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
        let mut inner = self.0.inner.lock();
        self.0.until_done(&mut inner);
        let (outcome, leftover) = (inner.take(), inner.leftover.take());
        drop(inner);
        self.0.clear_progress();
        self.0.value(outcome, leftover)
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
        let mut inner = self.0.inner.lock();
        match Instant::now().checked_add(limit) {
            Some(deadline) => {
                while !inner.is_done() && !self.0.done.wait_until(&mut inner, deadline).timed_out() {}
            }
            None => self.0.until_done(&mut inner),
        }
        if !inner.is_done() {
            drop(inner);
            return Err(self);
        }
        let (outcome, leftover) = (inner.take(), inner.leftover.take());
        drop(inner);
        self.0.clear_progress();
        Ok(self.0.value(outcome, leftover))
    }

    /// The run that its rows are of, when it is over.
    pub(crate) fn rows_seen(&self) -> Option<RowsSeen> {
        let mut inner = self.0.inner.lock();
        self.0.until_done(&mut inner);
        inner.rows_seen
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
        let reason = reason.into();
        let mut inner = self.0.inner.lock();
        if !matches!(inner.phase, Phase::Running(_)) {
            return;
        }
        inner.cancelled = Some(reason.clone());
        let running = inner.jobs.last().map(|run| run.job);
        drop(inner);
        if let (Some(job), Some(driver)) = (running, &self.0.driver) {
            driver.cancel(Cancel::Job(job), Some(reason));
        }
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
        self.0.inner.lock().state()
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
        let jobs = self.0.inner.lock().jobs.clone();
        progress_of(self.0.driver.as_deref(), &jobs)
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
        self.0.inner.lock().jobs.iter().map(|run| run.job).collect()
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
        let mut inner = self.0.inner.lock();
        if inner.is_done() {
            drop(inner);
            self.0.call_back(f);
        } else {
            inner.on_complete.push(Box::new(f));
        }
    }
}

impl<T> Inner<T> {
    fn state(&self) -> JobState {
        match &self.phase {
            Phase::Running(_) => JobState::Running,
            Phase::Done(Ok(_)) => JobState::Succeeded,
            Phase::Done(Err(_)) => JobState::Failed,
            Phase::Taken { state } => *state,
        }
    }

    fn is_done(&self) -> bool {
        self.state() != JobState::Running
    }

    fn take(&mut self) -> Outcome<T> {
        let taken = Phase::Taken { state: self.state() };
        match mem::replace(&mut self.phase, taken) {
            Phase::Done(outcome) => outcome,
            Phase::Taken { .. } => Err(Error::Taken),
            Phase::Running(_) => unreachable!("the value is taken when it is there"),
        }
    }
}

impl<T: 'static> Flow<T> {
    fn new(call: Call, driver: Option<Arc<Driver>>, phase: Phase<T>) -> Self {
        let properties = driver.as_ref().map(|driver| driver.local_properties()).unwrap_or_default();
        let inner = Inner {
            phase,
            jobs: Vec::new(),
            rows_seen: None,
            cancelled: None,
            leftover: None,
            waker: None,
            on_complete: Vec::new(),
        };
        Self { call, driver, properties, inner: Mutex::new(inner), done: Condvar::new() }
    }

    fn until_done(&self, inner: &mut MutexGuard<'_, Inner<T>>) {
        while !inner.is_done() {
            self.done.wait(inner);
        }
    }

    /// Takes the bars off the terminal, so that what the application prints next does not meet them.
    fn clear_progress(&self) {
        if let Some(progress) = self.driver.as_ref().and_then(|driver| driver.progress.get()) {
            progress.clear();
        }
    }

    /// Asks for the next step and takes it.
    fn advance(self: &Arc<Self>) {
        let mut inner = self.inner.lock();
        let Phase::Running(steps) = &mut inner.phase else { return };
        let mut steps = steps.take().expect("one step at a time is asked for");
        if let (Some(reason), Some(run)) = (&inner.cancelled, inner.jobs.last()) {
            let (job, reason) = (run.job, reason.clone());
            drop(inner);
            return self.end(steps, Err(self.error(job, JobError::Cancelled { job, reason })));
        }
        drop(inner);
        // Asked behind a guard and ended outside of it: what the steps still hold goes with the error.
        match contain(|| steps.next()) {
            Ok(Ok(Next::Job(submission))) => self.run(steps, *submission),
            Ok(Ok(Next::Value(value))) => self.end(steps, Ok(value)),
            Ok(Err(error)) => self.end(steps, Err(error)),
            Err(message) => self.end(steps, Err(self.panicked(message))),
        }
    }

    fn run(self: &Arc<Self>, steps: Box<dyn Steps<T>>, mut submission: Submission) {
        if let Some(why) = submission.rdd.invalid() {
            return self.end(steps, Err(Error::invalid(&**why)));
        }
        let driver = self.driver.as_ref().expect("an action with steps has a driver");
        let job = driver.next_job();
        submission.properties.clone_from(&self.properties);
        let mut inner = self.inner.lock();
        inner.phase = Phase::Running(Some(steps));
        inner.jobs.push(RunJob { job, tasks: submission.results(), succeeded: false });
        submission.rows_seen = submission.rows_seen.or(inner.rows_seen);
        drop(inner);
        let (flow, rdd) = (self.clone(), submission.rdd.id());
        let on_end = move |end| match end {
            Ok(generation) => flow.on_success(RowsSeen { rdd, generation }),
            Err(error) => flow.finish(Err(flow.error(job, error))),
        };
        driver.submit(job, submission, Box::new(on_end));
        // Cancelled before the scheduler knew the job: it did not hear of it then.
        let cancelled = self.inner.lock().cancelled.clone();
        if let Some(reason) = cancelled {
            driver.cancel(Cancel::Job(job), Some(reason));
        }
    }

    fn on_success(self: &Arc<Self>, seen: RowsSeen) {
        let mut inner = self.inner.lock();
        if let Some(run) = inner.jobs.last_mut() {
            run.succeeded = true;
        }
        inner.rows_seen.get_or_insert(seen);
        drop(inner);
        self.advance();
    }

    fn error(&self, job: JobId, error: JobError) -> Error {
        match error {
            JobError::Rejected(JobRejection::Stopped) => Error::Stopped,
            error => {
                Error::Job { job, action: self.call.action, site: self.call.site, error: Box::new(error) }
            }
        }
    }

    fn panicked(&self, message: String) -> Error {
        Error::Panicked { action: self.call.action, site: self.call.site, message }
    }

    /// What an outcome comes to, on the thread that wants it.
    fn value(&self, outcome: Outcome<T>, leftover: Option<Box<dyn Steps<T>>>) -> Result<T> {
        discard(leftover);
        let value = outcome?;
        contain(value).unwrap_or_else(|message| Err(self.panicked(message)))
    }

    /// Ends the action while no job of it runs.
    fn end(&self, steps: Box<dyn Steps<T>>, outcome: Outcome<T>) {
        self.inner.lock().leftover = Some(steps);
        self.finish(outcome);
    }

    fn finish(&self, outcome: Outcome<T>) {
        let mut inner = self.inner.lock();
        if let Phase::Running(Some(steps)) = mem::replace(&mut inner.phase, Phase::Done(outcome)) {
            inner.leftover = Some(steps);
        }
        let (waker, on_complete) = (inner.waker.take(), mem::take(&mut inner.on_complete));
        self.done.notify_all();
        drop(inner);
        if let Some(waker) = waker {
            self.call_back(|| waker.wake());
        }
        for f in on_complete {
            self.call_back(f);
        }
    }

    /// Calls what waits for the end of the action, a waker or a callback of the application's own.
    fn call_back(&self, f: impl FnOnce()) {
        if let Err(message) = contain(f) {
            let Call { action, site, .. } = self.call;
            tracing::error!(action, %site, message, "a completion callback panicked");
        }
    }
}

impl<T: 'static> Future for JobHandle<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut PollContext<'_>) -> Poll<Result<T>> {
        let mut inner = self.0.inner.lock();
        if inner.is_done() {
            let (outcome, leftover) = (inner.take(), inner.leftover.take());
            drop(inner);
            return Poll::Ready(self.0.value(outcome, leftover));
        }
        inner.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl<T> std::fmt::Debug for JobHandle<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let inner = self.0.inner.lock();
        out.debug_struct("JobHandle")
            .field("action", &self.0.call.action)
            .field("state", &inner.state())
            .finish_non_exhaustive()
    }
}
