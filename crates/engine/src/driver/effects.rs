//! Doing what the scheduler wants done.

use std::{sync::Arc, thread};

use firesteel_net::notice;
use firesteel_scheduler::{
    Effect, Event, JobError, NotSent, StageLaunch, StageTaskKind, TaskDescription, commit::CommitDecision,
    map_output::encode_table,
};
use firesteel_types::{AttemptId, JobId, ListenerEvent, PartitionId};

use super::{
    Driver, Incoming, JobEnd, Order, RddHandle,
    job::ActiveJob,
    register,
    turn::{Core, Discarded},
};
use crate::{
    contain::contain,
    driver::{Launch, PreparedStage, ShortTables, TasksRun},
    error::with_causes,
    protocol::Stored,
    ship::ShipError,
    task::{Form, Program, StageProgram, TaskData, thaw_program},
};

/// Lineages from this depth on are serialized on a thread with a large stack.
const DEEP_LINEAGE: u32 = 128;
const DEEP_STACK: usize = 64 << 20;

/// So many bytes of tables of map outputs go with a stage at most. Tasks ask for others.
const SHORT_TABLES_MAX: u64 = 4 << 10;

impl Core {
    pub(super) fn perform(&mut self, driver: &Driver, effect: Effect) {
        let order = |order| driver.backend.perform(order);
        match effect {
            Effect::Post(event) => self.note(driver, event),
            Effect::PrepareStage(launch) => self.prepare(driver, launch),
            Effect::LaunchTask(task) => self.launch(driver, task),
            Effect::KillTask { executor, attempt, interrupt, reason } => {
                driver.backend.kill(executor, attempt, interrupt, reason);
            }
            Effect::ForgetStage { set } => {
                let forgotten = self.stages.remove(&set);
                driver.backend.forget_stage(set);
                self.discarded.extend(forgotten.map(Discarded::Stage));
            }
            Effect::DeliverResult { job, position, attempt } => self.deliver(driver, job, position, attempt),
            Effect::JobSucceeded { job, generation } => self.end_job(driver, job, Ok(generation)),
            Effect::JobFailed { job, error } => self.end_job(driver, job, Err(error)),
            Effect::MergeAccumulators { attempt, which } => {
                if let Some(payload) = self.payloads.get_mut(&attempt) {
                    let updates = std::mem::take(&mut payload.updates);
                    self.added = driver.accumulators.merge(updates, which, driver.bus.is_wanted());
                }
            }
            Effect::AnswerCommit { set, partition, number, decision } => {
                let granted = matches!(decision, CommitDecision::Granted);
                driver.commits.answer(&(set, partition, number), &granted);
            }
            Effect::RemoveStaleBlocks { rdds } => {
                for (rdd, generation) in &rdds {
                    driver.backend.remove(Stored::Stale { rdd: *rdd, generation: *generation });
                }
                self.stale.extend(rdds);
            }
            Effect::TagCancelled { tag, jobs } => driver.tags.answer(&tag, &jobs),
            Effect::TaskKillAnswer { attempt, found } => driver.kills.answer(&attempt, &found),
            Effect::Warn(warning) => match driver.tasks {
                TasksRun::Here(_) => tracing::warn!("{warning}"),
                TasksRun::Elsewhere => notice(|| tracing::warn!("{warning}")),
            },
            Effect::Ignored(ignored) => tracing::debug!("{ignored}"),
            Effect::AnswerRegistration { executor, answer } => {
                order(Order::AnswerRegistration { executor, answer })
            }
            Effect::AnswerHeartbeat { executor, reply } => order(Order::AnswerHeartbeat { executor, reply }),
            Effect::TakeBackTasks { executor, attempts } => order(Order::TakeBack { executor, attempts }),
            Effect::FetchResult { attempt } => order(Order::FetchResult { attempt }),
            Effect::DropResultBlock { attempt } => order(Order::DropResult { attempt }),
            Effect::RemoveBlockManager { executor } => order(Order::ForgetBlocks { executor }),
            Effect::RequestExecutors { totals } => order(Order::RequestExecutors { totals }),
            Effect::KillExecutors { executors, force: _ } => order(Order::KillExecutors { executors }),
            Effect::DecommissionExecutors { executors } => order(Order::DecommissionExecutors { executors }),
            Effect::ResolveRacks { hosts } => order(Order::ResolveRacks { hosts }),
            Effect::StopExecutors => order(Order::StopExecutors),
            Effect::StopContext { reason } => order(Order::StopContext { reason }),
            // Answers to what no part of the engine asks for.
            unasked @ (Effect::DeliverStatistics { .. }
            | Effect::AnswerBarrier { .. }
            | Effect::ProfileAnswer(_)) => {
                tracing::error!(effect = ?unasked, "an answer that was not asked for")
            }
        }
    }

    /// Keeps an event for the listeners, if there are any.
    fn note(&mut self, driver: &Driver, event: ListenerEvent) {
        if !driver.bus.is_wanted() {
            return;
        }
        // What a task added is merged right before its end is told.
        if let ListenerEvent::TaskEnd { set, task, .. } = &event
            && !self.added.is_empty()
        {
            let (set, attempt, accumulables) = (*set, task.attempt, std::mem::take(&mut self.added));
            self.posts.push(ListenerEvent::AccumulatorsUpdated { set, attempt, accumulables });
        }
        self.posts.push(event);
    }

    /// Finds the program of a stage attempt and gets it into the form that is sent.
    fn prepare(&mut self, driver: &Driver, launch: Box<StageLaunch>) {
        let found = driver.program_of(launch.kind).ok_or_else(|| "what it computes is gone".to_owned());
        let prepared = found.and_then(|(program, rdd)| {
            let program = match driver.tasks {
                TasksRun::Here(Form::Typed) => Program::Here(program),
                TasksRun::Here(Form::Shipped) => Program::Here(thawed(&*program, rdd.depth())?),
                TasksRun::Elsewhere => Program::Shipped(frozen(&*program, rdd.depth())?.into()),
            };
            Ok((program, rdd))
        });
        match prepared {
            Ok((program, rdd)) => {
                let tables = match driver.tasks {
                    TasksRun::Here(_) => ShortTables::default(),
                    TasksRun::Elsewhere => self.short_tables(&rdd),
                };
                let set = launch.set;
                drop(self.stages.insert(set, Arc::new(PreparedStage { launch, program, rdd, tables })));
            }
            Err(message) => {
                driver.post(Incoming::event(Event::StageNotSerializable { set: launch.set, message }));
            }
        }
    }

    /// Where a stage on `rdd` finds its input, as far as that is said in a few bytes.
    fn short_tables(&self, rdd: &RddHandle) -> ShortTables {
        let outputs = self.scheduler().map_outputs();
        let mut left = SHORT_TABLES_MAX;
        let mut table = |shuffle| {
            let (maps, reducers) = outputs.shape(shuffle)?;
            let is_short = u64::from(maps) * u64::from(reducers) <= left;
            let table = (is_short && outputs.is_complete(shuffle))
                .then(|| encode_table((0..maps).map(|map| outputs.output(shuffle, PartitionId(map)))))?;
            left = left.checked_sub(table.len() as u64)?;
            Some((shuffle, table.into()))
        };
        let tables = register::shuffles_read(rdd).into_iter().filter_map(&mut table).collect();
        ShortTables { epoch: outputs.epoch(), tables }
    }

    fn launch(&mut self, driver: &Driver, task: Box<TaskDescription>) {
        let Some(stage) = self.stages.get(&task.set) else {
            // The stage could not be prepared and fails as a whole, but the task still holds a slot.
            let why = NotSent::NotSerializable { message: "its stage could not be prepared".to_owned() };
            return driver.post(Incoming::event(Event::TaskNotSent { attempt: task.attempt, why }));
        };
        let partition_data = match driver.tasks {
            TasksRun::Here(Form::Typed) => Vec::new(),
            TasksRun::Here(Form::Shipped) | TasksRun::Elsewhere => {
                match data_of(&stage.rdd, task.partition) {
                    Ok(data) => data,
                    Err(message) => {
                        let why = NotSent::NotSerializable { message };
                        return driver
                            .post(Incoming::event(Event::TaskNotSent { attempt: task.attempt, why }));
                    }
                }
            }
        };
        let tables_hold = stage.tables.epoch == self.scheduler().map_outputs().epoch();
        self.launches.push(Launch { task, stage: stage.clone(), partition_data, tables_hold });
    }

    fn deliver(&mut self, driver: &Driver, job: JobId, position: u32, attempt: AttemptId) {
        let result = self.payloads.get_mut(&attempt).and_then(|payload| payload.result.take());
        let sink = driver.jobs.lock().get(&job).map(|active| active.submission.sink.clone());
        let Some(sink) = sink else {
            self.discarded.extend(result.map(Discarded::Result));
            return;
        };
        let accepted = match result {
            // The user's `Deserialize` may panic, and must not take the scheduler with it.
            Some(value) => contain(|| sink.accept(position, value))
                .unwrap_or_else(|message| Err(format!("deserializing a result panicked: {message}"))),
            None => Err("the result did not arrive".to_owned()),
        };
        if let Err(message) = accepted {
            // Ended here and now: if this was the last result, the scheduler reports success next.
            self.end_job(driver, job, Err(JobError::ResultHandler { message: message.clone() }));
            driver.post(Incoming::event(Event::ResultHandlerFailed { job, message }));
        }
    }

    /// Takes a job off the list; the caller that waits for it is told after the turn.
    fn end_job(&mut self, driver: &Driver, job: JobId, end: JobEnd) {
        if let Some(ActiveJob { submission, on_end }) = driver.jobs.lock().remove(&job) {
            self.discarded.push(Discarded::Job(submission));
            self.ended.push((on_end, end));
        }
    }
}

impl Driver {
    fn program_of(&self, kind: StageTaskKind) -> Option<(Arc<dyn StageProgram>, RddHandle)> {
        match kind {
            StageTaskKind::Result(job) => {
                let jobs = self.jobs.lock();
                let submission = &jobs.get(&job)?.submission;
                Some((submission.program.clone(), submission.rdd.clone()))
            }
            StageTaskKind::ShuffleMap(shuffle) => {
                let shuffle = self.shuffles.lock().get(&shuffle)?.upgrade()?;
                Some((shuffle.program().clone(), shuffle.parent().clone()))
            }
        }
    }
}

/// A program in its shipped form.
fn frozen(program: &dyn StageProgram, depth: u32) -> Result<Vec<u8>, String> {
    shipping(depth, || program.to_bytes())
}

/// A program after it was serialized and built again.
fn thawed(program: &dyn StageProgram, depth: u32) -> Result<Arc<dyn StageProgram>, String> {
    shipping(depth, || program.to_bytes().and_then(|bytes| thaw_program(&bytes)))
}

/// Serializes, or deserializes, with as much stack as a long chain of RDDs needs.
fn shipping<T: Send>(depth: u32, ship: impl FnOnce() -> Result<T, ShipError> + Send) -> Result<T, String> {
    // The user's `Serialize` and `Deserialize` must not take the scheduler with them.
    let ship = || {
        contain(ship)
            .map_err(|message| format!("serializing it panicked: {message}"))?
            .map_err(|error| with_causes(&error))
    };
    if depth < DEEP_LINEAGE {
        return ship();
    }
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(DEEP_STACK).spawn_scoped(scope, ship);
        let thread = thread.map_err(|error| format!("cannot start a thread to serialize it: {error}"))?;
        thread.join().unwrap_or_else(|_| Err("serializing it panicked".to_owned()))
    })
}

/// The data that travels with a task, or why it cannot.
fn data_of(rdd: &RddHandle, partition: PartitionId) -> Result<TaskData, String> {
    contain(|| register::partition_data(rdd, partition))
        .map_err(|message| format!("serializing the rows of its partition panicked: {message}"))?
        .map_err(|error| with_causes(&error))
}
