//! The adaptor of `zip`.

use firesteel_types::{PartitionId, RddId};

use super::zip_partitions::zipped;
use crate::{
    rdd::{Rdd, RddHandle},
    ship::Ship,
    task::{Abort, TaskContext, abort_task},
};

/// An [`Rdd`] of pairs: the *k*-th row of a partition with the *k*-th row of the same partition of another RDD. Made by
/// [`zip`](crate::Transform::zip).
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Zip<A, B> {
    left: A,
    right: B,
    handle: RddHandle,
}

crate::rdd::debug_as_handle!(impl[A, B] Zip<A, B>);

crate::ship!(impl[A: Ship, B: Ship] Zip<A, B> { left, right, handle });

impl<A: Rdd, B: Rdd> Zip<A, B> {
    #[track_caller]
    pub(super) fn new(left: &A, right: &B) -> Self {
        // Which rows meet depends on the order of both.
        let handle = zipped("zip", left.handle(), right.handle()).order_sensitive().build();
        Self { left: left.clone(), right: right.clone(), handle }
    }
}

impl<A: Rdd, B: Rdd> Rdd for Zip<A, B> {
    type Item = (A::Item, B::Item);

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = Self::Item> + 'a {
        let (left, right) = (self.left.compute(partition, task), self.right.compute(partition, task));
        Pairs { left, right, partition, operator: self.handle.id() }
    }
}

/// Two iterators side by side, which must end together.
struct Pairs<A, B> {
    left: A,
    right: B,
    partition: PartitionId,
    operator: RddId,
}

impl<A: Iterator, B: Iterator> Iterator for Pairs<A, B> {
    type Item = (A::Item, B::Item);

    fn next(&mut self) -> Option<Self::Item> {
        match (self.left.next(), self.right.next()) {
            (Some(one), Some(other)) => Some((one, other)),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => uneven(self.operator, self.partition),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }

    fn fold<T, F: FnMut(T, Self::Item) -> T>(mut self, init: T, mut f: F) -> T {
        let (operator, partition) = (self.operator, self.partition);
        let folded = self.left.fold(init, |folded, one| match self.right.next() {
            Some(other) => f(folded, (one, other)),
            None => uneven(operator, partition),
        });
        if self.right.next().is_some() {
            uneven(operator, partition);
        }
        folded
    }
}

#[cold]
fn uneven(operator: RddId, partition: PartitionId) -> ! {
    let message = format!(
        "{partition} has more rows on one side than on the other: only RDDs with the same number of rows in each \
         partition can be zipped"
    );
    abort_task(Abort::failed(operator, message))
}
