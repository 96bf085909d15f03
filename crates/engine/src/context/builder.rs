//! Making a context.

use std::{
    sync::{Arc, OnceLock, Weak},
    thread,
};

use firesteel_scheduler::{Scheduler, SchedulerConfig};
use firesteel_types::{LocalCores, MasterUrl, PartitionId, RddId};

use super::Context;
use crate::{
    Error, Result,
    backend::LocalBackend,
    broadcast::BroadcastStore,
    cache::BlockStore,
    driver::{Driver, Timer},
    executor::{DriverLine, Environment, TaskContext, install_panic_hook},
    listener::ListenerBus,
    shuffle::ShuffleStore,
    stage::Form,
};

/// The settings of a context that is not started yet. Made by [`Context::builder`].
#[derive(Clone, Debug)]
#[must_use]
pub struct ContextBuilder {
    master: String,
    form: Form,
}

impl Default for ContextBuilder {
    fn default() -> Self {
        Self { master: "local[*]".to_owned(), form: Form::Typed }
    }
}

impl ContextBuilder {
    /// Where the application runs: `local`, `local[4]`, `local[*]`, `local[4,2]` (four cores, two tries for a task).
    pub fn master(mut self, master: impl Into<String>) -> Self {
        self.master = master.into();
        self
    }

    /// Runs local tasks from their shipped form, as a cluster does: operators, results and shuffled rows are
    /// serialized. Slower; it shows early what could not be shipped.
    pub fn shipped(mut self, shipped: bool) -> Self {
        self.form = if shipped { Form::Shipped } else { Form::Typed };
        self
    }

    /// Starts the application.
    pub fn start(self) -> Result<Context> {
        let master: MasterUrl = self.master.parse()?;
        let MasterUrl::Local { cores, attempts } = master else {
            return Err(Error::invalid(format!("master `{}` is not supported; use `local[*]`", self.master)));
        };
        let slots = match cores {
            LocalCores::Fixed(cores) => cores,
            LocalCores::All => thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
        };
        let mut config = SchedulerConfig { local: true, ..SchedulerConfig::default() };
        config.tasks.failures_max = attempts;
        config.executors.default_parallelism = Some(slots);
        let scheduler = Scheduler::new(config).expect("the default settings are valid");
        install_panic_hook();
        let line = Arc::new(LocalLine::default());
        let environment = Arc::new(Environment {
            host: "localhost".into(),
            shuffles: ShuffleStore::default(),
            blocks: BlockStore::default(),
            broadcasts: BroadcastStore::default(),
            driver: line.clone(),
        });
        let backend = LocalBackend::new(&environment, slots, self.form);
        let start_backend = backend.starter();
        let driver = Driver::new(scheduler, environment, Box::new(backend), self.form);
        line.0.get_or_init(|| Arc::downgrade(&driver));
        driver.bus.add(ListenerBus::APP_STATUS, driver.status.clone())?;
        driver.bus.start()?;
        let system = |source| Error::System { what: "cannot start a thread".to_owned(), source };
        Timer::start(&driver).map_err(system)?;
        start_backend(&driver, "localhost".into()).map_err(system)?;
        Ok(Context::new(driver))
    }
}

/// The way from a task to the driver in the same process.
#[derive(Default)]
struct LocalLine(OnceLock<Weak<Driver>>);

impl LocalLine {
    fn driver(&self) -> Option<Arc<Driver>> {
        self.0.get().and_then(Weak::upgrade)
    }
}

impl DriverLine for LocalLine {
    fn may_commit(&self, task: &TaskContext) -> bool {
        self.driver().is_some_and(|driver| driver.may_commit(task.stage(), task.partition(), task.attempt_number()))
    }

    fn block_stored(&self, task: &TaskContext, rdd: RddId, partition: PartitionId) {
        if let Some(driver) = self.driver() {
            driver.blocks_updated(task.executor(), rdd, &[partition], true);
        }
    }
}
