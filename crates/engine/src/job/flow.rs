//! An action from its first job to its value: [`Flow`].
//!
//! ```text
//! Running ── a job ends, Steps::next ──▶ Running (the next job)
//!    ├── the last step gives a value ──▶ Over(Ok) ─┐
//!    └── a job fails or is cancelled ──▶ Over(Err) ┴── wait ──▶ Taken
//!        or a step panics                  │                      ▲
//!                                          └ poll ─▶ Computing ─▶ Ready
//! ```
//!
//! Between its jobs an action meets code of the application: rows are compared, merged and dropped. A panic there is
//! the action's error, on any thread: an action that is over always reports that. The value is computed from the results
//! by the thread that waits for it. A future has no such thread, and its poll must not take long, so it gets one.

use std::{
    mem,
    sync::Arc,
    task::{Poll, Waker},
    thread,
    time::Instant,
};

use firesteel_scheduler::{Cancel, JobError, JobRejection, RowsSeen};
use firesteel_types::{JobId, Properties};
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::{Call, JobHandle, JobState, Next, Steps, progress::RunJob};
use crate::{
    Error, Result,
    contain::{contain, discard},
    driver::{Driver, Submission},
    rdd::RddHandle,
    task::TaskContext,
};

/// The state of an action, shared by its handle and by what runs it.
pub(super) struct Flow<T> {
    call: Call,
    driver: Option<Arc<Driver>>,
    /// The RDD after whose action marked RDDs are checkpointed.
    checkpoints: Option<RddHandle>,
    /// Those of the thread that called the action: later jobs are submitted from other threads.
    properties: Properties,
    inner: Mutex<Inner<T>>,
    /// Notified when the phase changes from one that must be waited for.
    over: Condvar,
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
    /// Of the last poll: there is a future that waits.
    waker: Option<Waker>,
    on_complete: Vec<Box<dyn FnOnce() + Send>>,
}

enum Phase<T> {
    /// With the steps, unless one of them is being asked for right now.
    Running(Option<Box<dyn Steps<T>>>),
    /// No job runs any more; the value has to be computed from their results.
    Over(Outcome<T>),
    /// A thread computes the value for a future.
    Computing {
        state: JobState,
    },
    Ready(Result<T>),
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

impl<T> Inner<T> {
    fn new(phase: Phase<T>) -> Self {
        Self {
            phase,
            jobs: Vec::new(),
            rows_seen: None,
            cancelled: None,
            leftover: None,
            waker: None,
            on_complete: Vec::new(),
        }
    }

    fn state(&self) -> JobState {
        match &self.phase {
            Phase::Running(_) => JobState::Running,
            Phase::Over(Ok(_)) | Phase::Ready(Ok(_)) => JobState::Succeeded,
            Phase::Over(Err(_)) | Phase::Ready(Err(_)) => JobState::Failed,
            Phase::Computing { state } | Phase::Taken { state } => *state,
        }
    }

    /// Leaves `Taken` behind.
    fn take_phase(&mut self) -> Phase<T> {
        let taken = Phase::Taken { state: self.state() };
        mem::replace(&mut self.phase, taken)
    }
}

impl<T> Flow<T> {
    /// An action that cannot even begin.
    pub(super) fn failed(call: Call, error: Error) -> Arc<Self> {
        Arc::new(Self {
            call,
            driver: None,
            checkpoints: None,
            properties: Properties::default(),
            inner: Mutex::new(Inner::new(Phase::Over(Err(error)))),
            over: Condvar::new(),
        })
    }

    pub(super) fn action(&self) -> &'static str {
        self.call.action
    }

    pub(super) fn state(&self) -> JobState {
        self.inner.lock().state()
    }

    pub(super) fn driver(&self) -> Option<&Driver> {
        self.driver.as_deref()
    }

    pub(super) fn jobs(&self) -> Vec<RunJob> {
        self.inner.lock().jobs.clone()
    }

    pub(super) fn rows_seen(&self) -> Option<RowsSeen> {
        self.inner.lock().rows_seen
    }

    pub(super) fn cancel(&self, reason: String) {
        let mut inner = self.inner.lock();
        if !matches!(inner.phase, Phase::Running(_)) {
            return;
        }
        inner.cancelled = Some(reason.clone());
        let running = inner.jobs.last().map(|run| run.job);
        drop(inner);
        if let (Some(job), Some(driver)) = (running, &self.driver) {
            driver.cancel(Cancel::Job(job), Some(reason));
        }
    }

    pub(super) fn on_complete(&self, f: Box<dyn FnOnce() + Send>) {
        let mut inner = self.inner.lock();
        if inner.state() == JobState::Running {
            return inner.on_complete.push(f);
        }
        drop(inner);
        self.call_back(f);
    }

    /// Waits until the value can be taken, or until `deadline`; returns whether it can.
    pub(super) fn until_over(&self, deadline: Option<Instant>) -> bool {
        let is_pending =
            |inner: &mut Inner<T>| matches!(inner.phase, Phase::Running(_) | Phase::Computing { .. });
        let mut inner = self.inner.lock();
        match deadline {
            None => self.over.wait_while(&mut inner, is_pending),
            Some(deadline) => {
                self.over.wait_while_until(&mut inner, is_pending, deadline);
            }
        }
        !is_pending(&mut inner)
    }

    /// The value of an action that is over, computed here if it has to be.
    pub(super) fn take_value(&self) -> Result<T> {
        let mut inner = self.inner.lock();
        let (phase, leftover) = (inner.take_phase(), inner.leftover.take());
        drop(inner);
        self.clear_progress();
        match phase {
            Phase::Over(outcome) => self.value(outcome, leftover),
            Phase::Ready(value) => value,
            Phase::Taken { .. } => Err(Error::Taken),
            Phase::Running(_) | Phase::Computing { .. } => {
                unreachable!("the value is taken when the action is over")
            }
        }
    }

    /// What an outcome comes to.
    fn value(&self, outcome: Outcome<T>, leftover: Option<Box<dyn Steps<T>>>) -> Result<T> {
        discard(leftover);
        let value = outcome?;
        let value = || {
            if let Some(rdd) = &self.checkpoints {
                rdd.driver().write_checkpoints(rdd)?;
            }
            value()
        };
        contain(value).unwrap_or_else(|message| Err(self.panicked(message)))
    }

    /// Takes the bars off the terminal, so that what the application prints next does not meet them.
    fn clear_progress(&self) {
        if let Some(progress) = self.driver.as_ref().and_then(|driver| driver.progress.get()) {
            progress.clear();
        }
    }

    /// Calls what waits for the end of the action, a waker or a callback of the application's own.
    fn call_back(&self, f: impl FnOnce()) {
        if let Err(message) = contain(f) {
            let Call { action, site, .. } = self.call;
            tracing::error!(action, %site, message, "a completion callback panicked");
        }
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
}

/// What runs an action. A value may be computed by one thread and taken by another.
impl<T: Send + 'static> Flow<T> {
    /// Begins an action with its first job, or by asking the steps for it.
    pub(super) fn start(
        call: Call,
        rdd: &RddHandle,
        first: Option<Box<Submission>>,
        steps: Box<dyn Steps<T>>,
    ) -> JobHandle<T> {
        if TaskContext::is_set() {
            return JobHandle::failed(call, Error::InsideTask { action: call.action });
        }
        let driver = rdd.driver();
        let flow = Arc::new(Self {
            call,
            driver: Some(driver.clone()),
            checkpoints: (call.checkpoints && driver.checkpoints.is_any_marked()).then(|| rdd.clone()),
            properties: driver.local_properties(),
            inner: Mutex::new(Inner::new(Phase::Running(None))),
            over: Condvar::new(),
        });
        match first {
            Some(job) => flow.run(steps, *job),
            None => flow.advance(steps),
        }
        JobHandle(flow)
    }

    /// Asks for the next step and takes it.
    fn advance(self: &Arc<Self>, mut steps: Box<dyn Steps<T>>) {
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
            Ok(generation) => flow.on_success(job, RowsSeen { rdd, generation }),
            Err(error) => flow.finish(Err(flow.error(job, error))),
        };
        driver.submit(job, submission, Box::new(on_end));
        // Cancelled before the scheduler knew the job: it did not hear of it then.
        let cancelled = self.inner.lock().cancelled.clone();
        if let Some(reason) = cancelled {
            driver.cancel(Cancel::Job(job), Some(reason));
        }
    }

    fn on_success(self: &Arc<Self>, job: JobId, seen: RowsSeen) {
        let mut inner = self.inner.lock();
        if let Some(run) = inner.jobs.last_mut() {
            run.succeeded = true;
        }
        inner.rows_seen.get_or_insert(seen);
        let Phase::Running(steps) = &mut inner.phase else { return };
        let steps = steps.take().expect("one job at a time is run");
        let cancelled = inner.cancelled.clone();
        drop(inner);
        match cancelled {
            Some(reason) => self.end(steps, Err(self.error(job, JobError::Cancelled { job, reason }))),
            None => self.advance(steps),
        }
    }

    /// Ends the action while no job of it runs.
    fn end(self: &Arc<Self>, steps: Box<dyn Steps<T>>, outcome: Outcome<T>) {
        self.inner.lock().leftover = Some(steps);
        self.finish(outcome);
    }

    fn finish(self: &Arc<Self>, outcome: Outcome<T>) {
        let mut inner = self.inner.lock();
        if let Phase::Running(Some(steps)) = mem::replace(&mut inner.phase, Phase::Over(outcome)) {
            inner.leftover = Some(steps);
        }
        let on_complete = mem::take(&mut inner.on_complete);
        self.over.notify_all();
        if inner.waker.is_some() {
            self.compute(inner);
        } else {
            drop(inner);
        }
        for f in on_complete {
            self.call_back(f);
        }
    }

    /// The value if it is there; else `waker` is woken when it is.
    pub(super) fn poll(self: &Arc<Self>, waker: &Waker) -> Poll<Result<T>> {
        let mut inner = self.inner.lock();
        match &inner.phase {
            Phase::Ready(_) | Phase::Taken { .. } => {
                drop(inner);
                return Poll::Ready(self.take_value());
            }
            Phase::Over(_) => {
                inner.waker = Some(waker.clone());
                self.compute(inner);
            }
            Phase::Running(_) | Phase::Computing { .. } => inner.waker = Some(waker.clone()),
        }
        Poll::Pending
    }

    /// Has the value of an action that is over computed by a thread of its own.
    fn compute(self: &Arc<Self>, mut inner: MutexGuard<'_, Inner<T>>) {
        let computing = Phase::Computing { state: inner.state() };
        let Phase::Over(outcome) = mem::replace(&mut inner.phase, computing) else {
            unreachable!("a value is computed once, when the action is over")
        };
        let leftover = inner.leftover.take();
        drop(inner);
        let flow = self.clone();
        let compute = move || {
            // Checkpoints are written by jobs of the same group and pool.
            if let Some(driver) = &flow.driver {
                driver.set_local_properties(flow.properties.clone());
            }
            flow.ready(flow.value(outcome, leftover));
        };
        let thread = thread::Builder::new().name("firesteel-value".to_owned());
        if let Err(source) = thread.spawn(compute) {
            let what = "cannot start a thread to compute the value of an action".to_owned();
            self.ready(Err(Error::System { what, source }));
        }
    }

    fn ready(&self, value: Result<T>) {
        let mut inner = self.inner.lock();
        inner.phase = Phase::Ready(value);
        let waker = inner.waker.take();
        self.over.notify_all();
        drop(inner);
        if let Some(waker) = waker {
            self.call_back(|| waker.wake());
        }
    }
}
