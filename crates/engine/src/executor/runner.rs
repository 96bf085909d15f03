//! Runs one task and turns however it ends into a report.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use hashbrown::HashMap;
use parking_lot::Mutex;

use firesteel_scheduler::TaskDescription;
use firesteel_types::{AttemptId, Properties, RddId, TaskFailure, TaskMetrics};

use super::{Abort, Environment, KillSwitch, TaskContext, TaskIdentity, blame, hook, memory};
use crate::{
    accumulator::Updates,
    contain::{contain, discard, payload_text},
    rdd::RddHandle,
    stage::{Form, StageProgram, TaskOutput},
};

/// How long a kill that came before its task is remembered.
const EARLY_KILL_KEPT: Duration = Duration::from_secs(10);

/// A task with everything it needs to run.
pub(crate) struct Launch {
    pub(crate) task: Box<TaskDescription>,
    pub(crate) program: Arc<dyn StageProgram>,
    /// The last RDD of the stage.
    pub(crate) rdd: RddHandle,
    pub(crate) partitions: u32,
    pub(crate) properties: Properties,
    pub(crate) partition_data: Vec<(RddId, u32, Arc<[u8]>)>,
}

/// How an attempt ended, for the driver.
pub(crate) struct Report {
    pub(crate) attempt: AttemptId,
    pub(crate) end: ReportedEnd,
    pub(crate) metrics: TaskMetrics,
    pub(crate) updates: Updates,
}

/// With a result, or why without.
pub(crate) enum ReportedEnd {
    Finished(TaskOutput),
    Failed { failure: TaskFailure, operator: Option<RddId> },
}

/// The tasks of one executor that run now, and those whose kill came early.
pub(crate) struct Executor {
    environment: Arc<Environment>,
    form: Form,
    kills: Mutex<HashMap<AttemptId, Kill>>,
}

enum Kill {
    Running(Arc<KillSwitch>),
    Early { reason: String, at: Instant },
}

impl Executor {
    pub(crate) fn new(environment: Arc<Environment>, form: Form) -> Self {
        Self { environment, form, kills: Mutex::default() }
    }

    /// Orders the end of an attempt, now or, if it has not arrived yet, when it does.
    pub(crate) fn kill(&self, attempt: AttemptId, reason: String) {
        let mut kills = self.kills.lock();
        match kills.get(&attempt) {
            Some(Kill::Running(switch)) => switch.kill(reason),
            Some(Kill::Early { .. }) => (),
            None => {
                let now = Instant::now();
                kills.retain(|_, kill| match kill {
                    Kill::Running(_) => true,
                    Kill::Early { at, .. } => now.duration_since(*at) < EARLY_KILL_KEPT,
                });
                kills.insert(attempt, Kill::Early { reason, at: now });
            }
        }
    }

    /// Orders the end of everything that runs.
    pub(crate) fn kill_all(&self, reason: &str) {
        for kill in self.kills.lock().values() {
            if let Kill::Running(switch) = kill {
                switch.kill(reason);
            }
        }
    }

    /// Runs the task to its end, whatever that is. Never unwinds.
    pub(crate) fn run(&self, launch: Launch) -> Report {
        let attempt = launch.task.attempt;
        let switch = self.switch_for(attempt);
        let cancelled = switch.clone();
        let memory = self.environment.memory.task(attempt).cancelled_by(move || cancelled.is_killed());
        memory::set_memory(Some(memory));
        let (task, program) = self.prepare(launch, switch);
        TaskContext::set_current(Some(task.clone()));
        // What the task before left behind is not this one's.
        drop((blame::take_blamed(), hook::take()));
        let began = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            task.check();
            program.run(&task, self.form)
        }));
        let end = match ended {
            Ok(output) => complete(&task, output),
            Err(payload) => {
                let (failure, operator) = failure_of(&task, payload);
                task.listeners().fail(&task, &failure.to_string());
                task.listeners().complete(&task);
                ReportedEnd::Failed { failure, operator }
            }
        };
        let run_time_us = began.elapsed().as_micros() as u64;
        let (end, updates) = match contain(|| task.accumulators().take(self.form)) {
            Ok(updates) => (end, updates),
            Err(message) => (unreported(end, &message), Updates::default()),
        };
        TaskContext::set_current(None);
        self.kills.lock().remove(&attempt);
        let metrics = TaskMetrics { run_time_us, peak_memory_bytes: memory::peak_bytes(), ..task.metrics() };
        // What the task held and what it ran may be dropped here for good, and both are the user's.
        discard((task, program));
        self.environment.blocks.release(attempt);
        memory::set_memory(None);
        Report { attempt, end, metrics, updates }
    }

    fn switch_for(&self, attempt: AttemptId) -> Arc<KillSwitch> {
        let switch = Arc::new(KillSwitch::default());
        let before = self.kills.lock().insert(attempt, Kill::Running(switch.clone()));
        if let Some(Kill::Early { reason, .. }) = before {
            switch.kill(reason);
        }
        switch
    }

    fn prepare(&self, launch: Launch, switch: Arc<KillSwitch>) -> (TaskContext, Arc<dyn StageProgram>) {
        let Launch { task, program, partitions, properties, partition_data, rdd: _ } = launch;
        let task = *task;
        let identity = TaskIdentity {
            set: task.set,
            attempt: task.attempt,
            number: task.number,
            partition: task.partition,
            partitions,
            executor: task.executor,
            cpus: task.cpus,
            resources: task.resources,
            properties,
        };
        (TaskContext::new(identity, switch, self.environment.clone(), partition_data), program)
    }
}

/// A task that gave an output has succeeded only if its completion listeners did.
fn complete(task: &TaskContext, output: TaskOutput) -> ReportedEnd {
    match task.listeners().complete(task) {
        0 => ReportedEnd::Finished(output),
        panicked => {
            discard(output);
            let message = format!("{panicked} completion listeners of the task panicked");
            ReportedEnd::Failed { failure: TaskFailure::panicked(message), operator: None }
        }
    }
}

/// What a task added to accumulators cannot be told: it has not succeeded.
fn unreported(end: ReportedEnd, message: &str) -> ReportedEnd {
    match end {
        ReportedEnd::Finished(output) => {
            discard(output);
            let message = format!("an accumulator that the task added to panicked: {message}");
            ReportedEnd::Failed { failure: TaskFailure::panicked(message), operator: None }
        }
        failed @ ReportedEnd::Failed { .. } => failed,
    }
}

/// What an unwound task reports: an order to end wins over all else, then a lost map output, then the error itself.
fn failure_of(task: &TaskContext, payload: Box<dyn std::any::Any + Send>) -> (TaskFailure, Option<RddId>) {
    let blamed = blame::take_blamed();
    let panic = hook::take();
    if let Some(reason) = task.kill_reason() {
        discard(payload);
        return (TaskFailure::killed(reason), None);
    }
    if let Some(fetch) = task.take_fetch_failure() {
        discard(payload);
        return (TaskFailure::FetchFailed(fetch), None);
    }
    match payload.downcast::<Abort>() {
        Ok(abort) => match *abort {
            Abort::Killed => (TaskFailure::killed("the task ended itself"), None),
            Abort::Fetch(fetch) => (TaskFailure::FetchFailed(fetch), None),
            Abort::Failed { message, operator } => (TaskFailure::panicked(message), operator.or(blamed)),
            Abort::ResultNotSerializable { message } => {
                (TaskFailure::ResultNotSerializable { message }, None)
            }
            Abort::CommitDenied => (TaskFailure::CommitDenied, None),
        },
        Err(payload) => (TaskFailure::panicked(panic_text(panic, payload)), blamed),
    }
}

/// What the report of a panicked task says.
pub(super) fn panic_text(panic: Option<hook::PanicRecord>, payload: Box<dyn std::any::Any + Send>) -> String {
    let text = payload_text(&*payload);
    discard(payload);
    // Without a record it was unwound with `resume_unwind` by user code, which runs no hook.
    let Some(hook::PanicRecord { message, place, backtrace }) = panic else { return text };
    let place = place.map(|place| format!(", panicked at {place}")).unwrap_or_default();
    let backtrace = backtrace.map(|backtrace| format!("\n{backtrace}")).unwrap_or_default();
    format!("{message}{place}{backtrace}")
}

#[cfg(test)]
mod tests;
