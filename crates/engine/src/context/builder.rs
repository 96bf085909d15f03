//! Making a context.

use std::{
    fmt,
    sync::{Arc, OnceLock, Weak},
    thread,
};

use firesteel_scheduler::{BlockUpdate, Event, Scheduler};
use firesteel_types::{ExecutorId, LocalCores, MasterUrl, settings};

use super::Context;
use crate::{
    Conf, Error, Result,
    backend::LocalBackend,
    driver::{Driver, Incoming, Timer},
    executor::{DriverLine, Environment, TaskContext, install_panic_hook},
    listener::{ConsoleProgress, ListenerBus},
    stage::Form,
};

/// The settings of a context that is not started yet. Made by [`Context::builder`].
///
/// ```
/// use firesteel::prelude::*;
///
/// let ctx = Context::builder().app_name("report").master("local[2]").set("firesteel.scheduler.mode", "FAIR")?.start()?;
/// assert_eq!(ctx.range(0..10).count()?, 10);
/// # Ok::<(), firesteel::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ContextBuilder {
    conf: Conf,
    /// Kept as text, so that a mistake is reported by `start`.
    master: Option<String>,
}

impl ContextBuilder {
    /// With all settings of `conf`.
    ///
    /// ```
    /// # use firesteel::{Conf, prelude::*};
    /// let conf = Conf::new().set("firesteel.default.parallelism", 5)?;
    /// let ctx = Context::builder().conf(conf).master("local[2]").start()?;
    /// assert_eq!(ctx.range(0..10).num_partitions(), 5);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn conf(mut self, conf: Conf) -> Self {
        self.conf = conf;
        self
    }

    /// Where the application runs: `local`, `local[4]`, `local[*]`, `local[4,2]` (four cores, two tries for a task).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// let ctx = Context::builder().master("local[4]").start()?;
    /// assert_eq!(ctx.default_parallelism(), 4);
    /// assert!(Context::builder().master("the moon").start().is_err());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn master(mut self, master: impl Into<String>) -> Self {
        self.master = Some(master.into());
        self
    }

    /// What the application is called.
    ///
    /// ```
    /// # use firesteel::{prelude::*, settings};
    /// let ctx = Context::builder().app_name("report").master("local").start()?;
    /// assert_eq!(ctx.conf().get(settings::APP_NAME).as_deref(), Some("report"));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn app_name(self, name: &str) -> Self {
        let conf = self.conf.clone().set("firesteel.app.name", name).unwrap_or(self.conf);
        Self { conf, ..self }
    }

    /// Sets one of the [settings](https://docs.rs/firesteel). Fails if there is no such setting or it does not take
    /// the value.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// let ctx = Context::builder().set("firesteel.default.parallelism", 5)?.master("local[2]").start()?;
    /// assert_eq!(ctx.default_parallelism(), 5);
    /// assert!(Context::builder().set("firesteel.default.paralelism", 5).is_err());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn set(mut self, key: &str, value: impl fmt::Display) -> Result<Self> {
        self.conf = self.conf.set(key, value)?;
        Ok(self)
    }

    /// Runs local tasks from their shipped form, as a cluster does: operators, results and shuffled rows are
    /// serialized. Slower; it shows early what could not be shipped.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// let ctx = Context::builder().master("local[2]").shipped(true).start()?;
    /// assert_eq!(ctx.range(0..4).map(|x| x * x).collect()?, [0, 1, 4, 9]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn shipped(self, shipped: bool) -> Self {
        let conf = self.conf.clone().set("firesteel.local.ship", shipped).unwrap_or(self.conf);
        Self { conf, ..self }
    }

    /// Starts the application.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// let ctx = Context::builder().master("local[*]").start()?;
    /// assert_eq!(ctx.range(0..10).count()?, 10);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn start(self) -> Result<Context> {
        let conf = self.conf;
        let master: MasterUrl = match &self.master {
            Some(master) => master.parse()?,
            None => conf.get(settings::MASTER),
        };
        let MasterUrl::Local { cores, .. } = master else {
            return Err(Error::invalid(format!(
                "master `{master}` cannot be used yet: use `local[*]` or `local[N]`"
            )));
        };
        let slots = match cores {
            LocalCores::Fixed(cores) => cores,
            LocalCores::All => thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
        };
        let form = if conf.get(settings::LOCAL_SHIP) { Form::Shipped } else { Form::Typed };
        let scheduler = Scheduler::new(conf.scheduler_config(&master)?)?;
        install_panic_hook();
        let line = Arc::new(LocalLine::default());
        let environment = Environment::new(&conf, "localhost".into(), "local", line.clone())?;
        let backend = LocalBackend::new(&environment, slots, form);
        let start_backend = backend.starter();
        let driver = Driver::new(conf, scheduler, environment, Box::new(backend), form);
        line.0.get_or_init(|| Arc::downgrade(&driver));
        // From here on whatever fails also stops what was started.
        let ctx = Context::new(driver.clone());
        start_listeners(&driver)?;
        let system = |source| Error::System { what: "cannot start a thread".to_owned(), source };
        Timer::start(&driver).map_err(system)?;
        start_backend(&driver, "localhost".into()).map_err(system)?;
        if let Some(directory) = ctx.conf().get(settings::CHECKPOINT_DIR) {
            ctx.set_checkpoint_dir(&directory)?;
        }
        Ok(ctx)
    }
}

fn start_listeners(driver: &Driver) -> Result<()> {
    driver.bus.add(ListenerBus::APP_STATUS, driver.status.clone())?;
    if let Some(progress) = ConsoleProgress::on_stderr(driver.conf.get(settings::UI_SHOW_CONSOLE_PROGRESS)) {
        driver.bus.add(ListenerBus::SHARED, driver.progress.get_or_init(|| progress).clone())?;
    }
    Ok(driver.bus.start()?)
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
        self.driver()
            .is_some_and(|driver| driver.may_commit(task.stage(), task.partition(), task.attempt_number()))
    }

    fn blocks_changed(&self, executor: ExecutorId, blocks: Vec<BlockUpdate>) {
        if let Some(driver) = self.driver() {
            driver.note(Incoming::event(Event::BlocksUpdated { executor, blocks }));
        }
    }
}
