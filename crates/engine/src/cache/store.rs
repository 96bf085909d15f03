//! The cached partitions of one executor.

use firesteel_types::RddId;

/// The cached partitions of one executor, by RDD and partition.
#[derive(Default)]
pub(crate) struct BlockStore {}

impl BlockStore {
    /// Forgets every partition of an RDD.
    pub(crate) fn remove_rdd(&self, _rdd: RddId) {}

    /// Forgets everything.
    pub(crate) fn clear(&self) {}
}
