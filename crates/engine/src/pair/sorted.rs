//! The adaptor of everything that sorts within partitions.

use std::{cmp::Ordering, marker::PhantomData};

use firesteel_types::PartitionId;

use super::{Input, sorted_in_ranges::sorted_in_ranges};
use crate::{
    data::Data,
    either::Either,
    partitioner::{KeyPartitioner, Order, RangePartitioner},
    rdd::{HandleBuilder, Rdd, RddHandle},
    ship::{Frozen, Ship, ShipError, Thawing},
    shuffle::{Batch, Buckets, Deal, MapSide},
    spill::SpillSort,
    task::TaskContext,
};

/// An [`Rdd`] whose partitions are sorted by key. Made by [`sort_by_key`](crate::OrderedPairRdd::sort_by_key) and its
/// relatives.
///
/// Rows with equal keys stay in the order in which the parent's partitions have them.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Sorted<K: Data, V: Data> {
    handle: RddHandle,
    input: Input<(K, V), (K, V)>,
    order: Order,
}

crate::rdd::debug_as_handle!(impl[K: Data, V: Data] Sorted<K, V>);

crate::ship!(impl[K: Data, V: Data] Sorted<K, V> { handle, input; values order });

impl<K: Data + Ord, V: Data> Sorted<K, V> {
    /// Deals the rows of `parent` by ranges and sorts each of them, so that all rows are in order.
    ///
    /// `builder` is of the new RDD, made where the application called for it.
    pub(super) fn by_ranges<R: Rdd<Item = (K, V)>>(
        builder: HandleBuilder,
        parent: &R,
        ranges: RangePartitioner<K>,
    ) -> Self {
        let partitioner = KeyPartitioner::from(ranges.clone());
        let order = ranges.order();
        Self::new(builder, parent, &partitioner, order, || DealRanges { ranges, value: PhantomData })
    }

    /// Deals the rows of `parent` by any rule and sorts within partitions.
    #[track_caller]
    pub(super) fn within<R: Rdd<Item = (K, V)>>(
        parent: &R,
        operator: &'static str,
        partitioner: &KeyPartitioner<K>,
    ) -> Self {
        let builder = parent.handle().derive_into(operator, 0);
        let side = || Deal { partitioner: partitioner.clone(), value: PhantomData };
        Self::new(builder, parent, partitioner, Order::Ascending, side)
    }

    fn new<R: Rdd<Item = (K, V)>, M: MapSide<(K, V), Row = (K, V)>>(
        builder: HandleBuilder,
        parent: &R,
        partitioner: &KeyPartitioner<K>,
        order: Order,
        side: impl FnOnce() -> M,
    ) -> Self {
        let input = Input::new(parent, partitioner, false, side);
        let builder = builder.partitions(partitioner.num_partitions());
        let builder = builder.partitioner(Some(partitioner.erased())).parents(vec![input.parent()]);
        Self { handle: builder.build(), input, order }
    }
}

impl<K: Data + Ord, V: Data> Rdd for Sorted<K, V> {
    type Item = (K, V);

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = (K, V)> + 'a {
        // Each order has a loop of its own, so that a comparison is that of the keys and no more.
        match self.order {
            Order::Ascending => Either::One(self.sorted(partition, task, |one, two| one.0.cmp(&two.0))),
            Order::Descending => Either::Two(self.sorted(partition, task, |one, two| two.0.cmp(&one.0))),
        }
    }
}

impl<K: Data + Ord, V: Data> Sorted<K, V> {
    fn sorted<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
        compare: impl Fn(&(K, V), &(K, V)) -> Ordering + Copy + 'a,
    ) -> impl Iterator<Item = (K, V)> + 'a {
        let mut sort = SpillSort::new(compare, "sorting by key", task);
        match &self.input {
            Input::Narrow(parent) => parent.rows(partition, task).for_each(|row| sort.push(row)),
            Input::Shuffle(read) => {
                let blocks = read.blocks(partition, task);
                // The rows, and half of them again as scratch space.
                match blocks.lend(size_of::<(K, V)>() * 3 / 2, task) {
                    Ok(blocks) => return Either::One(sorted_blocks(&blocks, compare, task)),
                    Err(blocks) => blocks.for_each(task, |batch| match batch {
                        Batch::Lent(rows) => rows.iter().for_each(|row| sort.push(row.clone())),
                        Batch::Owned(rows) => rows.into_iter().for_each(|row| sort.push(row)),
                    }),
                }
            }
        }
        Either::Two(sort.into_rows())
    }
}

/// Rows up to this size are moved while they are sorted. Larger ones are sorted by reference.
const MOVED_BYTES_MAX: usize = 32;

/// All rows in order.
fn sorted_blocks<'a, T: Data, C: Fn(&T, &T) -> Ordering + 'a>(
    blocks: &[&'a [T]],
    compare: C,
    task: &'a TaskContext,
) -> impl Iterator<Item = T> + use<'a, T, C> {
    if size_of::<T>() > MOVED_BYTES_MAX {
        return Either::One(sorted_in_ranges(blocks, compare, task).cloned());
    }
    let mut rows = Vec::with_capacity(blocks.iter().map(|rows| rows.len()).sum());
    blocks.iter().flat_map(|rows| task.batches(rows)).for_each(|batch| rows.extend_from_slice(batch));
    rows.sort_by(compare);
    Either::Two(rows.into_iter())
}

/// Deals rows by ranges, with the comparisons compiled into the loop.
struct DealRanges<K, V> {
    ranges: RangePartitioner<K>,
    value: PhantomData<fn() -> V>,
}

impl<K: Data, V: 'static> Ship for DealRanges<K, V> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        out.value(&self.ranges)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Ok(Self { ranges: input.value()?, value: PhantomData })
    }
}

impl<K: Data + Ord, V: Data> MapSide<(K, V)> for DealRanges<K, V> {
    type Row = (K, V);

    fn deal<'a>(&self, rows: impl Iterator<Item = (K, V)>, task: &'a TaskContext) -> Buckets<'a, (K, V)> {
        let mut buckets = Buckets::new(self.ranges.num_partitions(), task);
        buckets.reserve(rows.size_hint().0);
        rows.for_each(|row| buckets.push(self.ranges.partition_of(&row.0), row));
        buckets
    }
}
