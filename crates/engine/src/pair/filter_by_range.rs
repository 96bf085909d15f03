//! The adaptor of `filter_by_range`.

use std::ops::{Bound, RangeBounds};

use firesteel_types::{NarrowMap, PartitionId};

use crate::{
    data::Data,
    partitioner::RangePartitioner,
    rdd::{Parent, Rdd, RddHandle},
    ship::Ship,
    task::TaskContext,
};

/// An [`Rdd`] with the pairs of its parent whose keys lie within limits. Made by
/// [`filter_by_range`](crate::OrderedPairRdd::filter_by_range).
///
/// A narrow dependency. If the parent is partitioned by ranges, only partitions that can have such keys are computed.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct FilterByRange<R, K> {
    parent: R,
    handle: RddHandle,
    limits: (Bound<K>, Bound<K>),
    /// The partition of the parent that the first one of this RDD comes from.
    first: u32,
}

crate::rdd::debug_as_handle!(impl[R, K] FilterByRange<R, K>);

crate::ship!(impl[R: Ship, K: Data] FilterByRange<R, K> { parent, handle; values limits, first });

impl<K: Data + Ord, V: Data, R: Rdd<Item = (K, V)>> FilterByRange<R, K> {
    #[track_caller]
    pub(super) fn new(parent: &R, range: impl RangeBounds<K>) -> Self {
        let limits = (range.start_bound().cloned(), range.end_bound().cloned());
        let handle = parent.handle();
        let ranges =
            handle.partitioner().and_then(|partitioner| partitioner.rule::<K, RangePartitioner<K>>());
        let (first, len) = match ranges {
            Some(ranges) => ranges.overlapping(limits.0.as_ref(), limits.1.as_ref()),
            None => (0, handle.partitions()),
        };
        let builder = handle.derive_into("filter_by_range", len);
        let builder = if len == handle.partitions() {
            let parents = vec![Parent::one_to_one(handle)];
            builder.parents(parents).partitioner(handle.partitioner().cloned())
        } else {
            let map = NarrowMap::Range { parent_start: first, child_start: 0, len };
            builder.parents(vec![Parent::Narrow(handle.clone(), map)])
        };
        Self { parent: parent.clone(), handle: builder.build(), limits, first }
    }
}

impl<K: Data + Ord, V: Data, R: Rdd<Item = (K, V)>> Rdd for FilterByRange<R, K> {
    type Item = (K, V);

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = (K, V)> + 'a {
        let rows = self.parent.compute(PartitionId(self.first + partition.0), task);
        rows.filter(|(key, _)| self.limits.contains(key))
    }
}
