//! Reading a checkpoint that another application, or an earlier run, wrote.

use std::marker::PhantomData;

use firesteel_types::PartitionId;

use super::metadata::{CheckpointMetadata, METADATA};
use super::write::PARTITIONER;
use crate::{
    Context, Error, Result,
    data::Data,
    partitioner::{AnyPartitioner, HashPartitioner},
    rdd::{Rdd, RddHandle},
    ship::{Frozen, Ship, ShipError, Thawing},
    source::{batches, or_abort},
    task::TaskContext,
};
use firesteel_files::{
    IoError, Location, ObjectReader, ReadOptions, SUCCESS, list, look_up, part_name, read_text,
};

/// An [`Rdd`] of the rows of a checkpoint. Made by [`Context::checkpoint_file`].
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct CheckpointFile<T> {
    handle: RddHandle,
    folder: Location,
    rows: PhantomData<fn() -> T>,
}

crate::rdd::debug_as_handle!(impl[T] CheckpointFile<T>);

impl Context {
    /// The rows of a checkpoint, from the folder that [`checkpoint_file`](crate::Checkpointed::checkpoint_file) told.
    ///
    /// Fails if it was not written to its end, or if a part is missing or one too many. The partitioner is recovered if
    /// it was one by hash.
    ///
    /// ```
    /// use firesteel::prelude::*;
    ///
    /// let ctx = Context::local(2)?;
    /// let folder = std::env::temp_dir().join(format!("firesteel-doc-recovered-{}", std::process::id()));
    /// ctx.set_checkpoint_dir(folder.to_str().unwrap())?;
    /// let rdd = ctx.range(0..9).checkpoint()?;
    /// rdd.count()?;
    /// let again = ctx.checkpoint_file::<i32>(&rdd.checkpoint_file().unwrap())?;
    /// assert_eq!(again.count()?, 9);
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn checkpoint_file<T: Data>(&self, path: &str) -> Result<CheckpointFile<T>> {
        let folder = Location::parse(path)?;
        let metadata = read_metadata(&folder)?;
        // A partitioner that is not there or cannot be read only costs a shuffle later.
        let partitions = read_text(&folder.join(PARTITIONER), ReadOptions::default()).ok().flatten();
        let partitions = partitions.and_then(|text| text.trim().parse().ok());
        let partitioner = partitions.map(HashPartitioner::new);
        let handle = RddHandle::builder(self.driver(), "checkpoint_file", metadata.partitions);
        let handle = handle.partitioner(partitioner.map(AnyPartitioner::hash)).build();
        Ok(CheckpointFile { handle, folder, rows: PhantomData })
    }
}

/// The metadata of a checkpoint of which nothing is missing.
fn read_metadata(folder: &Location) -> Result<CheckpointMetadata> {
    if look_up(folder)?.is_none() {
        return Err(IoError::Missing { location: folder.to_string() }.into());
    }
    let not_whole = |problem| Error::BrokenCheckpoint { folder: folder.to_string(), problem };
    let entries = list(folder)?;
    let names = || entries.iter().map(|entry| entry.location.name());
    if !names().any(|name| name == SUCCESS) {
        return Err(not_whole(format!("it has no {SUCCESS}, so it was not written to its end")));
    }
    if !names().any(|name| name == METADATA) {
        return Err(not_whole(format!("it has no {METADATA}")));
    }
    let text = read_text(&folder.join(METADATA), ReadOptions::default())?.unwrap_or_default();
    let metadata = CheckpointMetadata::parse(&text)
        .map_err(|problem| not_whole(format!("{METADATA} cannot be used: {problem}")))?;
    let is_part = |name: &&str| !name.starts_with(['_', '.']);
    metadata.check_parts(names().filter(is_part)).map_err(not_whole)?;
    Ok(metadata)
}

impl<T: Data> Rdd for CheckpointFile<T> {
    type Item = T;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> impl Iterator<Item = T> + 'a {
        let (id, file) = (self.handle.id(), self.folder.join(&part_name(partition.index())));
        let mut reader = or_abort(ObjectReader::<T>::open(&file, ReadOptions::default()), id);
        batches(id, task, move |rows, _| reader.next_batch(rows))
    }
}

impl<T: 'static> Ship for CheckpointFile<T> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.handle.freeze(out)?;
        out.value(&self.folder)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Ok(Self { handle: RddHandle::thaw(input)?, folder: input.value()?, rows: PhantomData })
    }
}
