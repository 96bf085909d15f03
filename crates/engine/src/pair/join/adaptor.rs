//! The adaptor of every join.

use std::{hash::Hash, marker::PhantomData, rc::Rc};

use firesteel_types::PartitionId;

use super::{JoinKind, Lent, Loaded, Table, cut::cut, kind::Flipped, probe::Probe};
use crate::{
    data::Data,
    either::Either,
    pair::{Input, cogroup::two_sides},
    partitioner::KeyPartitioner,
    rdd::{Rdd, RddHandle},
    task::TaskContext,
};

/// An [`Rdd`] with the pairs of values that two parents have for the same key. Made by
/// [`join`](crate::JoinRdd::join) and the outer joins; `J` is the kind.
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

crate::rdd::debug_as_handle!(impl[K: Data, V: Data, W: Data, J] Join<K, V, W, J>);

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
        let name = "joining by key";
        let build_left = |rows: Lent<'a, (K, V)>| Table::of_rows(rows, task);
        let build_right = |rows: Lent<'a, (K, W)>| Table::of_rows(rows, task);
        let spilled = |left, right| {
            let groups = two_sides(left, right, name, task);
            Either::Two(groups.flat_map(|(key, left, right)| pairs::<K, V, W, J>(key, left, right, task)))
        };
        match (&self.left, &self.right) {
            (Input::Shuffle(_), Input::Shuffle(_)) => {
                match (self.left.load(partition, task), self.right.load(partition, task)) {
                    (Loaded::Lent(left), Loaded::Lent(right)) => {
                        let parts = cut(left, right, task).into_iter();
                        Either::One(Either::One(Either::One(parts.flat_map(move |(left, right)| {
                            if left.len() < right.len() {
                                let (left, right) = (build_left(left), right.into_rows(task));
                                Either::One(Probe::<_, _, _, _, Flipped<J>>::new(right, left, task))
                            } else {
                                let (left, right) = (left.into_rows(task), build_right(right));
                                Either::Two(Probe::<_, _, _, _, J>::new(left, right, task))
                            }
                        }))))
                    }
                    // One side is enough: the other one streams past it, however many rows a key has there.
                    (Loaded::Lent(left), Loaded::Streamed(right)) => {
                        let left = build_left(left);
                        let probe = Probe::<_, _, _, _, Flipped<J>>::new(right, left, task);
                        Either::One(Either::One(Either::Two(Either::One(probe))))
                    }
                    (Loaded::Streamed(left), Loaded::Lent(right)) => {
                        let right = build_right(right);
                        let probe = Probe::<_, _, _, _, J>::new(left, right, task);
                        Either::One(Either::One(Either::Two(Either::Two(probe))))
                    }
                    (left, right) => spilled(left, right),
                }
            }
            (Input::Shuffle(_), Input::Narrow(right)) => match self.left.load(partition, task) {
                Loaded::Lent(left) => {
                    let right = right.rows(partition, task);
                    let left = build_left(left);
                    Either::One(Either::Two(Either::One(Probe::<_, _, _, _, Flipped<J>>::new(
                        right, left, task,
                    ))))
                }
                left @ Loaded::Streamed(_) => spilled(left, self.right.stream(partition, task)),
            },
            (Input::Narrow(left), _) => match self.right.load(partition, task) {
                Loaded::Lent(right) => {
                    let left = left.rows(partition, task);
                    let right = build_right(right);
                    Either::One(Either::Two(Either::Two(Probe::<_, _, _, _, J>::new(left, right, task))))
                }
                right @ Loaded::Streamed(_) => spilled(self.left.stream(partition, task), right),
            },
        }
    }
}

/// Every pair of values of one key, and what stays alone.
fn pairs<K: Data, V: Data, W: Data, J: JoinKind<V, W>>(
    key: K,
    left: Vec<V>,
    right: Vec<W>,
    task: &TaskContext,
) -> impl Iterator<Item = (K, J::Row)> {
    let (left_alone, right_alone) = match (left.is_empty(), right.is_empty()) {
        (false, false) => {
            let right = Rc::new(right);
            return Either::One(left.into_iter().flat_map(move |value| {
                // One key may have more pairs than there is time for.
                task.check();
                let (key, right) = (key.clone(), right.clone());
                (0..right.len()).map(move |place| (key.clone(), J::both(value.clone(), right[place].clone())))
            }));
        }
        (false, true) => (left, Vec::new()),
        (true, _) => (Vec::new(), right),
    };
    let alone =
        left_alone.into_iter().filter_map(J::left).chain(right_alone.into_iter().filter_map(J::right));
    Either::Two(alone.map(move |row| (key.clone(), row)))
}
