//! Writing a checkpoint, as a job of its own.

use std::sync::Arc;

use firesteel_scheduler::Partitions;
use firesteel_types::PartitionId;

use super::checkpointed::{Checkpointed, Source};
use super::metadata::{CheckpointMetadata, METADATA};
use crate::{
    Error, Result,
    action::{Call, JobFunction},
    executor::TaskContext,
    partitioner::AnyPartitioner,
    rdd::Rdd,
    sink::save_objects,
};

/// The file beside the data that tells how keys were dealt.
pub(super) const PARTITIONER: &str = "_partitioner";

/// Writes the rows down and has the RDD read them from there.
#[track_caller]
pub(super) fn write<R: Rdd>(rdd: &Checkpointed<R>) -> Result<()> {
    match &*rdd.source() {
        Source::Computed(_) => write_files(rdd),
        Source::Kept(_) => keep_all(rdd),
        Source::Files(_) | Source::Blocks => Ok(()),
    }
}

/// One file for each partition, computed again unless it is cached.
#[track_caller]
fn write_files<R: Rdd>(rdd: &Checkpointed<R>) -> Result<()> {
    let handle = rdd.handle();
    let folder =
        handle.driver().checkpoints.location().ok_or_else(|| Error::invalid("no checkpoint directory"))?;
    let folder = folder.join(&format!("rdd-{}", handle.id().0));
    let mut notes = vec![(METADATA, CheckpointMetadata { partitions: handle.partitions() }.to_text())];
    if let Some(partitions) = handle.partitioner().and_then(AnyPartitioner::hash_partitions) {
        notes.push((PARTITIONER, partitions.to_string()));
    }
    save_objects(Call::of_checkpoint("checkpoint"), rdd, &folder.to_string(), notes).wait()?;
    rdd.written(Source::Files(folder));
    Ok(())
}

/// Computes those partitions that the job before did not need.
#[track_caller]
fn keep_all<R: Rdd>(rdd: &Checkpointed<R>) -> Result<()> {
    let (handle, store) = (rdd.handle(), &rdd.handle().driver().environment.blocks);
    let missing = (0..handle.partitions())
        .map(PartitionId)
        .filter(|partition| !store.contains(handle.id(), *partition));
    let missing: Arc<[PartitionId]> = missing.collect();
    if !missing.is_empty() {
        Call::of_checkpoint("local_checkpoint")
            .run_on(rdd, Partitions::Listed(missing), Touch, |_| Ok(()))
            .wait()?;
    }
    rdd.written(Source::Blocks);
    Ok(())
}

/// Has a partition computed, and thereby kept.
struct Touch;
crate::ship!(impl[] Touch {});

impl<T> JobFunction<T> for Touch {
    type Output = ();

    fn run(&self, mut rows: impl Iterator<Item = T>, _task: &TaskContext) {
        // Keeping a partition computes all of it before the first row comes.
        drop(rows.next());
    }
}
