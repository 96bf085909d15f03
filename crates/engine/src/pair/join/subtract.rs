//! The adaptor of `subtract_by_key`.

use std::hash::Hash;

use firesteel_types::PartitionId;

use super::{Loaded, Table};
use crate::{
    data::Data,
    either::Either,
    pair::{Input, cogroup::two_sides},
    partitioner::KeyPartitioner,
    rdd::{Rdd, RddHandle},
    task::TaskContext,
};

/// An [`Rdd`] with the rows of one parent whose key another parent does not have. Made by
/// [`subtract_by_key`](crate::JoinRdd::subtract_by_key).
///
/// A parent that has the result's partitioner is read in place, any other one is shuffled. In each partition
/// the keys of the right parent are looked up while the left one streams by.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
pub struct SubtractByKey<K: Data, V: Data, W: Data> {
    handle: RddHandle,
    left: Input<(K, V), (K, V)>,
    right: Input<(K, W), (K, W)>,
}

crate::rdd::debug_as_handle!(impl[K: Data, V: Data, W: Data] SubtractByKey<K, V, W>);

crate::ship!(impl[K: Data, V: Data, W: Data] SubtractByKey<K, V, W> { handle, left, right });

impl<K: Data, V: Data, W: Data> Clone for SubtractByKey<K, V, W> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), left: self.left.clone(), right: self.right.clone() }
    }
}

impl<K: Data, V: Data, W: Data> SubtractByKey<K, V, W> {
    /// Takes the keys of `right` out of `left`.
    #[track_caller]
    pub(super) fn new(
        left: &impl Rdd<Item = (K, V)>,
        right: &impl Rdd<Item = (K, W)>,
        partitioner: &KeyPartitioner<K>,
    ) -> Self {
        let builder = left.handle().derive_into("subtract_by_key", partitioner.num_partitions());
        let (left, right) = (Input::pairs(left, partitioner), Input::pairs(right, partitioner));
        let parents = vec![left.parent(), right.parent()];
        let handle = builder.partitioner(Some(partitioner.erased())).parents(parents).build();
        Self { handle, left, right }
    }
}

impl<K: Data + Hash + Eq, V: Data, W: Data> Rdd for SubtractByKey<K, V, W> {
    type Item = (K, V);

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = (K, V)> + 'a {
        rows_without(&self.left, &self.right, partition, task)
    }
}

/// The rows of `left` whose key `right` does not have, in order.
pub(crate) fn rows_without<'a, K: Data + Hash + Eq, V: Data, W: Data>(
    left: &'a Input<(K, V), (K, V)>,
    right: &'a Input<(K, W), (K, W)>,
    partition: PartitionId,
    task: &'a TaskContext,
) -> impl Iterator<Item = (K, V)> + 'a {
    let right = match right.load(partition, task) {
        Loaded::Lent(right) => right,
        right @ Loaded::Streamed(_) => {
            let groups = two_sides(left.stream(partition, task), right, "subtracting by key", task);
            let stay = groups.filter(|(_, _, right)| right.is_empty());
            return Either::One(
                stay.flat_map(|(key, left, _)| left.into_iter().map(move |value| (key.clone(), value))),
            );
        }
    };
    let taken = Table::of_keys(right, task);
    Either::Two(match left {
        Input::Narrow(left) => {
            Either::One(left.rows(partition, task).filter(move |row| taken.first(&row.0).is_none()))
        }
        // A row that is still where it was is cloned only if it stays.
        Input::Shuffle(left) => Either::Two(
            left.blocks(partition, task).into_rows_where(task, move |row| taken.first(&row.0).is_none()),
        ),
    })
}
