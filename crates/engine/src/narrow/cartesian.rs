//! The adaptor of `cartesian`.

use std::mem;

use firesteel_types::{NarrowMap, PartitionId};

use crate::{
    either::Either,
    rdd::{Parent, Rdd, RddHandle},
    ship::Ship,
    spill::Kept,
    task::TaskContext,
};

/// An [`Rdd`] of every row of one RDD with every row of another. Made by [`cartesian`](crate::Transform::cartesian).
///
/// A narrow dependency: partition *i* × n + *j* is partition *i* of the left side with partition *j* of the right,
/// which has n. The right partition is computed for the first two rows of the left one and kept then, in memory or on
/// disk, unless it is cached.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Cartesian<A, B> {
    left: A,
    right: B,
    handle: RddHandle,
}

crate::rdd::debug_as_handle!(impl[A, B] Cartesian<A, B>);

crate::ship!(impl[A: Ship, B: Ship] Cartesian<A, B> { left, right, handle });

impl<A: Rdd, B: Rdd> Cartesian<A, B> {
    #[track_caller]
    pub(super) fn new(left: &A, right: &B) -> Self {
        let (n, m) = (left.num_partitions(), right.num_partitions());
        let partitions = n.checked_mul(m);
        let parents = vec![
            Parent::Narrow(left.handle().clone(), NarrowMap::Divide(m)),
            Parent::Narrow(right.handle().clone(), NarrowMap::Modulo(m)),
        ];
        let handle = left.handle().derive_into("cartesian", partitions.unwrap_or(0)).parents(parents);
        let handle = if partitions.is_none() {
            let why = format!("{n} times {m} partitions are more than {}: coalesce one side first", u32::MAX);
            handle.invalid(why)
        } else {
            handle
        };
        Self { left: left.clone(), right: right.clone(), handle: handle.build() }
    }
}

impl<A: Rdd, B: Rdd> Rdd for Cartesian<A, B> {
    type Item = (A::Item, B::Item);

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = Self::Item> + 'a {
        let n = self.right.num_partitions();
        let (left, right) = (PartitionId(partition.0 / n), PartitionId(partition.0 % n));
        // The first row is often the only one, and all of the right side may never be asked for.
        let mut is_first = true;
        let is_stored = self.right.is_stored();
        let mut kept = None;
        self.left.compute(left, task).flat_map(move |one| {
            let rows = if mem::take(&mut is_first) || is_stored {
                Either::One(self.right.compute(right, task))
            } else {
                let compute =
                    || Kept::new(self.right.compute(right, task), "one side of a cartesian product", task);
                Either::Two(kept.get_or_insert_with(compute).rows())
            };
            rows.map(move |other| (one.clone(), other))
        })
    }
}
