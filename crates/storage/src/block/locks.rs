//! Which blocks exist in this process, and who reads or writes each: [`LockTable`].
//!
//! A block exists from the moment a task locks it to create it until a writer removes it. What it holds is not known
//! here. Locks are few and short-lived but for one case: a task that computes a block keeps it locked until it is
//! stored, and other tasks that need the block wait for that rather than compute it too.
//!
//! ```text
//! absent --lock_new--> written --downgrade--> read by n --unlock--> free
//!    ^                    |                                           |
//!    +------- remove -----+<-------------- lock_for_writing ----------+
//! ```

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use firesteel_types::{AttemptId, StorageLevel};
use hashbrown::HashMap;
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::BlockId;
use crate::memory::blocked;

/// How often a wait for a lock checks whether the task was cancelled.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Who holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockOwner {
    /// A task: all its locks are released when it ends.
    Task(AttemptId),
    /// Something else, such as an answer to another process.
    Other(u64),
}

impl LockOwner {
    /// A new owner, for work that belongs to no task.
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self::Other(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Display for LockOwner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task(attempt) => attempt.fmt(out),
            Self::Other(number) => write!(out, "owner-{number}"),
        }
    }
}

/// Whether to wait for a lock that another owner holds.
#[derive(Clone, Copy)]
pub enum Wait<'a> {
    /// Not at all.
    Never,
    /// Wait until it is free, or until the function returns true.
    UnlessCancelled(&'a dyn Fn() -> bool),
}

impl Wait<'_> {
    /// As long as it takes.
    pub const FOREVER: Wait<'static> = Wait::UnlessCancelled(&|| false);
}

impl fmt::Debug for Wait<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Never => "Never",
            Self::UnlessCancelled(_) => "UnlessCancelled",
        })
    }
}

/// Why a lock was not given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum LockError {
    /// Another owner holds it, and the caller did not want to wait.
    #[error("{id} is locked by another owner")]
    Busy { id: BlockId },

    /// The caller was cancelled while it waited.
    #[error("cancelled while waiting for {id}")]
    Cancelled { id: BlockId },

    /// Waiting would never end: the caller waits for itself.
    #[error("{owner} holds {id} already: release it before locking it for writing")]
    OwnLock { id: BlockId, owner: LockOwner },
}

/// What locking a new block for writing gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewLock {
    /// The block was absent. The caller is its writer now, and has to fill or remove it.
    Writing,
    /// The block exists, at this level. The caller reads it now.
    Reading(StorageLevel),
}

/// The locks of all blocks of one process.
#[derive(Debug, Default)]
pub struct LockTable {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    blocks: HashMap<BlockId, Block>,
    /// What each owner holds, so that all of it can be released at once.
    held: HashMap<LockOwner, HashMap<BlockId, Held>>,
}

#[derive(Debug)]
struct Block {
    level: StorageLevel,
    readers: u32,
    writer: Option<LockOwner>,
    /// Made by the first who waits: most blocks never see one.
    changed: Option<Arc<Condvar>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Reading(u32),
    Writing,
}

impl LockTable {
    /// A table without blocks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Locks a block for reading, and returns the level at which it is kept; `None` if it does not exist.
    ///
    /// An owner may read a block several times; each needs its [`unlock`](Self::unlock).
    pub fn lock_for_reading(
        &self,
        id: BlockId,
        owner: LockOwner,
        wait: Wait<'_>,
    ) -> Result<Option<StorageLevel>, LockError> {
        let mut state = self.state.lock();
        loop {
            let Some(block) = state.blocks.get_mut(&id) else { return Ok(None) };
            match block.writer {
                None => {
                    block.readers += 1;
                    let level = block.level;
                    state.note_reader(id, owner);
                    return Ok(Some(level));
                }
                Some(writer) if writer == owner => return Err(LockError::OwnLock { id, owner }),
                Some(_) => wait_for_change(&mut state, id, wait)?,
            }
        }
    }

    /// Locks a block for writing, and returns the level at which it is kept; `None` if it does not exist.
    ///
    /// Waits for readers and writers. An owner that reads or writes the block itself gets an error: it would wait for
    /// itself.
    pub fn lock_for_writing(
        &self,
        id: BlockId,
        owner: LockOwner,
        wait: Wait<'_>,
    ) -> Result<Option<StorageLevel>, LockError> {
        let mut state = self.state.lock();
        loop {
            let holds = state.holds(id, owner);
            let Some(block) = state.blocks.get_mut(&id) else { return Ok(None) };
            if holds.is_some() {
                return Err(LockError::OwnLock { id, owner });
            }
            if block.writer.is_none() && block.readers == 0 {
                block.writer = Some(owner);
                let level = block.level;
                state.held.entry(owner).or_default().insert(id, Held::Writing);
                return Ok(Some(level));
            }
            wait_for_change(&mut state, id, wait)?;
        }
    }

    /// Makes the caller the writer of a block that does not exist yet, or a reader of one that does.
    ///
    /// While another owner creates the block, waits to learn how that ends: the caller reads the block if it was
    /// stored, and is the next to create it if not.
    pub fn lock_new_for_writing(
        &self,
        id: BlockId,
        level: StorageLevel,
        owner: LockOwner,
        wait: Wait<'_>,
    ) -> Result<NewLock, LockError> {
        // Absent and present are two looks at the table; a block may be removed or made in between.
        loop {
            if let Some(level) = self.lock_for_reading(id, owner, wait)? {
                return Ok(NewLock::Reading(level));
            }
            let mut state = self.state.lock();
            if !state.blocks.contains_key(&id) {
                let block = Block { level, readers: 0, writer: Some(owner), changed: None };
                state.blocks.insert(id, block);
                state.held.entry(owner).or_default().insert(id, Held::Writing);
                return Ok(NewLock::Writing);
            }
        }
    }

    /// Turns the caller's write lock into a read lock, before any other writer can come in between.
    ///
    /// Changes nothing and returns false if the caller is not the writer, or no longer: its task may have ended.
    #[must_use = "without the lock the block may change or go"]
    pub fn downgrade(&self, id: BlockId, owner: LockOwner) -> bool {
        let mut state = self.state.lock();
        if state.holds(id, owner) != Some(Held::Writing) {
            return false;
        }
        let block = state.blocks.get_mut(&id).expect("a block with a writer exists");
        block.writer = None;
        block.readers = 1;
        block.wake();
        state.held.entry(owner).or_default().insert(id, Held::Reading(1));
        true
    }

    /// Gives back one lock of a block, and returns whether the caller had one.
    ///
    /// It may have none: the end of a task releases everything, while a reader of that task may still be on its way to
    /// do the same.
    pub fn unlock(&self, id: BlockId, owner: LockOwner) -> bool {
        let mut state = self.state.lock();
        let Some(held) = state.held.get_mut(&owner) else { return false };
        match held.get_mut(&id) {
            None => return false,
            Some(Held::Reading(times)) if *times > 1 => *times -= 1,
            Some(_) => state.forget(id, owner),
        }
        state.release(id, 1);
        true
    }

    /// Removes a block; those who wait for it find it absent.
    ///
    /// Changes nothing and returns false if the caller is not the writer.
    pub fn remove(&self, id: BlockId, owner: LockOwner) -> bool {
        let mut state = self.state.lock();
        if state.holds(id, owner) != Some(Held::Writing) {
            return false;
        }
        if let Some(block) = state.blocks.remove(&id) {
            block.wake();
        }
        state.forget(id, owner);
        true
    }

    /// Releases every lock of an owner, and returns the blocks.
    pub fn release_all(&self, owner: LockOwner) -> Vec<BlockId> {
        let mut state = self.state.lock();
        let held = state.held.remove(&owner).unwrap_or_default();
        for (id, held) in &held {
            state.release(*id, if let Held::Reading(times) = held { *times } else { 1 });
        }
        let mut released: Vec<_> = held.into_keys().collect();
        released.sort_unstable();
        released
    }

    /// Whether `owner` has the block locked for writing.
    pub fn is_writer(&self, id: BlockId, owner: LockOwner) -> bool {
        self.state.lock().holds(id, owner) == Some(Held::Writing)
    }

    /// At which level a block is kept or being created; `None` if it does not exist.
    pub fn level(&self, id: BlockId) -> Option<StorageLevel> {
        self.state.lock().blocks.get(&id).map(|block| block.level)
    }

    /// The blocks that exist and satisfy `wanted`, in the order of their ids.
    pub fn ids(&self, wanted: impl Fn(&BlockId) -> bool) -> Vec<BlockId> {
        let mut ids: Vec<_> = self.state.lock().blocks.keys().filter(|id| wanted(id)).copied().collect();
        ids.sort_unstable();
        ids
    }
}

impl State {
    fn holds(&self, id: BlockId, owner: LockOwner) -> Option<Held> {
        self.held.get(&owner)?.get(&id).copied()
    }

    fn note_reader(&mut self, id: BlockId, owner: LockOwner) {
        let held = self.held.entry(owner).or_default().entry(id).or_insert(Held::Reading(0));
        if let Held::Reading(times) = held {
            *times += 1;
        }
    }

    fn forget(&mut self, id: BlockId, owner: LockOwner) {
        if let Some(held) = self.held.get_mut(&owner) {
            held.remove(&id);
            if held.is_empty() {
                self.held.remove(&owner);
            }
        }
    }

    /// Takes the writer, or so many readers, off a block.
    fn release(&mut self, id: BlockId, times: u32) {
        let Some(block) = self.blocks.get_mut(&id) else { return };
        if block.writer.take().is_none() {
            block.readers -= times;
        }
        block.wake();
    }
}

impl Block {
    fn wake(&self) {
        if let Some(changed) = &self.changed {
            changed.notify_all();
        }
    }
}

/// Sleeps until the block may have changed. It may also be gone, and another of the same name be there.
fn wait_for_change(state: &mut MutexGuard<'_, State>, id: BlockId, wait: Wait<'_>) -> Result<(), LockError> {
    let Wait::UnlessCancelled(is_cancelled) = wait else { return Err(LockError::Busy { id }) };
    let block = state.blocks.get_mut(&id).expect("a lock that is waited for belongs to a block");
    let changed = block.changed.get_or_insert_default().clone();
    // The task that computes it may need memory, which the caller will not give back meanwhile.
    let _blocked = blocked();
    changed.wait_for(state, CANCEL_POLL_INTERVAL);
    // Asked without the table's lock: the function is not ours and may take its time.
    if MutexGuard::unlocked(state, is_cancelled) {
        return Err(LockError::Cancelled { id });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
