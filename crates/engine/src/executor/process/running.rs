//! An executor that has joined: [`Running`].

use std::sync::{Arc, OnceLock, Weak};

use bytes::Bytes;
use firesteel_net::Listener;
use firesteel_storage::block::{BlockId, LockOwner, NewBlock, Put, Wait};
use firesteel_types::{
    AttemptId, Properties, RddId, StageAttemptId, StorageLevel, TaskFailure, TaskMetrics, settings,
};
use hashbrown::HashMap;
use parking_lot::Mutex;

use super::{answers::DriverClient, outbox::Outbox, reaper::Reaper, tables::Tables};
use crate::{
    Conf,
    contain::discard,
    error::with_causes,
    executor::{Executor, Slots, Work},
    protocol::{StageOrder, Stored, TaskOrder, ToDriver},
    task::{Environment, Form, Report, ResultValue, StageProgram, TaskEnd, TaskOutput, thaw_program},
};

/// Everything that runs tasks.
pub(super) struct Running {
    pub(super) environment: Arc<Environment>,
    pub(super) executor: Executor,
    pub(super) driver: Arc<DriverClient>,
    pub(super) tables: Arc<Tables>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) server: Arc<Listener>,
    pub(super) slots: Slots<Queued>,
    pub(super) reaper: Option<Reaper>,
    results: ResultLimits,
    stages: Mutex<HashMap<StageAttemptId, Arc<Stage>>>,
}

/// A task that waits for a slot.
pub(super) struct Queued {
    order: TaskOrder,
    stage: Arc<Stage>,
}

/// A stage whose tasks come here.
struct Stage {
    bytes: Bytes,
    partitions: u32,
    properties: Properties,
    generations: Arc<[(RddId, u32)]>,
    /// Built by its first task.
    program: OnceLock<Result<Arc<dyn StageProgram>, String>>,
}

/// How large results may be.
#[derive(Clone, Copy)]
struct ResultLimits {
    /// To travel in the report.
    direct: u64,
    /// To be of use at all; 0 is no limit.
    most: u64,
}

impl Stage {
    fn program(&self) -> Result<Arc<dyn StageProgram>, String> {
        self.program.get_or_init(|| thaw_program(&self.bytes).map_err(|error| with_causes(&error))).clone()
    }
}

/// What an executor is made of, besides its settings.
pub(super) struct ExecutorParts {
    pub(super) environment: Arc<Environment>,
    pub(super) driver: Arc<DriverClient>,
    pub(super) tables: Arc<Tables>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) server: Arc<Listener>,
}

impl Running {
    /// With `cores` slots that wait for tasks.
    pub(super) fn start(parts: ExecutorParts, cores: u32, conf: &Conf) -> std::io::Result<Arc<Self>> {
        let ExecutorParts { environment, driver, tables, outbox, server } = parts;
        let message = conf.get(settings::RPC_MESSAGE_MAX_SIZE) / 2;
        let results = ResultLimits {
            direct: conf.get(settings::TASK_MAX_DIRECT_RESULT_SIZE).min(message),
            most: conf.get(settings::DRIVER_MAX_RESULT_SIZE),
        };
        let running = Arc::new(Self {
            executor: Executor::new(environment.clone(), Form::Shipped),
            environment,
            driver,
            tables,
            outbox,
            server,
            slots: Slots::new(),
            reaper: Reaper::new(conf),
            results,
            stages: Mutex::default(),
        });
        let weak: Weak<Self> = Arc::downgrade(&running);
        running.slots.start(cores, move |queued| {
            if let Some(running) = weak.upgrade() {
                running.run(queued);
            }
        })?;
        Ok(running)
    }

    /// Takes tasks, in this order.
    pub(super) fn launch(&self, stages: Vec<StageOrder>, tasks: Vec<TaskOrder>) {
        let mut known = self.stages.lock();
        for StageOrder { set, program: bytes, partitions, properties, generations, inputs } in stages {
            self.tables.offered(&inputs);
            let program = OnceLock::new();
            known.insert(set, Arc::new(Stage { bytes, partitions, properties, generations, program }));
        }
        let mut queued = Vec::with_capacity(tasks.len());
        for order in tasks {
            self.tables.on_epoch(order.task.epoch);
            self.executor.admit(order.task.attempt);
            match known.get(&order.task.set) {
                Some(stage) => queued.push(Queued { order, stage: stage.clone() }),
                None => self.refuse(order.task.attempt, TaskFailure::panicked("its stage did not come")),
            }
        }
        drop(known);
        self.tell_begun(&queued);
        if let Err(queued) = self.slots.push(queued) {
            for Queued { order, .. } in queued {
                self.refuse(order.task.attempt, TaskFailure::ExecutorShuttingDown);
            }
        }
    }

    /// Tells the driver which tasks begin at once, before they can do any harm to this process.
    fn tell_begun(&self, queued: &[Queued]) {
        let begun = queued.iter().map(|queued| &queued.order.task).filter(|task| !task.ahead);
        let begun: Vec<_> = begun.map(|task| task.attempt).collect();
        if !begun.is_empty()
            && let Err(error) = self.driver.tell(&ToDriver::Begun(begun))
        {
            tracing::debug!(%error, "the driver cannot be told of tasks that begin");
        }
    }

    /// Reports a task that could not even begin.
    fn refuse(&self, attempt: AttemptId, failure: TaskFailure) {
        let end = TaskEnd::Failed { failure, operator: None };
        let report = Report { attempt, end, metrics: TaskMetrics::default(), updates: <_>::default() };
        self.executor.forget(attempt);
        self.outbox.add(report, false);
    }

    fn run(&self, Queued { order: TaskOrder { task, data }, stage }: Queued) {
        let report = self.executor.run(Work {
            task,
            partitions: stage.partitions,
            properties: stage.properties.clone(),
            generations: stage.generations.clone(),
            partition_data: data,
            program: || stage.program(),
        });
        let report = self.placed(report);
        self.outbox.add(report, !self.slots.is_idle());
        // What it ran may be dropped here for good, and some of it is the user's.
        discard(stage);
    }

    /// A report whose result stays here if it is too large to travel along.
    fn placed(&self, mut report: Report) -> Report {
        let attempt = report.attempt;
        if let TaskEnd::Finished(TaskOutput::Result { value, size_bytes }) = &mut report.end
            && let ResultValue::Bytes(bytes) = value
            && *size_bytes > self.results.direct
        {
            let too_large = self.results.most > 0 && *size_bytes > self.results.most;
            if too_large {
                tracing::warn!(%attempt, bytes = *size_bytes, "a result is larger than the driver takes");
                *value = ResultValue::Dropped;
                return report;
            }
            match self.store_result(attempt, bytes.clone()) {
                Ok(()) => *value = ResultValue::Stored,
                Err(message) => {
                    let failure = TaskFailure::panicked(message);
                    report.end = TaskEnd::Failed { failure, operator: None };
                }
            }
        }
        report
    }

    fn store_result(&self, attempt: AttemptId, bytes: Bytes) -> Result<(), String> {
        let (id, level) = (BlockId::TaskResult(attempt), StorageLevel::MEMORY_AND_DISK_SER);
        let manager = self.environment.blocks.manager();
        match manager.put(id, NewBlock::Bytes(bytes), level, LockOwner::unique(), Wait::FOREVER) {
            Ok(Put::Stored | Put::Exists) => Ok(()),
            Ok(Put::NotKept) => Err("there is no room for the result".to_owned()),
            Err(error) => Err(format!("the result cannot be stored: {}", with_causes(&error))),
        }
    }

    /// Gives tasks back that have not begun.
    pub(super) fn take_back(&self, attempts: &[AttemptId]) {
        let taken = self.slots.take(|queued| attempts.contains(&queued.order.task.attempt));
        let attempts: Vec<_> = taken.iter().map(|queued| queued.order.task.attempt).collect();
        for &attempt in &attempts {
            self.executor.forget(attempt);
        }
        if let Err(error) = self.driver.tell(&ToDriver::TasksReturned(attempts)) {
            tracing::debug!(%error, "tasks cannot be given back: the driver is gone");
        }
    }

    pub(super) fn forget_stage(&self, set: StageAttemptId) {
        let forgotten = self.stages.lock().remove(&set);
        discard(forgotten);
    }

    /// Removes what is stored for something.
    pub(super) fn remove(&self, what: Stored) {
        match what {
            Stored::Rdd(rdd) => self.environment.blocks.remove_rdd(rdd),
            Stored::Stale { rdd, generation } => self.environment.blocks.remove_stale(rdd, generation),
            Stored::Shuffle(shuffle) => {
                self.tables.forget(shuffle);
                self.environment.shuffles.remove(shuffle);
            }
            Stored::Broadcast { id, destroyed } => self.environment.broadcasts.remove(id, destroyed),
            Stored::Result(attempt) => self.environment.blocks.remove(BlockId::TaskResult(attempt)),
        }
    }

    /// Ends what runs and takes nothing more.
    pub(super) fn stop(&self) {
        self.executor.kill_all("the executor is shutting down");
        for Queued { order, .. } in self.slots.stop() {
            self.refuse(order.task.attempt, TaskFailure::ExecutorShuttingDown);
        }
        self.outbox.close();
        self.server.stop();
    }
}
