//! The blocks of one process, as tasks and the driver use them: [`BlockStore`].

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use hashbrown::HashSet;
use parking_lot::Mutex;

use firesteel_storage::{
    block::{
        BlockError, BlockId, BlockManager, BlockManagerParts, BlockOptions, BlockRead, LockError, LockOwner,
        Lookup, Peer, Wait,
    },
    codec::Compression,
    memory::MemoryManager,
};
use firesteel_types::{AttemptId, RddId, StorageLevel, Timestamp};

use super::budget::BlockBudget;
use crate::{
    error::with_causes,
    task::{Abort, ExecutorServices, TaskContext, abort_task},
};

/// The cached partitions of one process, in memory and on disk.
pub(crate) struct BlockStore {
    manager: Arc<BlockManager>,
    /// Of rows that are kept in serialized form.
    compression: Compression,
    /// Whether no other process could have a copy of a block.
    is_alone: bool,
    /// What was to be removed while a task used it: it goes when the task ends.
    doomed: Mutex<HashSet<BlockId>>,
    has_warned: AtomicBool,
}

impl BlockStore {
    /// Without blocks.
    pub(crate) fn new(
        services: &ExecutorServices,
        memory: &Arc<MemoryManager>,
        compression: Compression,
    ) -> Self {
        let began = Instant::now();
        let manager = BlockManager::new(BlockManagerParts {
            executor: services.executor,
            peer: Peer::executor(services.executor, services.host.clone()),
            memory: Arc::new(BlockBudget(memory.clone())),
            files: services.disk.clone(),
            directory: services.directory.clone(),
            peers: services.peers.clone(),
            clock: Arc::new(move || Timestamp(began.elapsed().as_micros() as u64)),
            options: BlockOptions { max_memory: memory.usage().budget, ..BlockOptions::default() },
        });
        manager.register();
        let is_alone = services.remote.is_none();
        Self { manager, compression, is_alone, doomed: Mutex::default(), has_warned: AtomicBool::new(false) }
    }

    /// The blocks themselves.
    pub(crate) fn manager(&self) -> &Arc<BlockManager> {
        &self.manager
    }

    pub(super) fn compression(&self) -> Compression {
        self.compression
    }

    /// The block, or the right to fill it. Waits while another task does that.
    pub(super) fn lookup(&self, id: BlockId, level: StorageLevel, task: &TaskContext) -> Lookup<'_> {
        let is_cancelled = || task.is_interrupted();
        let wait = Wait::UnlessCancelled(&is_cancelled);
        let lookup = self.manager.lookup(id, self.single(level), owner(task), wait);
        lookup.unwrap_or_else(|error| fail_with(id, &error))
    }

    /// The block, if it is stored.
    pub(super) fn get(&self, id: BlockId, task: &TaskContext) -> Option<BlockRead> {
        let is_cancelled = || task.is_interrupted();
        match self.manager.get(id, owner(task), Wait::UnlessCancelled(&is_cancelled)) {
            Ok(read) => read,
            Err(BlockError::Disk(error)) => {
                tracing::warn!(block = %id, %error, "a stored partition is lost");
                None
            }
            Err(error) => fail_with(id, &error),
        }
    }

    /// The level with one copy, since there is no other process that could have a second.
    fn single(&self, level: StorageLevel) -> StorageLevel {
        if !self.is_alone || !level.is_valid() || level.replication == 1 {
            return level;
        }
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(wanted = level.replication, "there is one executor, so blocks have one copy only");
        }
        level.replicated(1)
    }

    /// Whether a block is stored.
    pub(crate) fn contains(&self, id: BlockId) -> bool {
        self.manager.status(id).level.is_persisted()
    }

    /// Removes a block: now, or when the tasks that use it have ended. Never waits.
    pub(crate) fn remove(&self, id: BlockId) {
        // Noted first: a task that is using it may end right after we found it in use.
        self.doomed.lock().insert(id);
        if self.manager.remove(id, Wait::Never).is_ok() {
            self.doomed.lock().remove(&id);
        }
    }

    /// Removes every partition of an RDD.
    pub(crate) fn remove_rdd(&self, rdd: RddId) {
        for id in self.manager.locks().ids(|id| id.rdd() == Some(rdd)) {
            self.remove(id);
        }
    }

    /// Removes the partitions of an RDD that were stored before `generation`.
    pub(crate) fn remove_stale(&self, rdd: RddId, generation: u32) {
        for id in self.manager.locks().ids(|id| id.is_stale(rdd, generation)) {
            self.remove(id);
        }
    }

    /// Removes everything.
    pub(crate) fn clear(&self) {
        for id in self.manager.locks().ids(|_| true) {
            self.remove(id);
        }
    }

    /// An attempt is over: all its locks are released.
    pub(crate) fn release(&self, attempt: AttemptId) {
        self.manager.release_all(LockOwner::Task(attempt));
        // Taken out, since what goes may be the user's, and do anything.
        let doomed = std::mem::take(&mut *self.doomed.lock());
        for id in doomed {
            self.remove(id);
        }
    }

    /// Frees memory of blocks, to disk where their level has one; returns how much.
    pub(crate) fn evict(&self, bytes: u64, for_rdd: Option<RddId>) -> u64 {
        self.manager.memory_store().evict(bytes, for_rdd)
    }

    /// Whether nothing is kept.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.manager.locks().ids(|_| true).is_empty()
    }
}

fn owner(task: &TaskContext) -> LockOwner {
    LockOwner::Task(task.attempt_id())
}

/// Ends the task because of a block.
#[cold]
pub(super) fn fail(id: BlockId, message: &str) -> ! {
    abort_task(Abort::Failed { message: message.to_owned(), operator: id.rdd() })
}

/// Ends the task because of a block, with all causes.
#[cold]
pub(super) fn fail_with(id: BlockId, error: &BlockError) -> ! {
    if let BlockError::Lock(LockError::Cancelled { .. }) = error {
        abort_task(Abort::Killed);
    }
    fail(id, &with_causes(error))
}

#[cfg(test)]
mod tests;
