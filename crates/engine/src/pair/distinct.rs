//! The adaptor of `distinct`.

use std::{hash::Hash, marker::PhantomData};

use firesteel_types::PartitionId;

use super::{Combiner, Input, combining::Combining, input::shuffle};
use crate::{
    data::Data,
    narrow::BoxRdd,
    partitioner::HashPartitioner,
    rdd::{Rdd, RddHandle},
    ship::{Frozen, Ship, ShipError, Thawing},
    shuffle::{Batch, Buckets, MapSide},
    spill::{Fold, SpillTable},
    task::TaskContext,
};

/// An [`Rdd`] without the duplicates of its parent. Made by [`distinct`](crate::Rearrange::distinct).
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Distinct<T: Data> {
    handle: RddHandle,
    input: Input<T, T>,
}

crate::rdd::debug_as_handle!(impl[T: Data] Distinct<T>);

crate::ship!(impl[T: Data] Distinct<T> { handle, input });

impl<T: Data + Hash + Eq> Distinct<T> {
    #[track_caller]
    pub(super) fn new<R: Rdd<Item = T>>(parent: &R, partitions: u32) -> Self {
        let handle = parent.handle();
        let builder = handle.derive_into("distinct", partitions);
        // Equal rows have equal keys, so a partitioner of any kind has put them into one partition.
        if handle.partitioner().is_some() && handle.partitions() == partitions && partitions > 0 {
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
        let name = "distinct";
        let seen = match &self.input {
            Input::Narrow(parent) => {
                let mut seen = SpillTable::new(Once, 0, name, task);
                parent.rows(partition, task).for_each(|row| seen.bring(row, (), |()| (), |(), ()| ()));
                seen
            }
            Input::Shuffle(read) => {
                let blocks = read.blocks(partition, task);
                // At least as many rows as the largest block has: each block has every row once.
                let mut seen = SpillTable::new(Once, blocks.most_rows(task), name, task);
                blocks.for_each(task, |batch| match batch {
                    Batch::Lent(rows) => {
                        for row in rows {
                            seen.bring_borrowed(row, (), |()| (), |(), ()| ());
                        }
                    }
                    Batch::Owned(rows) => {
                        for row in rows {
                            seen.bring(row, (), |()| (), |(), ()| ());
                        }
                    }
                });
                seen
            }
        };
        seen.into_rows().map(|(row, ())| row)
    }
}

/// Rows without a value.
#[derive(Clone, Copy)]
struct Once;

impl Fold for Once {
    type Row = ();
    type State = ();

    fn start(&self, (): ()) {}

    fn add(&self, (): (), (): ()) {}

    fn unload(&self, (): (), mut each: impl FnMut(())) {
        each(());
    }
}

impl Combiner<()> for Once {
    type Combined = ();

    fn create(&self, (): ()) {}

    fn add(&self, (): (), (): ()) {}

    fn merge(&self, (): (), (): ()) {}
}

crate::ship!(impl[] Once {});

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

    fn deal<'a>(&self, rows: impl Iterator<Item = T>, task: &'a TaskContext) -> Buckets<'a, T> {
        let partitioner = HashPartitioner::new(self.partitions);
        let buckets = Buckets::new(self.partitions, task);
        let deal = |(row, ()): (T, ())| (partitioner.partition_of(&row), row);
        let mut combining = Combining::new(&Once, buckets, deal, task);
        rows.for_each(|row| combining.bring(row, ()));
        combining.finish()
    }
}
