//! The adaptor of `prune_partitions`.

use std::sync::Arc;

use firesteel_types::{NarrowMap, PartitionId};

use crate::{
    rdd::{Parent, PartitionValues, Rdd, RddHandle},
    ship::Ship,
    task::TaskContext,
};

/// An [`Rdd`] of some partitions of its parent. Made by [`prune_partitions`](crate::Transform::prune_partitions).
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Pruned<R> {
    parent: R,
    handle: RddHandle,
    kept: PartitionValues<u32>,
}

crate::rdd::debug_as_handle!(impl[R] Pruned<R>);

crate::ship!(impl[R: Ship] Pruned<R> { parent, handle, kept });

impl<R: Rdd> Pruned<R> {
    #[track_caller]
    pub(super) fn new(parent: &R, kept: Vec<u32>) -> Self {
        let before = parent.handle();
        let map = NarrowMap::Listed(kept.iter().map(|&partition| vec![partition]).collect::<Arc<[_]>>());
        let builder = before.derive_into("prune_partitions", kept.len() as u32);
        let builder = builder.parents(vec![Parent::Narrow(before.clone(), map)]);
        let kept = PartitionValues::new(kept);
        Self { parent: parent.clone(), handle: builder.partition_data(kept.data()).build(), kept }
    }
}

impl<R: Rdd> Rdd for Pruned<R> {
    type Item = R::Item;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = R::Item> + 'a {
        let partition = *self.kept.get(&self.handle, partition, task);
        self.parent.compute(PartitionId(partition), task)
    }
}
