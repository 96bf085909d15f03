//! Runs one task and turns however it ends into a report.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use hashbrown::HashMap;
use parking_lot::Mutex;

use firesteel_scheduler::TaskDescription;
use firesteel_storage::codec::CodecError;
use firesteel_types::{AttemptId, Properties, RddId, TaskFailure, TaskMetrics};

use crate::{
    contain::{contain, discard},
    ship::take_blamed,
    task::{
        Abort, Environment, Form, KillSwitch, Report, StageProgram, TaskContext, TaskData, TaskEnd,
        TaskIdentity, TaskOutput, Updates, abort_task, panic_text, peak_bytes, set_memory, take_panic,
    },
};

/// How long a kill that came before its task is remembered.
const EARLY_KILL_TTL: Duration = Duration::from_secs(10);

/// A task with everything it needs to run.
pub(crate) struct Work<P> {
    pub(crate) task: Box<TaskDescription>,
    pub(crate) partitions: u32,
    pub(crate) properties: Properties,
    pub(crate) generations: Arc<[(RddId, u32)]>,
    pub(crate) partition_data: TaskData,
    /// Returns the operators of its stage, or why it cannot. Called in the task, since it may run the user's code.
    pub(crate) program: P,
}

/// The tasks of one executor that run now, and those whose kill came early.
pub(crate) struct Executor {
    environment: Arc<Environment>,
    form: Form,
    kills: Mutex<HashMap<AttemptId, Kill>>,
}

enum Kill {
    /// The attempt is here; with its context once it has begun.
    Here {
        switch: Arc<KillSwitch>,
        task: Option<TaskContext>,
    },
    Early {
        reason: String,
        at: Instant,
    },
}

impl Executor {
    pub(crate) fn new(environment: Arc<Environment>, form: Form) -> Self {
        Self { environment, form, kills: Mutex::default() }
    }

    /// Orders the end of an attempt, now or, if it has not arrived yet, when it does.
    pub(crate) fn kill(&self, attempt: AttemptId, reason: String) {
        let mut kills = self.kills.lock();
        match kills.get(&attempt) {
            Some(Kill::Here { switch, .. }) => switch.kill(reason),
            Some(Kill::Early { .. }) => (),
            None => {
                let now = Instant::now();
                kills.retain(|_, kill| match kill {
                    Kill::Here { .. } => true,
                    Kill::Early { at, .. } => now.duration_since(*at) < EARLY_KILL_TTL,
                });
                kills.insert(attempt, Kill::Early { reason, at: now });
            }
        }
    }

    /// Orders the end of everything that runs.
    pub(crate) fn kill_all(&self, reason: &str) {
        for kill in self.kills.lock().values() {
            if let Kill::Here { switch, .. } = kill {
                switch.kill(reason);
            }
        }
    }

    /// An attempt has come and waits to be run: from now on it can be killed, however long that takes.
    pub(crate) fn admit(&self, attempt: AttemptId) {
        self.switch_for(attempt);
    }

    /// An attempt that was admitted will not be run.
    pub(crate) fn forget(&self, attempt: AttemptId) {
        self.kills.lock().remove(&attempt);
    }

    /// Whether an attempt is here and has not ended.
    pub(crate) fn is_here(&self, attempt: AttemptId) -> bool {
        matches!(self.kills.lock().get(&attempt), Some(Kill::Here { .. }))
    }

    /// The figures of what runs, so far.
    pub(crate) fn figures(&self) -> Vec<(AttemptId, TaskMetrics)> {
        let kills = self.kills.lock();
        let running = kills.iter().filter_map(|(attempt, kill)| match kill {
            Kill::Here { task: Some(task), .. } => Some((*attempt, task.metrics())),
            Kill::Here { task: None, .. } | Kill::Early { .. } => None,
        });
        running.collect()
    }

    /// Whether no attempt is here.
    pub(crate) fn is_idle(&self) -> bool {
        !self.kills.lock().values().any(|kill| matches!(kill, Kill::Here { .. }))
    }

    /// Runs the task to any end. Never unwinds.
    pub(crate) fn run(&self, work: Work<impl FnOnce() -> Result<Arc<dyn StageProgram>, String>>) -> Report {
        let Work { task, partitions, properties, generations, partition_data, program } = work;
        let attempt = task.attempt;
        let switch = self.switch_for(attempt);
        let cancelled = switch.clone();
        let memory = self.environment.memory.task(attempt).cancelled_by(move || cancelled.is_killed());
        set_memory(Some(memory));
        let identity = TaskIdentity::new(*task, partitions, properties, generations);
        let task = TaskContext::new(identity, switch, self.environment.clone(), partition_data);
        if self.form == Form::Shipped
            && let Some(Kill::Here { task: here, .. }) = self.kills.lock().get_mut(&attempt)
        {
            *here = Some(task.clone());
        }
        TaskContext::set_current(Some(task.clone()));
        // What the task before left behind is not this one's.
        drop((take_blamed(), take_panic()));
        let began = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            task.check();
            let program = program().unwrap_or_else(|message| unreadable(message));
            let output = program.run(&task, self.form);
            (output, program)
        }));
        let mut ran = None;
        let end = match ended {
            Ok((output, program)) => {
                ran = Some(program);
                complete(&task, output)
            }
            Err(payload) => {
                let (failure, operator) = failure_of(&task, payload);
                task.listeners().fail(&task, &failure.to_string());
                task.listeners().complete(&task);
                TaskEnd::Failed { failure, operator }
            }
        };
        let run_time_us = began.elapsed().as_micros() as u64;
        let (end, updates) = match contain(|| task.accumulators().take(self.form)) {
            Ok(Ok(updates)) => (end, updates),
            Ok(Err(error)) => (unreported(end, unserializable(&error)), Updates::default()),
            Err(message) => (unreported(end, panicked_accumulator(&message)), Updates::default()),
        };
        TaskContext::set_current(None);
        self.kills.lock().remove(&attempt);
        let metrics = TaskMetrics { run_time_us, peak_memory_bytes: peak_bytes(), ..task.metrics() };
        // What the task held and what it ran may be dropped here for good, and both are the user's.
        discard((task, ran));
        self.environment.blocks.release(attempt);
        set_memory(None);
        Report { attempt, end, metrics, updates }
    }

    fn switch_for(&self, attempt: AttemptId) -> Arc<KillSwitch> {
        let switch = Arc::new(KillSwitch::default());
        let mut kills = self.kills.lock();
        if let Some(Kill::Here { switch, .. }) = kills.get(&attempt) {
            return switch.clone();
        }
        let before = kills.insert(attempt, Kill::Here { switch: switch.clone(), task: None });
        drop(kills);
        if let Some(Kill::Early { reason, .. }) = before {
            switch.kill(reason);
        }
        switch
    }
}

/// Ends the task: its stage cannot be built here.
fn unreadable(message: String) -> ! {
    let message = format!("the operators of the stage cannot be deserialized: {message}");
    abort_task(Abort::Failed { message, operator: None })
}

/// A task that gave an output has succeeded only if its completion listeners did.
fn complete(task: &TaskContext, output: TaskOutput) -> TaskEnd {
    match task.listeners().complete(task) {
        0 => TaskEnd::Finished(output),
        panicked => {
            discard(output);
            let message = format!("{panicked} completion listeners of the task panicked");
            TaskEnd::Failed { failure: TaskFailure::panicked(message), operator: None }
        }
    }
}

/// What a task added to accumulators cannot be told: it has not succeeded.
fn unreported(end: TaskEnd, failure: TaskFailure) -> TaskEnd {
    match end {
        TaskEnd::Finished(output) => {
            discard(output);
            TaskEnd::Failed { failure, operator: None }
        }
        failed @ TaskEnd::Failed { .. } => failed,
    }
}

fn panicked_accumulator(message: &str) -> TaskFailure {
    TaskFailure::panicked(format!("an accumulator that the task added to panicked: {message}"))
}

fn unserializable(error: &CodecError) -> TaskFailure {
    let message = format!("an accumulator that the task added to: {error}");
    TaskFailure::ResultNotSerializable { message }
}

/// What an unwound task reports: an order to end wins over all else, then a lost map output, then the error itself.
fn failure_of(task: &TaskContext, payload: Box<dyn std::any::Any + Send>) -> (TaskFailure, Option<RddId>) {
    let blamed = take_blamed();
    let panic = take_panic();
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

#[cfg(test)]
mod tests;
