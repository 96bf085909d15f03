//! The cached partitions of one executor.

use std::{any::Any, sync::Arc, time::Duration};

use hashbrown::HashMap;
use parking_lot::{Condvar, Mutex};

use firesteel_types::{PartitionId, RddId};

use crate::{contain::discard, executor::TaskContext};

/// How often a task that waits for another one's block looks whether it should end.
const LOOK: Duration = Duration::from_millis(20);

/// The cached partitions of one executor, by RDD and partition.
#[derive(Default)]
pub(crate) struct BlockStore {
    blocks: Mutex<HashMap<BlockKey, Slot>>,
    changed: Condvar,
}

type BlockKey = (RddId, PartitionId);

/// A stored partition.
#[derive(Clone)]
pub(crate) enum Block {
    /// A `Vec<T>`.
    Typed(Arc<dyn Any + Send + Sync>),
    /// Serialized rows.
    Bytes(Arc<[u8]>),
}

enum Slot {
    /// A task is computing it; others wait.
    Computing,
    Stored(Block),
}

/// What a task finds where it looks for a partition.
pub(crate) enum Lookup<'a> {
    /// The partition.
    Found(Block),
    /// Nothing, and the task is the one to compute it.
    Compute(Lease<'a>),
}

/// The right and the duty to compute a partition. Dropped without a block, the next task that waits gets it.
pub(crate) struct Lease<'a> {
    store: &'a BlockStore,
    key: BlockKey,
}

impl BlockStore {
    /// The partition, or the lease to compute it. Waits while another task computes it.
    pub(crate) fn get_or_lease(&self, rdd: RddId, partition: PartitionId, task: &TaskContext) -> Lookup<'_> {
        let key = (rdd, partition);
        let mut blocks = self.blocks.lock();
        loop {
            match blocks.get(&key) {
                Some(Slot::Stored(block)) => return Lookup::Found(block.clone()),
                Some(Slot::Computing) => drop(self.changed.wait_for(&mut blocks, LOOK)),
                None => {
                    blocks.insert(key, Slot::Computing);
                    return Lookup::Compute(Lease { store: self, key });
                }
            }
            if task.is_interrupted() {
                drop(blocks);
                task.check();
                blocks = self.blocks.lock();
            }
        }
    }

    /// The partition, if it is stored.
    pub(crate) fn get(&self, rdd: RddId, partition: PartitionId) -> Option<Block> {
        match self.blocks.lock().get(&(rdd, partition)) {
            Some(Slot::Stored(block)) => Some(block.clone()),
            Some(Slot::Computing) | None => None,
        }
    }

    /// Forgets every partition of an RDD; gives those that were stored.
    pub(crate) fn remove_rdd(&self, rdd: RddId) -> Vec<PartitionId> {
        let is_stored = |key: &BlockKey, slot: &mut Slot| key.0 == rdd && matches!(slot, Slot::Stored(_));
        let removed: Vec<_> = self.blocks.lock().extract_if(is_stored).collect();
        let partitions = removed.iter().map(|((_, partition), _)| *partition).collect();
        discard(removed);
        partitions
    }

    /// Whether nothing is kept.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.lock().is_empty()
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        let removed = std::mem::take(&mut *self.blocks.lock());
        discard(removed);
    }
}

impl Lease<'_> {
    /// Stores the partition.
    pub(crate) fn put(self, block: Block) {
        self.store.blocks.lock().insert(self.key, Slot::Stored(block));
        self.store.changed.notify_all();
        std::mem::forget(self);
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.store.blocks.lock().remove(&self.key);
        self.store.changed.notify_all();
    }
}
