//! What a reduce task reads of a shuffle.

use std::{any::Any, marker::PhantomData, sync::Arc};

use firesteel_types::{FetchFailure, PartitionId, ShuffleId};

use super::{Buckets, ShuffleHandle, store::MapBlocks};
use crate::{
    data::Data,
    executor::TaskContext,
    ship::{Frozen, Ship, ShipError, Thawing},
};

/// The reduce side of a shuffle whose rows are `T`.
pub(crate) struct ShuffleRead<T> {
    shuffle: ShuffleId,
    maps: u32,
    /// Keeps the shuffle's output alive on the driver.
    handle: Option<ShuffleHandle>,
    rows: PhantomData<fn() -> T>,
}

impl<T: Data> ShuffleRead<T> {
    pub(crate) fn new(handle: &ShuffleHandle) -> Self {
        let (shuffle, maps) = (handle.id(), handle.parent().partitions());
        Self { shuffle, maps, handle: Some(handle.clone()), rows: PhantomData }
    }

    /// The shuffle. On the driver only.
    pub(crate) fn handle(&self) -> &ShuffleHandle {
        self.handle.as_ref().expect("the driver's side has it")
    }

    /// The rows that each map task left for `partition`, in the order of the map tasks. Empty blocks are left out.
    pub(crate) fn blocks<'a>(&self, partition: PartitionId, task: &'a TaskContext) -> Vec<&'a [T]> {
        let outputs = task.environment().shuffles.outputs(self.shuffle);
        let mut blocks = Vec::with_capacity(self.maps as usize);
        for map in 0..self.maps {
            task.check();
            let Some(Some(output)) = outputs.get(map as usize) else {
                task.abort_fetch(self.failure(map, partition, task, "the map output is gone"))
            };
            let rows = match output {
                MapBlocks::Typed(buckets) => typed_rows(buckets, partition, task),
                MapBlocks::Bytes(blocks) => {
                    self.decoded_rows(&blocks[partition.index()], map, partition, task)
                }
            };
            if !rows.is_empty() {
                blocks.push(rows);
            }
        }
        let records: usize = blocks.iter().map(|rows| rows.len()).sum();
        task.count_shuffle_read(records as u64, (records * size_of::<T>()) as u64);
        blocks
    }

    /// All rows for `partition`, one after the other.
    pub(crate) fn rows<'a>(
        &self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = T> + use<'a, T> {
        let blocks = self.blocks(partition, task).into_iter().flat_map(|rows| task.batches(rows));
        blocks.flat_map(|rows| rows.iter().cloned())
    }

    fn decoded_rows<'a>(
        &self,
        bytes: &[u8],
        map: u32,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> &'a [T] {
        if bytes.is_empty() {
            return &[];
        }
        match postcard::from_bytes::<Vec<T>>(bytes) {
            Ok(rows) => task.hold(rows),
            Err(error) => task.abort_fetch(self.failure(
                map,
                partition,
                task,
                &format!("the block is corrupt: {error}"),
            )),
        }
    }

    fn failure(
        &self,
        map: u32,
        reduce_partition: PartitionId,
        task: &TaskContext,
        message: &str,
    ) -> FetchFailure {
        FetchFailure {
            shuffle: self.shuffle,
            location: Some((task.executor(), task.environment().host.clone())),
            map_partition: Some(PartitionId(map)),
            map_attempt: None,
            reduce_partition,
            message: message.to_owned(),
        }
    }
}

fn typed_rows<'a, T: Data>(
    buckets: &Arc<dyn Any + Send + Sync>,
    partition: PartitionId,
    task: &'a TaskContext,
) -> &'a [T] {
    let buckets = task.hold(buckets.clone());
    let buckets = buckets.downcast_ref::<Buckets<T>>().expect("both sides of a shuffle have one row type");
    buckets.rows(partition.0)
}

impl<T> Clone for ShuffleRead<T> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), ..*self }
    }
}

impl<T> Ship for ShuffleRead<T> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        out.value(&(self.shuffle, self.maps))
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        let (shuffle, maps) = input.value()?;
        Ok(Self { shuffle, maps, handle: None, rows: PhantomData })
    }
}
