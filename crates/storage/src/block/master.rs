//! Who holds which block in the application: [`BlockManagerMaster`].
//!
//! Plain state on the driver: it is told, answers questions and returns orders for others to carry out. It sends nothing
//! and reads no clock.

use std::collections::{BTreeMap, BTreeSet};

use firesteel_types::{ExecutorId, RddId, Rng, ShuffleId};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::{
    Answer, BlockId, BlockUpdate, BroadcastId, Directory, Locations, Peer, Registered, Registration,
};

/// All block managers of an application and what they hold.
#[derive(Debug, Default)]
pub struct BlockManagerMaster {
    managers: BTreeMap<ExecutorId, Manager>,
    holders: BTreeMap<BlockId, BTreeSet<ExecutorId>>,
    lost: BTreeSet<ExecutorId>,
    /// Does not order new copies for lost ones.
    leaves_gaps: bool,
}

#[derive(Debug)]
struct Manager {
    peer: Peer,
    max_memory: u64,
    is_decommissioning: bool,
    blocks: BTreeMap<BlockId, BlockUpdate>,
}

/// An order to make new copies of a block, because holders were lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replicate {
    /// What to copy.
    pub id: BlockId,
    /// Who has to do it: one of the remaining holders.
    pub by: ExecutorId,
    /// All remaining holders, `by` among them.
    pub holders: Vec<Peer>,
    /// How many copies there should be in all.
    pub wanted: usize,
}

/// How much memory for blocks an executor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryStatus {
    /// At most.
    pub max: u64,
    /// Not taken by blocks that the master knows of.
    pub remaining: u64,
}

/// What came of asking executors to remove something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// How many blocks were removed.
    pub removed: usize,
    /// The live executors that failed to.
    pub failed: Vec<ExecutorId>,
}

/// Whether removing a broadcast concerns the driver's own copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriverCopy {
    /// It stays, so that the value can be fetched again.
    Keep,
    /// It goes as well.
    Remove,
}

impl BlockManagerMaster {
    /// Without any block manager.
    pub fn new() -> Self {
        Self::default()
    }

    /// Never orders new copies for those that are lost with an executor.
    #[must_use]
    pub fn without_new_copies(self) -> Self {
        Self { leaves_gaps: true, ..self }
    }

    /// Adds a block manager, without blocks. Refuses an executor that counts as lost.
    pub fn register(&mut self, registration: Registration) -> Registered {
        let Registration { executor, peer, max_memory } = registration;
        if self.lost.contains(&executor) {
            return Registered::Refused;
        }
        // All that was known of it is out of date: it reports all its blocks after this.
        self.forget(executor);
        let manager = Manager { peer, max_memory, is_decommissioning: false, blocks: BTreeMap::new() };
        self.managers.insert(executor, manager);
        Registered::Accepted
    }

    /// Notes where a block of an executor is now.
    pub fn update(&mut self, from: ExecutorId, update: BlockUpdate) -> Answer {
        let Some(manager) = self.managers.get_mut(&from) else { return Answer::NotRegistered };
        let id = update.id;
        if update.level.is_valid() {
            manager.blocks.insert(id, update);
            self.holders.entry(id).or_default().insert(from);
        } else if manager.blocks.remove(&id).is_some() {
            self.forget_holder(id, from);
        }
        self.check_invariants();
        Answer::Noted
    }

    /// Answers a sign of life.
    pub fn heartbeat(&self, from: ExecutorId) -> Answer {
        if self.managers.contains_key(&from) { Answer::Noted } else { Answer::NotRegistered }
    }

    /// Who holds each of the blocks.
    pub fn locations(&self, ids: &[BlockId]) -> Vec<Locations> {
        ids.iter().map(|id| self.locations_of(*id)).collect()
    }

    fn locations_of(&self, id: BlockId) -> Locations {
        let mut found = Locations::default();
        for manager in self.holders.get(&id).into_iter().flatten().filter_map(|who| self.managers.get(who)) {
            found.holders.push(manager.peer.clone());
            let size = manager.blocks.get(&id).map_or(0, |block| block.memory_size.max(block.disk_size));
            found.size = found.size.max(size);
        }
        found
    }

    /// What an executor has last said of a block.
    pub fn status(&self, executor: ExecutorId, id: BlockId) -> Option<BlockUpdate> {
        self.managers.get(&executor)?.blocks.get(&id).copied()
    }

    /// Who may get copies of the blocks of `of`: neither itself, nor the driver, nor who is decommissioning.
    pub fn peers(&self, of: ExecutorId) -> Vec<Peer> {
        let is_peer = |(id, manager): &(&ExecutorId, &Manager)| {
            **id != of && **id != ExecutorId::DRIVER && !manager.is_decommissioning
        };
        self.managers.iter().filter(is_peer).map(|(_, manager)| manager.peer.clone()).collect()
    }

    /// Offers an executor as a peer no more: it is about to go.
    pub fn decommission(&mut self, executor: ExecutorId) {
        if let Some(manager) = self.managers.get_mut(&executor) {
            manager.is_decommissioning = true;
        }
    }

    /// Removes an executor and all its block locations, for good.
    ///
    /// Returns who has to make new copies of partitions that now have fewer than they should.
    pub fn executor_lost(&mut self, executor: ExecutorId) -> Vec<Replicate> {
        self.lost.insert(executor);
        let blocks = self.forget(executor);
        self.check_invariants();
        blocks.iter().filter_map(|block| self.replacement(block)).collect()
    }

    /// The order for a block that an executor was lost with; `None` if nothing can or need be done.
    fn replacement(&self, lost: &BlockUpdate) -> Option<Replicate> {
        if self.leaves_gaps || lost.id.rdd().is_none() {
            return None;
        }
        let holders = self.holders.get(&lost.id)?;
        let wanted = usize::from(lost.level.replication);
        let chosen = Rng::new(lost.id.seed()).below(holders.len());
        let by = *holders.iter().nth(chosen)?;
        let missing = holders.len() < wanted;
        missing.then(|| Replicate { id: lost.id, by, holders: self.locations_of(lost.id).holders, wanted })
    }

    /// Forgets all blocks of an RDD, and returns the executors that must remove them: all.
    pub fn remove_rdd(&mut self, rdd: RddId) -> Vec<ExecutorId> {
        self.remove_blocks(|id| id.rdd() == Some(rdd), DriverCopy::Remove)
    }

    /// Forgets the blocks of an RDD that were stored before `generation`, and returns the executors that must remove
    /// them: all.
    pub fn remove_stale(&mut self, rdd: RddId, generation: u32) -> Vec<ExecutorId> {
        self.remove_blocks(|id| id.is_stale(rdd, generation), DriverCopy::Remove)
    }

    /// Returns the executors that must remove the files of a shuffle: all.
    pub fn remove_shuffle(&mut self, shuffle: ShuffleId) -> Vec<ExecutorId> {
        self.remove_blocks(|id| id.shuffle() == Some(shuffle), DriverCopy::Remove)
    }

    /// Forgets all pieces of a broadcast, and returns the executors that must remove them.
    pub fn remove_broadcast(&mut self, broadcast: BroadcastId, driver: DriverCopy) -> Vec<ExecutorId> {
        self.remove_blocks(|id| id.broadcast() == Some(broadcast), driver)
    }

    fn remove_blocks(&mut self, wanted: impl Fn(&BlockId) -> bool, driver: DriverCopy) -> Vec<ExecutorId> {
        let is_asked = |id: ExecutorId| driver == DriverCopy::Remove || id != ExecutorId::DRIVER;
        let asked: Vec<_> = self.managers.keys().copied().filter(|id| is_asked(*id)).collect();
        for executor in &asked {
            let Some(manager) = self.managers.get_mut(executor) else { continue };
            let gone: Vec<_> = manager.blocks.extract_if(.., |id, _| wanted(id)).collect();
            for (id, _) in gone {
                self.forget_holder(id, *executor);
            }
        }
        self.check_invariants();
        asked
    }

    /// Sums up what executors answered to a request to remove something.
    ///
    /// An executor that is gone took its blocks with it, so its failure is none.
    pub fn removal<E>(&self, answers: impl IntoIterator<Item = (ExecutorId, Result<usize, E>)>) -> Removal {
        let mut removal = Removal::default();
        for (executor, answer) in answers {
            match answer {
                Ok(removed) => removal.removed += removed,
                Err(_) if self.managers.contains_key(&executor) => removal.failed.push(executor),
                Err(_) => {}
            }
        }
        removal
    }

    /// How much memory for blocks each executor has.
    pub fn memory_status(&self) -> BTreeMap<ExecutorId, MemoryStatus> {
        let status = |manager: &Manager| {
            let used: u64 = manager.blocks.values().map(|block| block.memory_size).sum();
            MemoryStatus { max: manager.max_memory, remaining: manager.max_memory.saturating_sub(used) }
        };
        self.managers.iter().map(|(id, manager)| (*id, status(manager))).collect()
    }

    /// Drops a block manager with what it holds, and returns that.
    fn forget(&mut self, executor: ExecutorId) -> Vec<BlockUpdate> {
        let Some(manager) = self.managers.remove(&executor) else { return Vec::new() };
        for id in manager.blocks.keys() {
            self.forget_holder(*id, executor);
        }
        manager.blocks.into_values().collect()
    }

    fn forget_holder(&mut self, id: BlockId, executor: ExecutorId) {
        if let Some(holders) = self.holders.get_mut(&id) {
            holders.remove(&executor);
            if holders.is_empty() {
                self.holders.remove(&id);
            }
        }
    }

    /// Both maps hold the same facts, seen from two sides.
    fn check_invariants(&self) {
        debug_assert!(
            self.holders.iter().all(|(id, holders)| !holders.is_empty()
                && holders.iter().all(|who| self
                    .managers
                    .get(who)
                    .is_some_and(|manager| manager.blocks.contains_key(id)))),
            "a holder has the block"
        );
        debug_assert!(
            self.managers.iter().all(|(who, manager)| manager
                .blocks
                .keys()
                .all(|id| self.holders.get(id).is_some_and(|holders| holders.contains(who)))),
            "who has a block is a holder"
        );
    }
}

/// The master in the driver's own process.
impl Directory for Mutex<BlockManagerMaster> {
    fn register(&self, registration: &Registration) -> Registered {
        self.lock().register(registration.clone())
    }

    fn report(&self, from: ExecutorId, updates: &[BlockUpdate]) -> Answer {
        let mut master = self.lock();
        let answers = updates.iter().map(|update| master.update(from, *update));
        answers.last().unwrap_or(Answer::Noted)
    }

    fn locations(&self, id: BlockId) -> Locations {
        self.lock().locations_of(id)
    }

    fn peers(&self, of: ExecutorId) -> Vec<Peer> {
        self.lock().peers(of)
    }
}

#[cfg(test)]
mod tests;
