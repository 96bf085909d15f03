//! The part of the executor's memory that blocks take: [`BlockBudget`].

use std::sync::Arc;

use firesteel_storage::{block::StorageMemory, memory::MemoryManager};
use firesteel_types::RddId;

/// Charges blocks to the memory that tasks use too.
pub(super) struct BlockBudget(pub(super) Arc<MemoryManager>);

impl StorageMemory for BlockBudget {
    fn acquire(&self, bytes: u64, for_rdd: Option<RddId>) -> bool {
        self.0.acquire_storage(bytes, for_rdd)
    }

    fn release(&self, bytes: u64) {
        self.0.release_storage(bytes);
    }
}
