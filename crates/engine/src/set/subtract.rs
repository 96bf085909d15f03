//! The adaptor of `subtract`.

use std::hash::Hash;

use firesteel_types::PartitionId;

use crate::{
    data::Data,
    narrow::Transform,
    pair::{Input, rows_without},
    partitioner::KeyPartitioner,
    rdd::{Rdd, RddHandle},
    task::TaskContext,
};

/// An [`Rdd`] with the rows of one parent that another one does not have. Made by
/// [`subtract`](crate::SetRdd::subtract).
///
/// Both parents are shuffled. In each partition the rows of the right one are looked up while the left one
/// streams by.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Subtract<T: Data> {
    handle: RddHandle,
    left: Input<(T, ()), (T, ())>,
    right: Input<(T, ()), (T, ())>,
}

crate::rdd::debug_as_handle!(impl[T: Data] Subtract<T>);

crate::ship!(impl[T: Data] Subtract<T> { handle, left, right });

impl<T: Data> Subtract<T> {
    #[track_caller]
    pub(super) fn new(
        left: &impl Rdd<Item = T>,
        right: &impl Rdd<Item = T>,
        partitioner: &KeyPartitioner<T>,
    ) -> Self {
        let (left, right) = (left.map(|row| (row, ())), right.map(|row| (row, ())));
        let builder = left.handle().derive_into("subtract", partitioner.num_partitions());
        let (left, right) = (Input::pairs(&left, partitioner), Input::pairs(&right, partitioner));
        Self { handle: builder.parents(vec![left.parent(), right.parent()]).build(), left, right }
    }
}

impl<T: Data + Hash + Eq> Rdd for Subtract<T> {
    type Item = T;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> impl Iterator<Item = T> + 'a {
        rows_without(&self.left, &self.right, partition, task).map(|(row, ())| row)
    }
}
