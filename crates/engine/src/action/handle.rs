//! A running action.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context as PollContext, Poll, Waker},
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

use firesteel_scheduler::{Cancel, JobError, JobRejection};
use firesteel_types::JobId;

use super::{Call, Next, Steps};
use crate::{
    Error, Result,
    driver::{Driver, Submission},
    executor::TaskContext,
};

/// An action that runs in the background. Made by the `_async` twin of each action.
///
/// Also a `Future` of the action's value, for any async runtime. Dropping the handle does not cancel the job.
///
/// ```
/// use firesteel::prelude::*;
///
/// let ctx = Context::local(2)?;
/// let handle = ctx.range(0..100).count_async();
/// assert_eq!(handle.wait()?, 100);
/// # Ok::<(), firesteel::Error>(())
/// ```
#[must_use = "an action that nobody waits for may not be over when the program ends"]
pub struct JobHandle<T>(Arc<Flow<T>>);

struct Flow<T> {
    call: Call,
    driver: Option<Arc<Driver>>,
    state: Mutex<State<T>>,
    done: Condvar,
}

struct State<T> {
    steps: Option<Box<dyn Steps<T>>>,
    jobs: Vec<JobId>,
    cancelled: Option<String>,
    outcome: Option<Outcome<T>>,
    waker: Option<Waker>,
    on_done: Vec<Box<dyn FnOnce() + Send>>,
}

type Outcome<T> = Result<Box<dyn FnOnce() -> Result<T> + Send>>;

impl<T: 'static> JobHandle<T> {
    /// An action that cannot even begin.
    pub(crate) fn failed(call: Call, error: Error) -> Self {
        let flow = Flow::new(call, None, None);
        flow.state.lock().outcome = Some(Err(error));
        Self(Arc::new(flow))
    }

    /// Begins an action.
    pub(crate) fn start(call: Call, driver: &Arc<Driver>, steps: Box<dyn Steps<T>>) -> Self {
        if TaskContext::is_set() {
            return Self::failed(call, Error::InsideTask { action: call.action });
        }
        let flow = Arc::new(Flow::new(call, Some(driver.clone()), Some(steps)));
        flow.advance();
        Self(flow)
    }

    /// Waits for the value.
    pub fn wait(self) -> Result<T> {
        let mut state = self.0.state.lock();
        while state.outcome.is_none() {
            self.0.done.wait(&mut state);
        }
        Self::value(state.outcome.take())
    }

    /// Waits for the value for at most `limit`; gives the handle back when the time is up.
    pub fn wait_timeout(self, limit: Duration) -> Result<Result<T>, Self> {
        let deadline = Instant::now() + limit;
        let mut state = self.0.state.lock();
        while state.outcome.is_none() {
            if self.0.done.wait_until(&mut state, deadline).timed_out() && state.outcome.is_none() {
                drop(state);
                return Err(self);
            }
        }
        Ok(Self::value(state.outcome.take()))
    }

    /// Cancels what is running, and what would follow.
    pub fn cancel(&self) {
        self.cancel_because("cancelled by its handle");
    }

    /// Cancels for a reason that the error will name.
    pub fn cancel_because(&self, reason: impl Into<String>) {
        let reason = reason.into();
        let mut state = self.0.state.lock();
        if state.outcome.is_some() {
            return;
        }
        state.cancelled = Some(reason.clone());
        let running = state.jobs.last().copied();
        drop(state);
        if let (Some(job), Some(driver)) = (running, &self.0.driver) {
            driver.cancel(Cancel::Job(job), Some(reason));
        }
    }

    /// Whether the action is over, with or without a value.
    pub fn is_finished(&self) -> bool {
        self.0.state.lock().outcome.is_some()
    }

    /// The jobs that were run so far.
    pub fn job_ids(&self) -> Vec<JobId> {
        self.0.state.lock().jobs.clone()
    }

    /// Calls `f` when the action is over, at once if it is. No thread waits for it; `f` must not block.
    pub fn on_complete(&self, f: impl FnOnce() + Send + 'static) {
        let mut state = self.0.state.lock();
        if state.outcome.is_some() {
            drop(state);
            f();
        } else {
            state.on_done.push(Box::new(f));
        }
    }

    fn value(outcome: Option<Outcome<T>>) -> Result<T> {
        outcome.expect("it is taken once, by whoever consumes the handle")?()
    }
}

impl<T: 'static> Flow<T> {
    fn new(call: Call, driver: Option<Arc<Driver>>, steps: Option<Box<dyn Steps<T>>>) -> Self {
        let state = State {
            steps,
            jobs: Vec::new(),
            cancelled: None,
            outcome: None,
            waker: None,
            on_done: Vec::new(),
        };
        Self { call, driver, state: Mutex::new(state), done: Condvar::new() }
    }

    /// Asks for the next step and takes it.
    fn advance(self: &Arc<Self>) {
        let mut state = self.state.lock();
        let mut steps = state.steps.take().expect("steps are there until the last one is taken");
        if let (Some(reason), Some(&job)) = (&state.cancelled, state.jobs.last()) {
            let error = JobError::Cancelled { job, reason: reason.clone() };
            drop(state);
            return self.finish(Err(self.error(job, error)));
        }
        drop(state);
        match steps.next() {
            Ok(Next::Value(value)) => self.finish(Ok(value)),
            Err(error) => self.finish(Err(error)),
            Ok(Next::Job(submission)) => self.run(steps, *submission),
        }
    }

    fn run(self: &Arc<Self>, steps: Box<dyn Steps<T>>, submission: Submission) {
        if let Some(why) = submission.rdd.invalid() {
            return self.finish(Err(Error::invalid(&**why)));
        }
        let driver = self.driver.as_ref().expect("an action with steps has a driver");
        let job = driver.next_job();
        let mut state = self.state.lock();
        state.steps = Some(steps);
        state.jobs.push(job);
        drop(state);
        let flow = self.clone();
        let on_end = move |end| match end {
            Ok(()) => flow.advance(),
            Err(error) => flow.finish(Err(flow.error(job, error))),
        };
        driver.submit(job, submission, Box::new(on_end));
        // Cancelled before the scheduler knew the job: it did not hear of it then.
        let cancelled = self.state.lock().cancelled.clone();
        if let Some(reason) = cancelled {
            driver.cancel(Cancel::Job(job), Some(reason));
        }
    }

    fn error(&self, job: JobId, error: JobError) -> Error {
        match error {
            JobError::Rejected(JobRejection::Stopped) => Error::Stopped,
            error => Error::Job { job, action: self.call.action, site: self.call.site, error },
        }
    }

    fn finish(&self, outcome: Outcome<T>) {
        let mut state = self.state.lock();
        state.outcome = Some(outcome);
        let (waker, on_done) = (state.waker.take(), std::mem::take(&mut state.on_done));
        self.done.notify_all();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        on_done.into_iter().for_each(|f| f());
    }
}

impl<T: 'static> Future for JobHandle<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut PollContext<'_>) -> Poll<Result<T>> {
        let mut state = self.0.state.lock();
        match state.outcome.take() {
            Some(outcome) => {
                drop(state);
                Poll::Ready(Self::value(Some(outcome)))
            }
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}
