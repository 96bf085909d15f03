//! Making a context.

use std::{
    fmt,
    sync::{Arc, OnceLock, Weak},
    thread,
};

use firesteel_deploy::Security;
use firesteel_scheduler::{BlockUpdate, Event, Scheduler};
use firesteel_types::{ExecutorId, LocalCores, MasterUrl, settings};

use super::Context;
use crate::{
    Conf, Error, Result,
    backend::{Cluster, LocalBackend},
    driver::{Driver, Incoming, SchedulerBackend, TasksRun, Timer},
    security,
    task::{DriverLine, Environment, ExecutorServices, Form, ProcessKind, TaskContext, prepare_process},
    ui,
};
use firesteel_listener::{ConsoleProgress, ListenerBus};

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

    /// Where the application runs: `local`, `local[4]`, `local[*]`, `local[4,2]` (four cores, two tries for a task);
    /// `firesteel://host:7077` on a cluster, with more masters behind commas; `local-cluster[2,1,1024]` on a cluster of
    /// this machine that lives as long as the application (two workers, one core and 1024 MiB each).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// let ctx = Context::builder().master("local[4]").start()?;
    /// assert_eq!(ctx.default_parallelism(), 4);
    /// assert_eq!(ctx.conf().get(firesteel::settings::MASTER).to_string(), "local[4]");
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
    /// Of what a process has only once, it takes: in local mode, where tasks run in the program, a panic hook in front
    /// of the program's own, which gets every panic outside of tasks (one inside is in the task's failure; a hook that the
    /// program sets later replaces ours, and then failures do not name the line), and, with [`Allocator`](crate::Allocator) installed, a
    /// limit of what tasks may hold: the memory of the machine. On a cluster it takes nothing. Loggers, signals and the
    /// arguments are the program's; see [`init_logging`](crate::init_logging).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// let ctx = Context::builder().master("local[*]").start()?;
    /// assert_eq!(ctx.range(0..10).count()?, 10);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn start(self) -> Result<Context> {
        let (master, conf): (MasterUrl, Conf) = match self.master {
            Some(master) => (master.parse()?, self.conf.set(settings::MASTER.key(), master)?),
            None => (self.conf.get(settings::MASTER), self.conf),
        };
        let scheduler = Scheduler::new(conf.scheduler_config(&master)?)?;
        let line = Arc::new(LocalLine::default());
        let place = master.to_string();
        let DriverParts { environment, backend, tasks, start, security, host } =
            driver_parts(&conf, master, line.clone())?;
        let driver = Driver::new(conf, scheduler, environment, backend, tasks);
        line.0.get_or_init(|| Arc::downgrade(&driver));
        // From here on any failure also stops what was started.
        let ctx = Context::new(driver.clone());
        start_listeners(&driver)?;
        ui::start(&driver, place, host, security)?;
        Timer::start(&driver).map_err(no_thread)?;
        start(&driver)?;
        if let Some(directory) = ctx.conf().get(settings::CHECKPOINT_DIR) {
            ctx.set_checkpoint_dir(&directory)?;
        }
        Ok(ctx)
    }
}

/// What a driver is made of at its master, and what starts the rest once it is there.
struct DriverParts {
    environment: Arc<Environment>,
    backend: Box<dyn SchedulerBackend>,
    tasks: TasksRun,
    /// What protects the driver, and the name under which others reach it, if others do.
    security: Security,
    host: Option<String>,
    start: Box<dyn FnOnce(&Arc<Driver>) -> Result<()>>,
}

fn driver_parts(conf: &Conf, master: MasterUrl, line: Arc<LocalLine>) -> Result<DriverParts> {
    match master {
        MasterUrl::Local { cores, .. } => {
            let slots = match cores {
                LocalCores::Fixed(cores) => cores,
                LocalCores::All => thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
            };
            let form = if conf.get(settings::LOCAL_SHIP) { Form::Shipped } else { Form::Typed };
            let services = ExecutorServices::alone(conf, "localhost".into(), "local", line);
            prepare_process(conf, ProcessKind::Program);
            let environment = Environment::new(conf, services)?;
            let backend = LocalBackend::new(&environment, slots, form);
            let start = backend.starter();
            let start = Box::new(|driver: &_| start(driver, "localhost".into()).map_err(no_thread));
            let (backend, tasks) = (Box::new(backend), TasksRun::Here(form));
            // No other process connects, so the cluster's secret matters only where pages shall be seen from elsewhere.
            let is_shown = conf.get(settings::UI_HOST).is_some();
            let security = if is_shown { security::of_conf(conf)? } else { Security::default() };
            Ok(DriverParts { environment, backend, tasks, security, host: None, start })
        }
        MasterUrl::LocalCluster { .. } | MasterUrl::Cluster { .. } => {
            let (cluster, environment) = Cluster::new(conf, master, line)?;
            let backend = Box::new(cluster.backend());
            let (security, host) = (cluster.security().clone(), Some(cluster.host().to_owned()));
            let start = Box::new(move |driver: &_| cluster.start(driver));
            Ok(DriverParts { environment, backend, tasks: TasksRun::Elsewhere, security, host, start })
        }
    }
}

fn no_thread(source: std::io::Error) -> Error {
    Error::System { what: "cannot start a thread".to_owned(), source }
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
