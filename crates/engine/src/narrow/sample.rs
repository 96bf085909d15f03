//! The adaptor of `sample`.

use firesteel_types::PartitionId;

use crate::{
    rdd::{Rdd, RddHandle},
    ship::Ship,
    task::TaskContext,
};
use firesteel_stats::sampling::{Replacement, Sampler, derive_seed};

/// An [`Rdd`] of some rows of its parent, chosen by a seed. Made by [`sample`](crate::Transform::sample).
///
/// Which rows are chosen depends on the seed, the partition and the order of its rows, and on nothing else.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Sample<R> {
    parent: R,
    handle: RddHandle,
    sampler: Sampler,
    seed: u64,
}

crate::rdd::debug_as_handle!(impl[R] Sample<R>);

crate::ship!(impl[R: Ship] Sample<R> { parent, handle; values sampler, seed });

impl<R: Rdd> Sample<R> {
    #[track_caller]
    pub(super) fn new(parent: &R, replacement: Replacement, fraction: f64, seed: u64) -> Self {
        let before = parent.handle();
        let handle = before.derive("sample").partitioner(before.partitioner().cloned()).order_sensitive();
        let (handle, sampler) = match Sampler::new(replacement, fraction) {
            Ok(sampler) => (handle, sampler),
            Err(error) => {
                let nothing = Sampler::new(replacement, 0.0).expect("no rows can always be taken");
                (handle.invalid(error), nothing)
            }
        };
        Self { parent: parent.clone(), handle: handle.build(), sampler, seed }
    }
}

impl<R: Rdd> Rdd for Sample<R> {
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
        self.sampler.sample(self.parent.compute(partition, task), seed)
    }
}
