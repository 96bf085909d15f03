//! The adaptor of `checkpoint` and `local_checkpoint`.

use std::sync::Arc;

use parking_lot::RwLock;
use serde::{Deserialize, Serialize};

use firesteel_types::{PartitionId, StorageLevel};

use super::write;
use crate::{
    Error, Result,
    either::Either,
    rdd::{Rdd, RddHandle},
    ship::{Frozen, Ship, ShipError, Thawing},
    source::{batches, or_abort},
    task::{Abort, TaskContext, abort_task, keep, kept},
};
use firesteel_files::{Location, ObjectReader, ReadOptions, part_name};

/// How a local checkpoint is kept: none of it may be given up.
const LOCAL: StorageLevel = StorageLevel::MEMORY_AND_DISK;

/// An [`Rdd`] that is written down after the first job that uses it, and read from there by later ones. Made by
/// [`checkpoint`](crate::Transform::checkpoint) and [`local_checkpoint`](crate::Transform::local_checkpoint).
///
/// From then on the lineage behind it is gone: none of it is kept or computed again.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
pub struct Checkpointed<R: Rdd> {
    handle: RddHandle,
    source: Arc<RwLock<Arc<Source<R>>>>,
}

crate::rdd::debug_as_handle!(impl[R: Rdd] Checkpointed<R>);

/// Where the rows come from.
pub(super) enum Source<R> {
    /// Computed, until the checkpoint is written.
    Computed(R),
    /// Computed and kept by the executor that did, until all are there.
    Kept(R),
    /// Read from files of this folder.
    Files(Location),
    /// Read from the executors that keep them.
    Blocks,
}

impl<R: Rdd> Checkpointed<R> {
    /// To files of the context's checkpoint directory.
    #[track_caller]
    pub(crate) fn reliable(parent: &R) -> Result<Self> {
        let driver = parent.handle().driver();
        if driver.checkpoints.location().is_none() {
            return Err(Error::NoCheckpointDir);
        }
        Ok(Self::new(parent, "checkpoint", StorageLevel::NONE, Source::Computed(parent.clone())))
    }

    /// To the memory of executors, and to their disks where that is short.
    #[track_caller]
    pub(crate) fn local(parent: &R) -> Self {
        Self::new(parent, "local_checkpoint", LOCAL, Source::Kept(parent.clone()))
    }

    #[track_caller]
    fn new(parent: &R, operator: &'static str, level: StorageLevel, source: Source<R>) -> Self {
        let handle = parent.handle().derive(operator).partitioner(parent.handle().partitioner().cloned());
        let handle = handle.storage(level).build();
        let source = Arc::new(RwLock::new(Arc::new(source)));
        // Weak: the handle must not keep alive what keeps the handle.
        let weak = Arc::downgrade(&source);
        handle.set_after_job(Arc::new(move |handle| match weak.upgrade() {
            Some(source) => write::write(&Self { handle: handle.clone(), source }),
            None => Ok(()),
        }));
        parent.handle().driver().checkpoints.mark();
        Self { handle, source }
    }

    /// Whether the rows are written down.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rdd = ctx.range(0..9).local_checkpoint();
    /// assert!(!rdd.is_checkpointed());
    /// rdd.count()?;
    /// assert!(rdd.is_checkpointed());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn is_checkpointed(&self) -> bool {
        matches!(*self.source(), Source::Files(_) | Source::Blocks)
    }

    /// The folder of the files, once they are written.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let folder = std::env::temp_dir().join(format!("firesteel-doc-checkpoint-file-{}", std::process::id()));
    /// ctx.set_checkpoint_dir(folder.to_str().unwrap())?;
    /// let rdd = ctx.range(0..9).checkpoint()?;
    /// assert_eq!(rdd.checkpoint_file(), None);
    /// rdd.count()?;
    /// assert!(rdd.checkpoint_file().is_some());
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn checkpoint_file(&self) -> Option<String> {
        match &*self.source() {
            Source::Files(folder) => Some(folder.to_string()),
            Source::Computed(_) | Source::Kept(_) | Source::Blocks => None,
        }
    }

    pub(super) fn source(&self) -> Arc<Source<R>> {
        self.source.read().clone()
    }

    /// The rows are written down: reads them from `source` from now on, and cuts the lineage.
    pub(super) fn written(&self, source: Source<R>) {
        let before = std::mem::replace(&mut *self.source.write(), Arc::new(source));
        self.handle.cut(matches!(*self.source(), Source::Files(_)));
        crate::bury::bury(before);
    }
}

impl<R: Rdd> Rdd for Checkpointed<R> {
    type Item = R::Item;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = R::Item> + 'a {
        let id = self.handle.id();
        // Held by the task: the driver may switch to the checkpoint while it runs.
        let rows = match &**task.hold(self.source()) {
            Source::Computed(parent) => return Either::One(parent.compute(partition, task)),
            Source::Files(folder) => {
                let file = folder.join(&part_name(partition.index()));
                let mut reader = or_abort(ObjectReader::<R::Item>::open(&file, ReadOptions::default()), id);
                let rows = batches(id, task, move |rows, _| reader.next_batch(rows));
                return Either::Two(Either::One(rows));
            }
            Source::Kept(parent) => keep(id, partition, LOCAL, task, || parent.compute(partition, task)),
            Source::Blocks => match kept(id, partition, task) {
                Some(rows) => rows,
                None => {
                    let message = format!(
                        "{partition} of a local checkpoint is lost, and the lineage behind it was cut: use \
                         `checkpoint` with a reliable directory where executors may be lost"
                    );
                    abort_task(Abort::failed(id, message))
                }
            },
        };
        Either::Two(Either::Two(rows))
    }
}

impl<R: Rdd> Clone for Checkpointed<R> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), source: self.source.clone() }
    }
}

/// Where the rows come from, as it is shipped. The parent follows where there is one.
#[derive(Serialize, Deserialize)]
enum ShippedSource {
    Computed,
    Kept,
    Files(Location),
    Blocks,
}

impl<R: Rdd> Ship for Checkpointed<R> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.handle.freeze(out)?;
        match &*self.source() {
            Source::Computed(parent) => {
                out.value(&ShippedSource::Computed)?;
                Ship::freeze(parent, out)
            }
            Source::Kept(parent) => {
                out.value(&ShippedSource::Kept)?;
                Ship::freeze(parent, out)
            }
            Source::Files(folder) => out.value(&ShippedSource::Files(folder.clone())),
            Source::Blocks => out.value(&ShippedSource::Blocks),
        }
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        let handle = RddHandle::thaw(input)?;
        let source = match input.value()? {
            ShippedSource::Computed => Source::Computed(R::thaw(input)?),
            ShippedSource::Kept => Source::Kept(R::thaw(input)?),
            ShippedSource::Files(folder) => Source::Files(folder),
            ShippedSource::Blocks => Source::Blocks,
        };
        Ok(Self { handle, source: Arc::new(RwLock::new(Arc::new(source))) })
    }
}
