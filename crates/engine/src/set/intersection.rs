//! The adaptor of `intersection`.

use std::{hash::Hash, mem};

use firesteel_types::PartitionId;

use crate::{
    data::Data,
    either::Either,
    narrow::Transform,
    pair::{Input, Loaded, Table, two_sides},
    partitioner::KeyPartitioner,
    rdd::{Rdd, RddHandle},
    task::TaskContext,
};

/// An [`Rdd`] with the rows that two parents have in common, each once. Made by
/// [`intersection`](crate::SetRdd::intersection).
///
/// Both parents are shuffled. In each partition the smaller side is looked up while the larger one streams
/// by.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Intersection<T: Data> {
    handle: RddHandle,
    left: Input<(T, ()), (T, ())>,
    right: Input<(T, ()), (T, ())>,
}

crate::rdd::debug_as_handle!(impl[T: Data] Intersection<T>);

crate::ship!(impl[T: Data] Intersection<T> { handle, left, right });

impl<T: Data> Intersection<T> {
    #[track_caller]
    pub(super) fn new(
        left: &impl Rdd<Item = T>,
        right: &impl Rdd<Item = T>,
        partitioner: &KeyPartitioner<T>,
    ) -> Self {
        let (left, right) = (left.map(|row| (row, ())), right.map(|row| (row, ())));
        let builder = left.handle().derive_into("intersection", partitioner.num_partitions());
        let (left, right) = (Input::pairs(&left, partitioner), Input::pairs(&right, partitioner));
        Self { handle: builder.parents(vec![left.parent(), right.parent()]).build(), left, right }
    }
}

impl<T: Data + Hash + Eq> Rdd for Intersection<T> {
    type Item = T;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> impl Iterator<Item = T> + 'a {
        let (mut small, mut large) = match (self.left.load(partition, task), self.right.load(partition, task))
        {
            (Loaded::Lent(left), Loaded::Lent(right)) => (left, right),
            (left, right) => {
                let groups = two_sides(left, right, "intersection", task);
                let common = groups.filter(|(_, left, right)| !left.is_empty() && !right.is_empty());
                return Either::One(common.map(|(row, _, _)| row));
            }
        };
        if large.len() < small.len() {
            mem::swap(&mut small, &mut large);
        }
        let table = Table::of_keys(small, task);
        let mut given = vec![false; table.rows().numbers() as usize];
        let first_time = move |row: &&T| {
            table.first(row).is_some_and(|found| !mem::replace(&mut given[found.number() as usize], true))
        };
        Either::Two(large.into_rows(task).map(|(row, ())| row).filter(first_time).cloned())
    }
}
