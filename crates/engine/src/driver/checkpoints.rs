//! Where the checkpoints of an application go, and which RDDs wait for theirs: [`CheckpointDirectory`].

use std::sync::atomic::{AtomicUsize, Ordering};

use firesteel_files::Location;
use parking_lot::Mutex;

use super::{Driver, RddHandle, walk};
use crate::Result;

/// The job property that has every marked ancestor of an RDD checkpointed, not just the nearest.
const ALL_MARKED_ANCESTORS: &str = "spark.checkpoint.checkpointAllMarkedAncestors";

/// The checkpoint directory, and how many RDDs wait to be written there.
#[derive(Default)]
pub(crate) struct CheckpointDirectory {
    location: Mutex<Option<Location>>,
    marked: AtomicUsize,
}

impl CheckpointDirectory {
    pub(crate) fn location(&self) -> Option<Location> {
        self.location.lock().clone()
    }

    pub(crate) fn set_location(&self, location: Location) {
        *self.location.lock() = Some(location);
    }

    /// Whether an RDD waits to be written.
    pub(crate) fn is_any_marked(&self) -> bool {
        self.marked.load(Ordering::Relaxed) > 0
    }

    /// One more RDD waits for its first job.
    pub(crate) fn mark(&self) {
        self.marked.fetch_add(1, Ordering::Relaxed);
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
