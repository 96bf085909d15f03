//! Tasks on threads of the driver's own process.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};

use firesteel_scheduler::{Event, ExecutorSpec};
use firesteel_types::{AttemptId, Cpus, ExecutorId, Host, ProfileId};

use crate::{
    contain::discard,
    driver::{Driver, Incoming, Launch, Order, SchedulerBackend},
    error::with_causes,
    executor::{Executor, Slots, Work},
    task::{Environment, Form, Program, thaw_program},
};

/// One executor with one thread for each slot.
pub(crate) struct LocalBackend {
    executor: Arc<Executor>,
    slots: Arc<Slots<Launch>>,
    count: u32,
}

impl LocalBackend {
    pub(crate) fn new(environment: &Arc<Environment>, slots: u32, form: Form) -> Self {
        let executor = Arc::new(Executor::new(environment.clone(), form));
        Self { executor, slots: Arc::new(Slots::new()), count: slots }
    }

    /// What starts the threads and registers the executor once the driver exists.
    pub(crate) fn starter(&self) -> impl FnOnce(&Arc<Driver>, Host) -> std::io::Result<()> + use<> {
        let (executor, slots, count) = (self.executor.clone(), self.slots.clone(), self.count);
        move |driver, host| {
            let weak = Arc::downgrade(driver);
            slots.start(count, move |launch| run(&executor, &weak, launch))?;
            let executor = ExecutorId::DRIVER;
            driver.post(Incoming::event(Event::ExecutorRegistered(ExecutorSpec {
                executor,
                host,
                address: "".into(),
                cpus: Cpus::cores(count),
                resources: BTreeMap::new(),
                profile: ProfileId::DEFAULT,
            })));
            driver.post(Incoming::event(Event::ExecutorLaunched { executor }));
            Ok(())
        }
    }
}

fn run(executor: &Executor, driver: &Weak<Driver>, launch: Launch) {
    let Launch { task, stage, partition_data, .. } = launch;
    let id = task.executor;
    let report = executor.run(Work {
        task,
        partitions: stage.launch.partitions,
        properties: stage.launch.properties.clone(),
        generations: stage.launch.generations.clone(),
        partition_data,
        program: || match &stage.program {
            Program::Here(program) => Ok(program.clone()),
            Program::Shipped(bytes) => thaw_program(bytes).map_err(|error| with_causes(&error)),
        },
    });
    match driver.upgrade() {
        Some(driver) => driver.report(id, &stage.rdd, report),
        None => discard(report),
    }
    // What it ran may be dropped here for good, and some of it is the user's.
    discard(stage);
}

impl SchedulerBackend for LocalBackend {
    fn launch(&self, launches: Vec<Launch>) {
        if let Err(launches) = self.slots.push(launches) {
            discard(launches);
        }
    }

    fn kill(&self, _executor: ExecutorId, attempt: AttemptId, _interrupt: bool, reason: String) {
        self.executor.kill(attempt, reason);
    }

    fn perform(&self, order: Order) {
        match order {
            Order::StopContext { reason } => tracing::error!(%reason, "the application cannot go on"),
            // There is one executor, which cannot be refused, replaced or moved to another host.
            Order::AnswerRegistration { .. }
            | Order::AnswerHeartbeat { .. }
            | Order::RequestExecutors { .. }
            | Order::KillExecutors { .. }
            | Order::DecommissionExecutors { .. }
            | Order::ResolveRacks { .. }
            | Order::StopExecutors
            // The driver shares its stores.
            | Order::FetchResult { .. }
            | Order::DropResult { .. }
            | Order::ForgetBlocks { .. }
            // A task that waits for a slot could run nowhere else.
            | Order::TakeBack { .. } => {}
        }
    }

    fn stop(&self) {
        self.executor.kill_all("the context was stopped");
        discard(self.slots.stop());
        self.slots.join();
    }
}
