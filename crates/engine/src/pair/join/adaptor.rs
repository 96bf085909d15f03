//! The adaptor of every join.

use std::{hash::Hash, marker::PhantomData};

use firesteel_types::PartitionId;

use super::{JoinKind, Lent, Table, kind::Flipped, probe::Probe};
use crate::{
    data::Data,
    executor::TaskContext,
    pair::Input,
    partitioner::KeyPartitioner,
    rdd::{Either, Rdd, RddHandle},
};

/// An [`Rdd`] with the pairs of values that two parents have for the same key. Made by
/// [`join`](crate::JoinRdd::join) and the outer joins; `J` says which.
///
/// A parent that has the result's partitioner is read in place, any other one is shuffled. In each partition
/// a hash table is built over the rows of one side and the other side streams past it: the smaller side is
/// built if both are shuffled, else the shuffled one, else the right one.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
pub struct Join<K: Data, V: Data, W: Data, J> {
    handle: RddHandle,
    left: Input<(K, V), (K, V)>,
    right: Input<(K, W), (K, W)>,
    kind: Kind<J>,
}

/// The kind of a join, which is a type and no value.
struct Kind<J>(PhantomData<fn() -> J>);

crate::ship!(impl[K: Data, V: Data, W: Data, J] Join<K, V, W, J> { handle, left, right, kind });

impl<J> crate::ship::Ship for Kind<J> {
    fn freeze(&self, _out: &mut crate::ship::Frozen) -> Result<(), crate::ship::ShipError> {
        Ok(())
    }

    fn thaw(_input: &mut crate::ship::Thawing<'_>) -> Result<Self, crate::ship::ShipError> {
        Ok(Self(PhantomData))
    }
}

impl<K: Data, V: Data, W: Data, J> Clone for Join<K, V, W, J> {
    fn clone(&self) -> Self {
        let (left, right) = (self.left.clone(), self.right.clone());
        Self { handle: self.handle.clone(), left, right, kind: Kind(PhantomData) }
    }
}

impl<K: Data, V: Data, W: Data, J> Join<K, V, W, J> {
    /// Joins two parents by key.
    #[track_caller]
    pub(super) fn new(
        left: &impl Rdd<Item = (K, V)>,
        right: &impl Rdd<Item = (K, W)>,
        operator: &'static str,
        partitioner: &KeyPartitioner<K>,
    ) -> Self {
        let builder = left.handle().derive_into(operator, partitioner.num_partitions());
        let (left, right) = (Input::pairs(left, partitioner), Input::pairs(right, partitioner));
        let parents = vec![left.parent(), right.parent()];
        let handle = builder.partitioner(Some(partitioner.erased())).parents(parents).build();
        Self { handle, left, right, kind: Kind(PhantomData) }
    }
}

impl<K: Data + Hash + Eq, V: Data, W: Data, J: JoinKind<V, W>> Rdd for Join<K, V, W, J> {
    type Item = (K, J::Row);

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = Self::Item> + 'a {
        let build_left = |rows: Lent<'a, (K, V)>| Table::of_rows(rows, task);
        let build_right = |rows: Lent<'a, (K, W)>| Table::of_rows(rows, task);
        match (&self.left, &self.right) {
            (Input::Shuffle(_), Input::Shuffle(_)) => {
                let (left, right) = (self.left.lend(partition, task), self.right.lend(partition, task));
                Either::One(if left.len() < right.len() {
                    Either::One(Probe::<_, _, _, _, Flipped<J>>::new(
                        right.into_rows(task),
                        build_left(left),
                        task,
                    ))
                } else {
                    Either::Two(Probe::<_, _, _, _, J>::new(left.into_rows(task), build_right(right), task))
                })
            }
            (Input::Shuffle(_), Input::Narrow(right)) => {
                let left = build_left(self.left.lend(partition, task));
                Either::Two(Either::One(Probe::<_, _, _, _, Flipped<J>>::new(
                    right.rows(partition, task),
                    left,
                    task,
                )))
            }
            (Input::Narrow(left), _) => {
                let right = build_right(self.right.lend(partition, task));
                Either::Two(Either::Two(Probe::<_, _, _, _, J>::new(left.rows(partition, task), right, task)))
            }
        }
    }
}
