//! The handle of an application.

use std::{fmt, sync::Arc, thread};

use firesteel_types::settings;

use super::ContextBuilder;
use crate::{
    Conf, Result,
    driver::Driver,
    rdd::{HandleBuilder, RddHandle},
};
use firesteel_files::{Depth, ReadOptions};

/// An application: makes RDDs, runs their jobs, and stops when its last clone is dropped.
///
/// ```
/// use firesteel::prelude::*;
///
/// let ctx = Context::local(2)?;
/// assert_eq!(ctx.range(0..1000).filter(|x| x % 7 == 0).count()?, 143);
/// # Ok::<(), firesteel::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "the application stops when its last context is dropped"]
pub struct Context(Arc<Application>);

/// Stops the driver when no context is left; RDDs keep the driver itself alive, but not running.
struct Application(Arc<Driver>);

impl Drop for Application {
    fn drop(&mut self) {
        if !self.0.bus.is_listener_thread() {
            return stop(&self.0);
        }
        // A listener cannot wait for its own end.
        let driver = self.0.clone();
        let thread = thread::Builder::new().name("firesteel-stop".to_owned());
        if let Err(error) = thread.spawn(move || stop(&driver)) {
            tracing::error!(%error, "the application cannot be stopped");
        }
    }
}

fn stop(driver: &Driver) {
    if let Err(error) = driver.stop() {
        tracing::warn!(%error, "the application did not end in order");
    }
}

impl Context {
    pub(crate) fn new(driver: Arc<Driver>) -> Self {
        Self(Arc::new(Application(driver)))
    }

    /// The settings of a context to be.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// let ctx = Context::builder().app_name("report").master("local[3]").start()?;
    /// assert_eq!(ctx.default_parallelism(), 3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn builder() -> ContextBuilder {
        ContextBuilder::default()
    }

    /// A context that runs on `cores` threads of this process.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..10).count()?, 10);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn local(cores: u32) -> Result<Self> {
        Self::builder().master(format!("local[{cores}]")).start()
    }

    /// The settings of the application.
    ///
    /// ```
    /// # use firesteel::{prelude::*, settings};
    /// let ctx = Context::builder().master("local").app_name("report").start()?;
    /// assert_eq!(ctx.conf().get(settings::APP_NAME).as_deref(), Some("report"));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn conf(&self) -> &Conf {
        &self.driver().conf
    }

    /// How many partitions an RDD has by default.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..10).num_partitions(), ctx.default_parallelism());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn default_parallelism(&self) -> u32 {
        self.driver().query(firesteel_scheduler::Scheduler::default_parallelism)
    }

    /// Begins an RDD of a type of your own, without parents for now. See [`Rdd`](crate::Rdd).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.new_rdd("countdown", 3).build().partitions(), 3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn new_rdd(&self, operator: &'static str, partitions: u32) -> HandleBuilder {
        RddHandle::builder(self.driver(), operator, partitions)
    }

    /// How many partitions files are split into at least, by default.
    pub(crate) fn default_min_partitions(&self) -> u32 {
        self.default_parallelism().min(2)
    }

    /// The largest piece of a file for one task.
    pub(crate) fn max_split_bytes(&self) -> u64 {
        self.conf().get(settings::FILES_MAX_PARTITION_BYTES)
    }

    /// How deep folders are read.
    pub(crate) fn input_depth(&self) -> Depth {
        if self.conf().get(settings::FILES_RECURSIVE) { Depth::Recursive } else { Depth::Flat }
    }

    /// What to do about bad input files.
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions {
            ignore_corrupt_files: self.conf().get(settings::FILES_IGNORE_CORRUPT),
            ignore_missing_files: self.conf().get(settings::FILES_IGNORE_MISSING),
        }
    }

    /// Ends the application: active jobs fail, later ones are refused.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rdd = ctx.range(0..9);
    /// ctx.stop()?;
    /// assert!(matches!(rdd.count(), Err(Error::Stopped)));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn stop(&self) -> Result<()> {
        Ok(self.driver().stop()?)
    }

    pub(crate) fn driver(&self) -> &Arc<Driver> {
        &self.0.0
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Context").finish_non_exhaustive()
    }
}
