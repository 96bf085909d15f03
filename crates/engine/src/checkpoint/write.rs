//! Writing a checkpoint, as a job of its own.

use std::sync::Arc;

use firesteel_scheduler::Partitions;
use firesteel_storage::block::BlockId;
use firesteel_types::PartitionId;

use super::checkpointed::{Checkpointed, Source};
use super::metadata::{CheckpointMetadata, METADATA};
use crate::{
    Error, Result,
    job::{Call, JobFunction},
    partitioner::AnyPartitioner,
    rdd::Rdd,
    sink::save_objects,
    task::TaskContext,
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
    let folder = handle.driver().checkpoints.location().ok_or(Error::NoCheckpointDir)?;
    let folder = folder.join(&format!("rdd-{}", handle.id().0));
    let mut notes = vec![(METADATA, CheckpointMetadata { partitions: handle.partitions() }.to_text())];
    if let Some(partitions) = handle.partitioner().and_then(AnyPartitioner::hash_partitions) {
        notes.push((PARTITIONER, partitions.to_string()));
    }
    save_objects(Call::new("checkpoint").without_checkpoints(), rdd, &folder.to_string(), notes).wait()?;
    rdd.written(Source::Files(folder));
    Ok(())
}

/// Computes those partitions that the job before did not need.
#[track_caller]
fn keep_all<R: Rdd>(rdd: &Checkpointed<R>) -> Result<()> {
    let id = rdd.handle().id();
    let generation_now = || rdd.handle().driver().query(|scheduler| scheduler.generation(id));
    let mut generation = generation_now();
    loop {
        keep_missing(rdd, generation)?;
        let now = generation_now();
        if now == generation {
            break;
        }
        // Its rows were made again meanwhile, and what was kept before does not fit to them.
        generation = now;
    }
    rdd.written(Source::Blocks);
    Ok(())
}

/// Computes the partitions that this process has not kept under `generation`.
#[track_caller]
fn keep_missing<R: Rdd>(rdd: &Checkpointed<R>, generation: u32) -> Result<()> {
    let (handle, store) = (rdd.handle(), &rdd.handle().driver().environment.blocks);
    let is_missing = |partition: &PartitionId| {
        !store.contains(BlockId::Rdd { rdd: handle.id(), partition: *partition, generation })
    };
    let missing: Arc<[PartitionId]> = (0..handle.partitions()).map(PartitionId).filter(is_missing).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Call::new("local_checkpoint")
        .without_checkpoints()
        .run_on(rdd, Partitions::Listed(missing), Touch, |_| Ok(()))
        .wait()
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
