//! The blocks that are in memory: [`MemoryStore`].
//!
//! Keeps values and serialized bytes in the order of their last use, charges each to the budget and evicts the least
//! recently used when asked to make room. Who may read a block is known to the lock table, what becomes of an evicted
//! block to an [`EvictionHandler`].

use std::{
    fmt, io, panic,
    panic::AssertUnwindSafe,
    sync::{Arc, Weak},
};

use firesteel_types::RddId;
use hashlink::LinkedHashMap;
use parking_lot::Mutex;

use super::{BlockId, LockOwner, LockTable, Reservation, Save, StorageMemory, Stored, Unroll, Wait};
use crate::memory::meter;

/// What is left of a block after it was evicted from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterEviction {
    /// The block is still here, on disk.
    OnDisk,
    /// The block is gone.
    Gone,
}

/// The owner of the policy for a block that has to leave memory: drop it, or save it first.
pub trait EvictionHandler: Send + Sync {
    /// Saves the block elsewhere if it should be, and tells the master.
    ///
    /// Called with the block locked for writing. After an error the block stays in memory: it may be the only copy.
    fn evict(&self, id: BlockId, value: &Stored, save: &Save) -> io::Result<AfterEviction>;
}

/// The blocks of one process that are in memory.
pub struct MemoryStore {
    memory: Arc<dyn StorageMemory>,
    locks: Arc<LockTable>,
    handler: Weak<dyn EvictionHandler>,
    /// The least recently used first.
    entries: Mutex<LinkedHashMap<BlockId, Entry>>,
}

struct Entry {
    value: Stored,
    size: u64,
    save: Save,
}

impl MemoryStore {
    /// An empty store.
    pub fn new(
        memory: Arc<dyn StorageMemory>,
        locks: Arc<LockTable>,
        handler: Weak<dyn EvictionHandler>,
    ) -> Self {
        Self { memory, locks, handler, entries: Mutex::default() }
    }

    /// Acquires memory for a block; may evict others for it. `None` if it does not fit.
    pub fn reserve(&self, bytes: u64, for_rdd: Option<RddId>) -> Option<Reservation> {
        Reservation::acquire(&self.memory, bytes, for_rdd)
    }

    /// Begins to acquire memory for a block of unknown size. `None` if there is next to nothing.
    pub fn unroll(&self, for_rdd: Option<RddId>) -> Option<Unroll> {
        Unroll::start(&self.memory, for_rdd)
    }

    /// The same for a block that takes so much at least.
    pub fn unroll_with(&self, bytes: u64, for_rdd: Option<RddId>) -> Option<Unroll> {
        Unroll::start_with(&self.memory, bytes, for_rdd)
    }

    /// Keeps a block in the memory that was reserved for it; the caller has it locked.
    ///
    /// From then on its bytes count as the store's, no longer as those of the task that runs on this thread.
    ///
    /// Returns false, and gives the memory back, if the block is there already.
    pub fn put(&self, id: BlockId, value: Stored, save: Save, reserved: Reservation) -> bool {
        let mut entries = self.entries.lock();
        if entries.contains_key(&id) {
            // Dropping a reservation calls out.
            drop(entries);
            return false;
        }
        let size = reserved.hand_over();
        entries.insert(id, Entry { value, size, save });
        meter::hand_over(size);
        true
    }

    /// The content of a block, which counts as its latest use.
    pub fn get(&self, id: BlockId) -> Option<Stored> {
        self.entries.lock().to_back(&id).map(|entry| entry.value.clone())
    }

    /// The content of a block and how to save it, which does not count as a use.
    pub fn peek(&self, id: BlockId) -> Option<(Stored, Save)> {
        self.entries.lock().get(&id).map(|entry| (entry.value.clone(), entry.save.clone()))
    }

    /// How many bytes a block takes, if it is here.
    pub fn size(&self, id: BlockId) -> Option<u64> {
        self.entries.lock().get(&id).map(|entry| entry.size)
    }

    /// How many bytes all blocks take.
    pub fn used_bytes(&self) -> u64 {
        self.entries.lock().values().map(|entry| entry.size).sum()
    }

    /// Removes a block, which the caller has locked for writing, and returns whether it was here.
    pub fn remove(&self, id: BlockId) -> bool {
        let removed = self.entries.lock().remove(&id);
        let Some(Entry { size, .. }) = &removed else { return false };
        let size = *size;
        // The value goes before its memory is offered to others. Its destructor is foreign code, and there is no task
        // to fail here.
        if panic::catch_unwind(AssertUnwindSafe(|| drop(removed))).is_err() {
            tracing::error!(block = %id, "dropping the value of a block panicked");
        }
        // Freed on this thread, which may be a task's: it must not look as if the task had freed its own.
        meter::adopt(size);
        self.memory.release(size);
        true
    }

    /// Evicts the least recently used blocks until `bytes` are free, and returns how many are.
    ///
    /// The memory of each is given back to the budget as it goes. Blocks that are being read stay, and so do those of
    /// `for_rdd`, for a block of which the room is made; `None` if it is for anything else. If all that could go is not
    /// enough, nothing goes. Fewer bytes than wanted are freed only if blocks could not be saved.
    pub fn evict(&self, bytes: u64, for_rdd: Option<RddId>) -> u64 {
        let owner = LockOwner::unique();
        let Some(handler) = self.handler.upgrade() else { return 0 };
        let victims = self.lock_victims(bytes, for_rdd, owner);
        victims.into_iter().map(|id| self.evict_one(id, owner, &*handler)).sum()
    }

    /// Enough blocks to free so many bytes, locked for writing, or none.
    fn lock_victims(&self, bytes: u64, for_rdd: Option<RddId>, owner: LockOwner) -> Vec<BlockId> {
        let entries = self.entries.lock();
        let (mut victims, mut free) = (Vec::new(), 0_u64);
        for (id, entry) in entries.iter() {
            if free >= bytes {
                break;
            }
            let is_own = for_rdd.is_some() && id.rdd() == for_rdd;
            if !is_own && let Ok(Some(_)) = self.locks.lock_for_writing(*id, owner, Wait::Never) {
                victims.push(*id);
                free += entry.size;
            }
        }
        drop(entries);
        if free < bytes {
            for id in victims.drain(..) {
                self.locks.unlock(id, owner);
            }
        }
        victims
    }

    /// Evicts one block, unlocks it and returns how many bytes that freed.
    fn evict_one(&self, id: BlockId, owner: LockOwner, handler: &dyn EvictionHandler) -> u64 {
        let Some((value, save)) = self.peek(id) else {
            self.locks.unlock(id, owner);
            return 0;
        };
        // Serializing is foreign code; its panic is not the fault of the task that needs room.
        let saved = panic::catch_unwind(AssertUnwindSafe(|| handler.evict(id, &value, &save)));
        let after = match saved {
            Ok(Ok(after)) => after,
            Ok(Err(error)) => {
                tracing::warn!(block = %id, %error, "cannot save a block, so it stays in memory");
                self.locks.unlock(id, owner);
                return 0;
            }
            Err(_) => {
                tracing::warn!(block = %id, "saving a block panicked, so it stays in memory");
                self.locks.unlock(id, owner);
                return 0;
            }
        };
        drop(value);
        let size = self.size(id).unwrap_or(0);
        self.remove(id);
        match after {
            AfterEviction::OnDisk => self.locks.unlock(id, owner),
            AfterEviction::Gone => self.locks.remove(id, owner),
        };
        size
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries.lock();
        out.debug_struct("MemoryStore").field("blocks", &entries.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
