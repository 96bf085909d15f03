//! [`Pools`]: the arithmetic of the budget, without locks, waiting or blocks.
//!
//! Execution and storage share one budget, and free memory can go to either. Storage may borrow all that execution
//! does not hold. Execution may take all that storage does not hold, and have blocks evicted, but only those that
//! storage holds beyond its region. Spark moves the border between two pools (`UnifiedMemoryManager`); the answers are
//! the same without one, since it moves whenever that matters.

use std::collections::BTreeMap;

use super::MemoryConf;

/// One task's place among those that divide the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ShareId(u64);

/// What execution asks for: at least `needed`, and up to `wanted` where that takes nothing from others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) needed: u64,
    pub(super) wanted: u64,
}

/// Whether a claim may ask for blocks to be evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eviction {
    /// It may.
    Allowed,
    /// No more can be evicted: make do with what is free.
    Exhausted,
}

/// The answer to a claim. Only `Granted` changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// So many bytes are the asker's now, maybe fewer than it needs, maybe none.
    Granted(u64),
    /// Evict so many bytes of blocks, then ask again.
    Evict(u64),
    /// The task would be left with too little: ask again when something has changed.
    Wait,
}

/// The answer to a claim for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StorageClaim {
    /// The bytes are storage's now.
    Granted,
    /// Evict so many bytes of other blocks, then ask again.
    Evict(u64),
    /// No eviction could make enough room.
    Refused,
}

/// Who holds how much of the budget.
#[derive(Debug)]
pub(super) struct Pools {
    budget: u64,
    region: u64,
    storage: u64,
    execution: u64,
    shares: BTreeMap<ShareId, u64>,
    next_share: u64,
}

impl Pools {
    pub(super) fn new(conf: MemoryConf) -> Self {
        Self {
            budget: conf.budget,
            region: conf.storage_region(),
            storage: 0,
            execution: 0,
            shares: BTreeMap::new(),
            next_share: 0,
        }
    }

    pub(super) fn budget(&self) -> u64 {
        self.budget
    }

    pub(super) fn storage(&self) -> u64 {
        self.storage
    }

    pub(super) fn execution(&self) -> u64 {
        self.execution
    }

    /// The tasks that divide the budget.
    pub(super) fn tasks(&self) -> usize {
        self.shares.len()
    }

    /// The most that a task may hold if `tasks` divide the budget.
    pub(super) fn share_among(&self, tasks: usize) -> u64 {
        // Execution at its largest: all but the blocks that are safe in their region.
        (self.budget - self.storage.min(self.region)) / tasks.max(1) as u64
    }

    /// A task begins to ask for memory, and from now on takes part in the division.
    pub(super) fn join(&mut self) -> ShareId {
        let share = ShareId(self.next_share);
        self.next_share += 1;
        self.shares.insert(share, 0);
        share
    }

    /// A task ends and gives back all that it holds.
    pub(super) fn leave(&mut self, share: ShareId) {
        self.execution -= self.shares.remove(&share).unwrap_or(0);
    }

    /// A task asks for memory.
    pub(super) fn claim(&mut self, share: ShareId, request: Request, eviction: Eviction) -> Claim {
        let evictable = self.evictable(share, request);
        if eviction == Eviction::Allowed && evictable > 0 {
            return Claim::Evict(evictable);
        }

        let held = self.held(share);
        let granted = self.grantable(share, request);
        let least = (self.budget - self.storage) / (2 * self.tasks().max(1) as u64);
        if granted < request.needed && held + granted < least {
            return Claim::Wait;
        }
        Claim::Granted(self.take_free(share, request))
    }

    /// Gives a task what is free of what it asks for, and returns how much that is.
    pub(super) fn take_free(&mut self, share: ShareId, request: Request) -> u64 {
        let granted = self.grantable(share, request);
        self.execution += granted;
        *self.shares.entry(share).or_default() += granted;
        granted
    }

    fn grantable(&self, share: ShareId, request: Request) -> u64 {
        request.wanted.max(request.needed).min(self.room(share)).min(self.free())
    }

    /// The bytes of blocks that have to go for a task to get what it needs, as far as they may go.
    pub(super) fn evictable(&self, share: ShareId, request: Request) -> u64 {
        let missing = request.needed.min(self.room(share)).saturating_sub(self.free());
        missing.min(self.storage.saturating_sub(self.region))
    }

    /// A task gives memory back, at most what it holds; returns how much that was.
    pub(super) fn release(&mut self, share: ShareId, bytes: u64) -> u64 {
        let held = self.held(share);
        let released = bytes.min(held);
        self.execution -= released;
        if let Some(left) = self.shares.get_mut(&share) {
            *left -= released;
        }
        released
    }

    /// A block asks for memory.
    pub(super) fn claim_storage(&mut self, bytes: u64) -> StorageClaim {
        if bytes > self.budget - self.execution {
            return StorageClaim::Refused;
        }
        let missing = bytes.saturating_sub(self.free());
        if missing > 0 {
            return StorageClaim::Evict(missing);
        }
        self.storage += bytes;
        StorageClaim::Granted
    }

    /// A block is gone from memory.
    pub(super) fn release_storage(&mut self, bytes: u64) {
        debug_assert!(bytes <= self.storage, "{bytes} bytes of blocks released, {} are held", self.storage);
        self.storage = self.storage.saturating_sub(bytes);
    }

    /// What a task may have beyond what it holds.
    fn room(&self, share: ShareId) -> u64 {
        self.share_among(self.tasks()).saturating_sub(self.held(share))
    }

    fn free(&self) -> u64 {
        self.budget - self.storage - self.execution
    }

    fn held(&self, share: ShareId) -> u64 {
        self.shares.get(&share).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
