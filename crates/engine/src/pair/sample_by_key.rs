//! The adaptor of `sample_by_key`.

use std::{fmt::Debug, hash::Hash, sync::Arc};

use firesteel_types::PartitionId;

use crate::{
    data::Data,
    rdd::{Rdd, RddHandle},
    ship::{Frozen, Ship, ShipError, Thawing},
    task::TaskContext,
};
use firesteel_stats::sampling::{StratifiedSampler, derive_seed};

/// An [`Rdd`] with a random sample of its parent's pairs, with a fraction for each key. Made by
/// [`sample_by_key`](crate::PairRdd::sample_by_key).
///
/// A narrow dependency; the partitioner is kept. Which rows are drawn depends on their order.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct SampleByKey<R, K: Eq + Hash> {
    parent: R,
    handle: RddHandle,
    sampler: Arc<StratifiedSampler<K>>,
    seed: u64,
}

crate::rdd::debug_as_handle!(impl[R, K: Eq + Hash] SampleByKey<R, K>);

impl<R: Rdd, K: Eq + Hash> SampleByKey<R, K> {
    #[track_caller]
    pub(super) fn new(parent: &R, sampler: StratifiedSampler<K>, seed: u64) -> Self {
        let handle = parent.handle();
        let handle =
            handle.derive("sample_by_key").partitioner(handle.partitioner().cloned()).order_sensitive();
        Self { parent: parent.clone(), handle: handle.build(), sampler: Arc::new(sampler), seed }
    }
}

impl<R: Ship, K: Data + Eq + Hash> Ship for SampleByKey<R, K> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.parent.freeze(out)?;
        self.handle.freeze(out)?;
        out.value(&*self.sampler)?;
        out.value(&self.seed)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        let (parent, handle) = (R::thaw(input)?, RddHandle::thaw(input)?);
        Ok(Self { parent, handle, sampler: Arc::new(input.value()?), seed: input.value()? })
    }
}

impl<K: Data + Eq + Hash + Debug, V: Data, R: Rdd<Item = (K, V)>> Rdd for SampleByKey<R, K> {
    type Item = (K, V);

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = (K, V)> + 'a {
        let seed = derive_seed(self.seed, u64::from(partition.0));
        self.sampler.sample(self.parent.compute(partition, task), seed)
    }
}
