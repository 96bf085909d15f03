//! The handle of an application.

use std::{fmt, sync::Arc};

use firesteel_scheduler::Cancel;

use super::ContextBuilder;
use crate::{
    Result,
    driver::Driver,
    rdd::{HandleBuilder, RddHandle},
};

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
pub struct Context(Arc<Application>);

/// Stops the driver when no context is left; RDDs keep the driver itself alive, but not running.
struct Application(Arc<Driver>);

impl Drop for Application {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Context {
    pub(crate) fn new(driver: Arc<Driver>) -> Self {
        Self(Arc::new(Application(driver)))
    }

    /// The settings of a context to be.
    pub fn builder() -> ContextBuilder {
        ContextBuilder::default()
    }

    /// A context that runs on `cores` threads of this process.
    pub fn local(cores: u32) -> Result<Self> {
        Self::builder().master(format!("local[{cores}]")).start()
    }

    /// How many partitions an RDD has when nobody says otherwise.
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

    /// Cancels every job, running or waiting.
    pub fn cancel_all_jobs(&self) {
        self.driver().cancel(Cancel::All, None);
    }

    /// Ends the application: active jobs fail, later ones are refused.
    pub fn stop(&self) {
        self.driver().stop();
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
