//! The adaptors of `keys` and `values`.

use firesteel_types::PartitionId;

use crate::{
    data::Data,
    rdd::{Rdd, RddHandle},
    ship::Ship,
    task::TaskContext,
};

/// An [`Rdd`] of the keys of its parent. Made by [`keys`](crate::PairRdd::keys).
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Keys<R> {
    pub(super) parent: R,
    pub(super) handle: RddHandle,
}

crate::rdd::debug_as_handle!(impl[R] Keys<R>);

crate::ship!(impl[R: Ship] Keys<R> { parent, handle });

impl<K: Data, V: Data, R: Rdd<Item = (K, V)>> Rdd for Keys<R> {
    type Item = K;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> impl Iterator<Item = K> + 'a {
        self.parent.compute(partition, task).map(|(key, _)| key)
    }
}

/// An [`Rdd`] of the values of its parent. Made by [`values`](crate::PairRdd::values).
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Values<R> {
    pub(super) parent: R,
    pub(super) handle: RddHandle,
}

crate::rdd::debug_as_handle!(impl[R] Values<R>);

crate::ship!(impl[R: Ship] Values<R> { parent, handle });

impl<K: Data, V: Data, R: Rdd<Item = (K, V)>> Rdd for Values<R> {
    type Item = V;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> impl Iterator<Item = V> + 'a {
        self.parent.compute(partition, task).map(|(_, value)| value)
    }
}
