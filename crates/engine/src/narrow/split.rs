//! The adaptor of `random_split`.

use firesteel_types::PartitionId;

use crate::{
    rdd::{Rdd, RddHandle},
    ship::Ship,
    task::TaskContext,
};
use firesteel_stats::sampling::{BernoulliCell, derive_seed};

/// An [`Rdd`] of the rows of its parent that fell into one part of a random split. Made by
/// [`random_split`](crate::Transform::random_split).
///
/// The parts of one split are disjoint and cover all rows, as long as the parent gives its rows in the same order
/// each time.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Split<R> {
    parent: R,
    handle: RddHandle,
    cell: BernoulliCell,
    seed: u64,
}

crate::rdd::debug_as_handle!(impl[R] Split<R>);

crate::ship!(impl[R: Ship] Split<R> { parent, handle; values cell, seed });

impl<R: Rdd> Split<R> {
    /// One part for each weight.
    #[track_caller]
    pub(super) fn all(parent: &R, weights: &[f64], seed: u64) -> Vec<Self> {
        let before = parent.handle();
        let (cells, error) = match BernoulliCell::split(weights) {
            Ok(cells) => (cells, None),
            Err(error) => {
                let everything = BernoulliCell::split(&vec![1.0; weights.len()]).unwrap_or_default();
                (everything, Some(error))
            }
        };
        let mut parts = Vec::with_capacity(cells.len());
        // A loop and no closure: the line of the caller is not known inside of one.
        for cell in cells {
            let handle =
                before.derive("random_split").partitioner(before.partitioner().cloned()).order_sensitive();
            let handle = if let Some(error) = error { handle.invalid(error) } else { handle };
            parts.push(Self { parent: parent.clone(), handle: handle.build(), cell, seed });
        }
        parts
    }
}

impl<R: Rdd> Rdd for Split<R> {
    type Item = R::Item;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = R::Item> + 'a {
        let seed = derive_seed(self.seed, u64::from(partition.0));
        self.cell.sample(self.parent.compute(partition, task), seed)
    }
}
