//! [`MemoryManager`]: the budget of one executor, shared by its threads.
//!
//! The decisions are those of [`Pools`]; this adds the lock, the waiting and the evictor. Two locks, always taken in this
//! order: `evicting` while blocks are evicted, so that two threads never evict for the same bytes, then `state`,
//! which is held for the arithmetic only. The evictor runs without `state`, hence it may release storage memory.
//!
//! **No wait without end.** A task waits for memory only while another one that divides the budget runs: one that neither
//! waits for memory itself nor is [blocked](super::blocked) until another task has done its part, such as a block that it
//! computes. A task that runs gets on, and at last gives memory back or begins to wait. The last one that would begin to wait
//! for memory does not: it makes do with what is free, and spills. So among tasks that wait for memory and for each other's
//! blocks there is always one that runs, unless they wait for each other's blocks in a circle, which a lineage has none of.

use std::{
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

use firesteel_types::{AttemptId, RddId};
use parking_lot::{Condvar, Mutex};

use super::{
    MemoryConf, TaskMemory,
    pools::{Claim, Eviction, Pools, Request, ShareId, StorageClaim},
};

/// How often a task that waits for memory checks whether it was cancelled.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// What a task may hold before it asks for any: most tasks are so small that they never take part in the division.
const UNMANAGED_BYTES_MAX: u64 = 256 << 10;
/// A task holds at most this part of the budget before it asks.
const UNMANAGED_BUDGET_DIVISOR: u64 = 64;

/// How often one request evicts when others take each time what became free.
const EVICTIONS_MAX: u32 = 16;

/// Drops cached blocks when their memory is needed: the block store.
pub trait Evictor: Send + Sync {
    /// Drops blocks of at least `bytes` in all, or none if that cannot be done; returns how many bytes it dropped.
    ///
    /// Chooses all blocks before it drops the first, and drops none of the RDD `for_rdd`, whose block needs the room.
    /// Calls [`MemoryManager::release_storage`] for each block it drops. Must not wait for a block that is in use, nor
    /// ask the manager for memory.
    fn evict(&self, bytes: u64, for_rdd: Option<RddId>) -> u64;
}

/// Who holds how much of the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUsage {
    /// What there is to divide.
    pub budget: u64,
    /// What cached blocks hold.
    pub storage: u64,
    /// What was granted to tasks.
    pub execution: u64,
    /// The tasks that divide the budget: those that asked for memory and have not ended.
    pub tasks: usize,
    /// The tasks among them that wait for memory.
    pub waiting: usize,
    /// The tasks among them that wait for what another task computes.
    pub blocked: usize,
}

/// Divides the budget of a process between its tasks and its cached blocks.
///
/// ```
/// use firesteel_storage::memory::{MemoryConf, MemoryManager};
/// use firesteel_types::AttemptId;
///
/// let manager = MemoryManager::new(MemoryConf { budget: 1000, storage_fraction: 0.5 });
/// let task = manager.task(AttemptId(1));
/// assert_eq!(task.acquire(800, &|| false), 800);
/// assert!(manager.acquire_storage(100, None));
/// assert!(!manager.acquire_storage(250, None), "tasks are never evicted");
///
/// drop(task);
/// assert_eq!(manager.usage().execution, 0);
/// ```
pub struct MemoryManager {
    state: Mutex<State>,
    changed: Condvar,
    evicting: Mutex<()>,
    evictor: Mutex<Option<Weak<dyn Evictor>>>,
    poll: Duration,
    free: u64,
}

struct State {
    pools: Pools,
    waiting: usize,
    blocked: usize,
}

impl State {
    /// Whether a task other than the one that asks can get on, and so give memory back in time.
    fn another_runs(&self) -> bool {
        self.pools.tasks() > self.waiting + self.blocked + 1
    }
}

impl fmt::Debug for MemoryManager {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("MemoryManager").field("usage", &self.usage()).finish_non_exhaustive()
    }
}

impl MemoryManager {
    /// A manager of this budget, all of it free.
    pub fn new(conf: MemoryConf) -> Arc<Self> {
        Self::polling(conf, CANCEL_POLL_INTERVAL)
    }

    /// A manager whose waiting tasks look this often whether they were cancelled.
    fn polling(conf: MemoryConf, poll: Duration) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State { pools: Pools::new(conf), waiting: 0, blocked: 0 }),
            changed: Condvar::new(),
            evicting: Mutex::new(()),
            evictor: Mutex::new(None),
            poll,
            free: UNMANAGED_BYTES_MAX.min(conf.budget / UNMANAGED_BUDGET_DIVISOR),
        })
    }

    /// Names the block store that evicts. Without one no block is ever evicted.
    ///
    /// Weak, because the store knows the manager.
    pub fn set_evictor(&self, evictor: Weak<dyn Evictor>) {
        *self.evictor.lock() = Some(evictor);
    }

    /// The memory of a task that runs on this thread, which holds nothing yet.
    ///
    /// It takes part in the division from the first time it asks for memory until it is dropped.
    pub fn task(self: &Arc<Self>, attempt: AttemptId) -> TaskMemory {
        TaskMemory::new(Arc::clone(self), attempt)
    }

    /// Takes memory for a block, evicting other blocks if need be; returns whether there was enough.
    ///
    /// `for_rdd` is the RDD of the block: no other block of it is evicted for this one.
    pub fn acquire_storage(&self, bytes: u64, for_rdd: Option<RddId>) -> bool {
        let mut turn = None;
        for _ in 0..EVICTIONS_MAX {
            let claim = self.state.lock().pools.claim_storage(bytes);
            let missing = match claim {
                StorageClaim::Granted => return true,
                StorageClaim::Refused => return false,
                StorageClaim::Evict(missing) => missing,
            };
            if turn.is_none() {
                // What the one before evicted may be enough, so ask again first.
                turn = Some(self.evicting.lock());
            } else if self.evict(missing, for_rdd) == 0 {
                break;
            }
        }
        false
    }

    /// Gives the memory of a block back.
    pub fn release_storage(&self, bytes: u64) {
        self.state.lock().pools.release_storage(bytes);
        self.changed.notify_all();
    }

    /// Who holds how much.
    pub fn usage(&self) -> MemoryUsage {
        let State { pools, waiting, blocked } = &*self.state.lock();
        MemoryUsage {
            budget: pools.budget(),
            storage: pools.storage(),
            execution: pools.execution(),
            tasks: pools.tasks(),
            waiting: *waiting,
            blocked: *blocked,
        }
    }

    /// What a task may hold before it asks for any.
    pub(super) fn free(&self) -> u64 {
        self.free
    }

    /// The most that one task may hold now, and how many tasks that is divided among.
    ///
    /// A task without a place counts itself in.
    pub(super) fn share(&self, share: Option<ShareId>) -> (u64, usize) {
        let pools = &self.state.lock().pools;
        let tasks = pools.tasks() + usize::from(share.is_none());
        (pools.share_among(tasks), tasks)
    }

    pub(super) fn join(&self) -> ShareId {
        let share = self.state.lock().pools.join();
        self.changed.notify_all();
        share
    }

    pub(super) fn leave(&self, share: ShareId) {
        self.state.lock().pools.leave(share);
        self.changed.notify_all();
    }

    /// A task that divides the budget waits for what another one computes, until [`unblock`](Self::unblock).
    pub(super) fn block(&self) {
        self.state.lock().blocked += 1;
        self.changed.notify_all();
    }

    pub(super) fn unblock(&self) {
        self.state.lock().blocked -= 1;
    }

    pub(super) fn release(&self, share: ShareId, bytes: u64) -> u64 {
        let released = self.state.lock().pools.release(share, bytes);
        self.changed.notify_all();
        released
    }

    /// Takes memory for a task: waits while it would be left with less than half of its share and another task runs.
    ///
    /// Returns what was granted, or nothing if it was cancelled meanwhile.
    pub(super) fn acquire(&self, share: ShareId, request: Request, cancelled: &dyn Fn() -> bool) -> u64 {
        let mut eviction = Eviction::Allowed;
        let mut evictions = 0;
        while !cancelled() {
            match self.claim_or_wait(share, request, eviction) {
                Claim::Granted(bytes) => return bytes,
                Claim::Evict(_) if evictions == EVICTIONS_MAX => eviction = Eviction::Exhausted,
                Claim::Evict(_) => {
                    evictions += 1;
                    eviction = self.evict_for(share, request);
                }
                Claim::Wait => (eviction, evictions) = (Eviction::Allowed, 0),
            }
        }
        0
    }

    /// Claims, and waits a moment for a change if that is the answer, without missing one in between.
    fn claim_or_wait(&self, share: ShareId, request: Request, eviction: Eviction) -> Claim {
        let mut state = self.state.lock();
        let claim = state.pools.claim(share, request, eviction);
        if claim != Claim::Wait {
            return claim;
        }
        if !state.another_runs() {
            return Claim::Granted(state.pools.take_free(share, request));
        }
        state.waiting += 1;
        self.changed.wait_for(&mut state, self.poll);
        state.waiting -= 1;
        Claim::Wait
    }

    /// Has evicted what the task may have evicted, and returns whether asking for more makes sense.
    fn evict_for(&self, share: ShareId, request: Request) -> Eviction {
        let _turn = self.evicting.lock();
        // What the one before evicted counts: the claim is looked at again, and granted at once if it fits now.
        let evictable = self.state.lock().pools.evictable(share, request);
        if evictable > 0 && self.evict(evictable, None) == 0 {
            Eviction::Exhausted
        } else {
            Eviction::Allowed
        }
    }

    fn evict(&self, bytes: u64, for_rdd: Option<RddId>) -> u64 {
        let evictor = self.evictor.lock().as_ref().and_then(Weak::upgrade);
        let freed = evictor.map_or(0, |evictor| evictor.evict(bytes, for_rdd));
        tracing::debug!(bytes, freed, "evicted blocks");
        freed
    }
}

#[cfg(test)]
mod tests;
