//! What the tasks of one executor share.

use firesteel_types::{PartitionId, RddId};

use crate::{broadcast::BroadcastStore, cache::BlockStore, shuffle::ShuffleStore};

/// The stores of one executor, and its line to the driver.
pub(crate) struct Environment {
    pub(crate) host: firesteel_types::Host,
    pub(crate) shuffles: ShuffleStore,
    pub(crate) blocks: BlockStore,
    pub(crate) broadcasts: BroadcastStore,
    pub(crate) driver: std::sync::Arc<dyn DriverLine>,
}

impl Environment {
    /// Forgets everything that is stored.
    pub(crate) fn clear(&self) {
        self.shuffles.clear();
        self.blocks.clear();
        self.broadcasts.clear();
    }

    /// Whether nothing is stored.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.shuffles.is_empty() && self.blocks.is_empty() && self.broadcasts.is_empty()
    }
}

/// What tasks can ask of the driver.
pub(crate) trait DriverLine: Send + Sync {
    /// Asks for the right to commit the output of a task's partition, and waits for the answer.
    fn may_commit(&self, task: &super::TaskContext) -> bool;

    /// Tells that the executor of a task now has a partition.
    fn block_stored(&self, task: &super::TaskContext, rdd: RddId, partition: PartitionId);
}
