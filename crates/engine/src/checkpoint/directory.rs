//! Where the checkpoints of an application go.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::{
    Context, Result,
    driver::{Driver, walk},
    rdd::RddHandle,
};
use firesteel_files::Location;

/// The job property that has every marked ancestor of an RDD checkpointed, not just the nearest.
const ALL_MARKED_ANCESTORS: &str = "spark.checkpoint.checkpointAllMarkedAncestors";

/// The checkpoint directory, and how many RDDs wait to be written there.
#[derive(Default)]
pub(crate) struct CheckpointDirectory {
    location: Mutex<Option<Location>>,
    marked: AtomicUsize,
}

impl CheckpointDirectory {
    pub(super) fn location(&self) -> Option<Location> {
        self.location.lock().clone()
    }

    /// Whether an RDD waits to be written.
    pub(crate) fn is_any_marked(&self) -> bool {
        self.marked.load(Ordering::Relaxed) > 0
    }

    /// One more RDD waits for its first job.
    pub(super) fn mark(&self) {
        self.marked.fetch_add(1, Ordering::Relaxed);
    }
}

impl Context {
    /// Sets the directory that checkpoints go to; the application makes a folder of its own in it. It should be one that
    /// every executor reaches, and that outlives them.
    ///
    /// ```
    /// use firesteel::prelude::*;
    ///
    /// let ctx = Context::local(2)?;
    /// let folder = std::env::temp_dir().join(format!("firesteel-doc-checkpoints-{}", std::process::id()));
    /// ctx.set_checkpoint_dir(folder.to_str().unwrap())?;
    /// let rdd = ctx.range(0..9).map(|x| x + 1).checkpoint()?;
    /// assert_eq!(rdd.count()?, 9);
    /// assert!(rdd.is_checkpointed(), "written after the first job");
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_checkpoint_dir(&self, path: &str) -> Result<()> {
        let driver = self.driver();
        let own = format!("{}-{}", std::process::id(), driver.clock.now().0);
        *driver.checkpoints.location.lock() = Some(Location::parse(path)?.join(&own));
        Ok(())
    }
}

impl Driver {
    /// A job on `rdd` has succeeded: writes what was marked for a checkpoint and used by it.
    ///
    /// Only the nearest marked RDD of each branch, unless a property of the thread asks for all: what is behind a
    /// checkpoint is not needed any more.
    pub(crate) fn write_checkpoints(&self, rdd: &RddHandle) -> Result<()> {
        let all = self.local_properties().get(ALL_MARKED_ANCESTORS).is_some_and(|value| value == "true");
        let mut marked = Vec::new();
        walk(rdd, |handle| {
            let Some(after_job) = handle.take_after_job() else { return true };
            marked.push((handle.clone(), after_job));
            all
        });
        // Behind first, so that what is nearer reads the checkpoint.
        for (handle, after_job) in marked.into_iter().rev() {
            self.checkpoints.marked.fetch_sub(1, Ordering::Relaxed);
            after_job(&handle)?;
        }
        Ok(())
    }
}
