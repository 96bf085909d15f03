//! The adaptor of `distinct`.

use std::{hash::Hash, marker::PhantomData};

use firesteel_types::PartitionId;
use hashbrown::{HashTable, hash_table::Entry};

use super::{Combine, Input, input::shuffle};
use crate::{
    data::Data,
    executor::TaskContext,
    partitioner::{HashPartitioner, hash_of},
    rdd::{BoxRdd, Either, Rdd, RddHandle},
    ship::{Frozen, Ship, ShipError, Thawing},
    shuffle::{Buckets, MapSide},
};

/// An [`Rdd`] without the duplicates of its parent. Made by [`distinct`](crate::Rearrange::distinct).
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Distinct<T: Data> {
    handle: RddHandle,
    input: Input<T, T>,
}

crate::ship!(impl[T: Data] Distinct<T> { handle, input });

impl<T: Data + Hash + Eq> Distinct<T> {
    #[track_caller]
    pub(super) fn new<R: Rdd<Item = T>>(parent: &R, partitions: u32) -> Self {
        let handle = parent.handle();
        let partitions = partitions.max(1);
        let builder = handle.derive_into("distinct", partitions);
        // Equal rows have equal keys, so a partitioner of any kind has put them into one partition.
        if handle.partitioner().is_some() && handle.partitions() == partitions {
            let input: Input<T, T> = Input::Narrow(BoxRdd::new(parent.clone()));
            let builder = builder.parents(vec![input.parent()]).partitioner(handle.partitioner().cloned());
            return Self { handle: builder.build(), input };
        }
        let side = DropDuplicates { partitions, row: PhantomData };
        let input: Input<T, T> = Input::Shuffle(shuffle(parent, partitions, false, side));
        Self { handle: builder.parents(vec![input.parent()]).build(), input }
    }
}

impl<T: Data + Hash + Eq> Rdd for Distinct<T> {
    type Item = T;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> impl Iterator<Item = T> + 'a {
        match &self.input {
            Input::Narrow(parent) => {
                Either::One(different(parent.rows(partition, task)).into_rows().map(|(row, ())| row))
            }
            Input::Shuffle(read) => {
                let blocks = read.blocks(partition, task);
                // At least as many rows as the largest block has: each block has every row once.
                let most = blocks.iter().map(|rows| rows.len()).max().unwrap_or(0);
                let mut seen: HashTable<&T> = HashTable::with_capacity(most);
                let rows = blocks.into_iter().flat_map(|rows| task.batches(rows)).flatten();
                let is_new = move |row: &&'a T| match seen.entry(
                    hash_of(*row),
                    |other| other == row,
                    |row| hash_of(*row),
                ) {
                    Entry::Occupied(_) => false,
                    Entry::Vacant(entry) => {
                        entry.insert(row);
                        true
                    }
                };
                Either::Two(rows.filter(is_new).cloned())
            }
        }
    }
}

/// The different ones of some rows.
fn different<T: Hash + Eq>(rows: impl Iterator<Item = T>) -> Combine<T, ()> {
    let mut different = Combine::with_capacity(0);
    rows.for_each(|row| different.bring(row, (), |()| (), |(), ()| ()));
    different
}

/// The map side: duplicates within one map task are dropped before rows are dealt.
struct DropDuplicates<T> {
    partitions: u32,
    row: PhantomData<fn() -> T>,
}

impl<T> Ship for DropDuplicates<T> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        out.value(&self.partitions)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Ok(Self { partitions: input.value()?, row: PhantomData })
    }
}

impl<T: Data + Hash + Eq> MapSide<T> for DropDuplicates<T> {
    type Row = T;

    fn deal(&self, rows: impl Iterator<Item = T>, _task: &TaskContext) -> Buckets<T> {
        let different = different(rows);
        let mut buckets = Buckets::new(self.partitions);
        buckets.reserve(different.len());
        let partitioner = HashPartitioner::new(self.partitions);
        different.into_rows().for_each(|(row, ())| buckets.push(partitioner.partition_of(&row), row));
        buckets
    }
}
