//! The adaptor of `partition_by`.

use firesteel_types::PartitionId;

use super::Input;
use crate::{
    data::Data,
    either::Either,
    partitioner::KeyPartitioner,
    rdd::{Rdd, RddHandle},
    task::TaskContext,
};

/// An [`Rdd`] with the pairs of its parent, dealt by a partitioner. Made by
/// [`partition_by`](crate::PairRdd::partition_by).
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Partitioned<K: Data, V: Data> {
    handle: RddHandle,
    input: Input<(K, V), (K, V)>,
}

crate::rdd::debug_as_handle!(impl[K: Data, V: Data] Partitioned<K, V>);

crate::ship!(impl[K: Data, V: Data] Partitioned<K, V> { handle, input });

impl<K: Data, V: Data> Partitioned<K, V> {
    #[track_caller]
    pub(super) fn new<R: Rdd<Item = (K, V)>>(parent: &R, partitioner: &KeyPartitioner<K>) -> Self {
        let builder = parent.handle().derive_into("partition_by", partitioner.num_partitions());
        let input = Input::pairs(parent, partitioner);
        let builder = builder.partitioner(Some(partitioner.erased())).parents(vec![input.parent()]);
        Self { handle: builder.build(), input }
    }
}

impl<K: Data, V: Data> Rdd for Partitioned<K, V> {
    type Item = (K, V);

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = (K, V)> + 'a {
        match &self.input {
            Input::Narrow(parent) => Either::One(parent.rows(partition, task)),
            Input::Shuffle(read) => Either::Two(read.rows(partition, task)),
        }
    }
}
