//! Reading a checkpoint that another application, or an earlier run, wrote.

use std::marker::PhantomData;

use firesteel_types::PartitionId;

use super::write::PARTITIONER;
use crate::{
    Context, Error, Result,
    data::Data,
    executor::TaskContext,
    io::{Depth, Location, ObjectReader, ReadOptions, expand, part_name, read_text},
    partitioner::{AnyPartitioner, HashPartitioner},
    rdd::{Rdd, RddHandle},
    ship::{Frozen, Ship, ShipError, Thawing},
    source::{batches, or_abort},
};

/// An [`Rdd`] of the rows of a checkpoint. Made by [`Context::checkpoint_file`].
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct CheckpointFile<T> {
    handle: RddHandle,
    folder: Location,
    rows: PhantomData<fn() -> T>,
}

impl Context {
    /// The rows of a checkpoint, from the folder that [`checkpoint_file`](crate::Checkpointed::checkpoint_file) told.
    ///
    /// Fails if a part is missing. The partitioner is recovered if it was one by hash.
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
        let files = expand(path, Depth::Flat)?;
        for (index, file) in files.iter().enumerate() {
            if file.location.name() != part_name(index) {
                let found = file.location.name();
                let what = format!(
                    "the checkpoint {path} is not whole: expected {}, found {found}",
                    part_name(index)
                );
                return Err(Error::invalid(what));
            }
        }
        let options = ReadOptions { ignore_missing_files: true, ..ReadOptions::default() };
        // A partitioner that cannot be read only costs a shuffle later.
        let partitions = read_text(&folder.join(PARTITIONER), options).ok().flatten();
        let partitioner = partitions.and_then(|text| text.trim().parse().ok());
        let partitioner =
            partitioner.map(|partitions| AnyPartitioner::hash(HashPartitioner::new(partitions)));
        let handle = RddHandle::builder(self.driver(), "checkpoint_file", files.len() as u32);
        Ok(CheckpointFile { handle: handle.partitioner(partitioner).build(), folder, rows: PhantomData })
    }
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
