//! The adaptor of `repartition`.

use std::marker::PhantomData;

use firesteel_types::PartitionId;

use super::input::shuffle;
use crate::{
    data::Data,
    rdd::{Parent, Rdd, RddHandle},
    ship::{Frozen, Ship, ShipError, Thawing},
    shuffle::{Buckets, MapSide, ShuffleRead},
    task::TaskContext,
};
use firesteel_stats::RoundRobin;

/// An [`Rdd`] with the rows of its parent, dealt evenly to another number of partitions. Made by
/// [`repartition`](crate::Rearrange::repartition).
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Repartitioned<T> {
    handle: RddHandle,
    read: ShuffleRead<T>,
}

crate::rdd::debug_as_handle!(impl[T] Repartitioned<T>);

crate::ship!(impl[T: Data] Repartitioned<T> { handle, read });

impl<T: Data> Repartitioned<T> {
    #[track_caller]
    pub(super) fn new<R: Rdd<Item = T>>(parent: &R, partitions: u32) -> Self {
        let dealt = InOrder {
            handle: parent.handle().derive("repartition").order_sensitive().build(),
            parent: parent.clone(),
        };
        let builder = parent.handle().derive_into("repartition", partitions);
        let read = shuffle(&dealt, partitions, false, DealInTurn { partitions, row: PhantomData });
        let handle = builder.parents(vec![Parent::Shuffle(read.handle().clone())]).build();
        Self { handle, read }
    }
}

impl<T: Data> Rdd for Repartitioned<T> {
    type Item = T;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> impl Iterator<Item = T> + 'a {
        self.read.rows(partition, task)
    }
}

/// The rows of the parent as they are. Where a row goes depends on its place, and the lineage records that here: if the
/// parent gives its rows in another order when it runs again, all that was dealt must be dealt again.
#[derive(Clone)]
struct InOrder<R> {
    parent: R,
    handle: RddHandle,
}

crate::ship!(impl[R: Ship] InOrder<R> { parent, handle });

impl<R: Rdd> Rdd for InOrder<R> {
    type Item = R::Item;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = R::Item> + 'a {
        self.parent.compute(partition, task)
    }
}

/// The map side: one row for each partition in turn.
struct DealInTurn<T> {
    partitions: u32,
    row: PhantomData<fn() -> T>,
}

impl<T> Ship for DealInTurn<T> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        out.value(&self.partitions)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Ok(Self { partitions: input.value()?, row: PhantomData })
    }
}

impl<T: Data> MapSide<T> for DealInTurn<T> {
    type Row = T;

    fn deal<'a>(&self, rows: impl Iterator<Item = T>, task: &'a TaskContext) -> Buckets<'a, T> {
        let mut turn = RoundRobin::new(self.partitions, task.partition().0);
        let mut buckets = Buckets::new(self.partitions, task);
        buckets.reserve(rows.size_hint().0);
        rows.for_each(|row| buckets.push(turn.next_partition(), row));
        buckets
    }
}
