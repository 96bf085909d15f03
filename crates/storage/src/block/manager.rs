//! The blocks of one process: [`BlockManager`].
//!
//! Brings the lock table and the two stores together, tells the master about every change, and reads from and copies to
//! other processes. How bytes travel, how memory is divided and where files go is behind the traits that it is made of.
//!
//! - [`store`]: putting blocks, and computing those that are absent.
//! - [`read`]: getting blocks that are here.
//! - [`remote`]: getting blocks from elsewhere.
//! - [`replicate`]: copies on other executors.
//! - [`migrate`]: moving blocks away before the process ends.

mod migrate;
mod read;
mod remote;
mod replicate;
mod store;

use std::{
    fmt, io,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use firesteel_types::{ExecutorId, RddId, Rng, ShuffleId, StorageLevel, Timestamp};
use parking_lot::Mutex;

pub use migrate::{Again, MigrationRound};
pub use read::{BlockRead, ReadLock, Served, Source};
pub use store::{Lease, Lookup, Outcome, Put};

use super::{
    AfterEviction, Answer, BlockFiles, BlockId, BlockUpdate, BroadcastId, Directory, DiskError, DiskStore,
    EvictionHandler, LockError, LockOwner, LockTable, MemoryStore, Peer, Peers, Registered, Registration,
    ReplicationPolicy, Save, StorageMemory, Stored, Wait,
};

/// Why a block could not be stored or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum BlockError {
    /// A level at which nothing can be stored.
    #[error("{id} cannot be stored at the level `{level}`: choose memory or disk and 1 to 39 copies")]
    InvalidLevel { id: BlockId, level: StorageLevel },

    /// The block is locked, or the caller was cancelled while it waited.
    #[error(transparent)]
    Lock(#[from] LockError),

    /// Writing the block to disk or reading it failed.
    #[error(transparent)]
    Disk(#[from] DiskError),

    /// A value that cannot be serialized was to be stored in serialized form or sent.
    #[error("{id} cannot be serialized")]
    NotSerializable {
        id: BlockId,
        #[source]
        source: io::Error,
    },

    /// The bytes that another process sends broke off.
    #[error("{id} was not received completely")]
    NotReceived {
        id: BlockId,
        #[source]
        source: io::Error,
    },

    /// This process takes no more blocks of this kind.
    #[error("{executor} is decommissioning and does not take {id}")]
    Decommissioning { id: BlockId, executor: ExecutorId },

    /// A block that another process sends does not fit.
    #[error("{executor} has no room for {id}")]
    NoRoom { id: BlockId, executor: ExecutorId },
}

/// The settings of a block manager.
#[derive(Clone, Copy, Debug)]
pub struct BlockOptions {
    /// How many bytes of blocks can be in memory at most, for the master to show.
    pub max_memory: u64,
    /// Which peers get copies.
    pub replication: ReplicationPolicy,
    /// How many peers may fail before a copy is given up.
    pub max_replication_failures: u32,
    /// How long the list of peers is believed.
    pub peers_max_age: Duration,
    /// After how many failed holders the master is asked again who holds a block.
    pub failures_before_refresh: u32,
    /// Above which size a block from elsewhere goes to a file rather than to memory.
    pub max_remote_in_memory: u64,
    /// How many bytes of blocks may be on disk before blocks of other processes are refused.
    pub max_received_disk: Option<u64>,
}

impl Default for BlockOptions {
    fn default() -> Self {
        Self {
            max_memory: 0,
            replication: ReplicationPolicy::default(),
            max_replication_failures: 1,
            peers_max_age: Duration::from_secs(60),
            failures_before_refresh: 5,
            max_remote_in_memory: 200 * 1024 * 1024,
            max_received_disk: None,
        }
    }
}

/// What a block manager is made of.
#[expect(missing_docs, reason = "the types say it")]
pub struct BlockManagerParts {
    pub executor: ExecutorId,
    /// Where this process runs, as others see it.
    pub peer: Peer,
    pub memory: Arc<dyn StorageMemory>,
    pub files: Arc<dyn BlockFiles>,
    pub directory: Arc<dyn Directory>,
    pub peers: Arc<dyn Peers>,
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    pub options: BlockOptions,
}

impl fmt::Debug for BlockManagerParts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = out.debug_struct("BlockManagerParts");
        fields.field("executor", &self.executor).field("peer", &self.peer).field("options", &self.options);
        fields.finish_non_exhaustive()
    }
}

/// The blocks of one process.
pub struct BlockManager {
    executor: ExecutorId,
    peer: Peer,
    locks: Arc<LockTable>,
    memory: Arc<MemoryStore>,
    disk: DiskStore,
    directory: Arc<dyn Directory>,
    peers: Arc<dyn Peers>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    options: BlockOptions,
    is_decommissioning: AtomicBool,
    is_refused: AtomicBool,
    known_peers: Mutex<Option<(Timestamp, Vec<Peer>)>>,
    rng: Mutex<Rng>,
}

impl BlockManager {
    /// A block manager without blocks. It still has to be [registered](Self::register), and its
    /// [memory store](Self::memory_store) be made known to the budget so that it can evict.
    pub fn new(parts: BlockManagerParts) -> Arc<Self> {
        let BlockManagerParts { executor, peer, memory, files, directory, peers, clock, options } = parts;
        let locks = Arc::new(LockTable::new());
        Arc::new_cyclic(|me: &Weak<Self>| Self {
            executor,
            peer,
            memory: Arc::new(MemoryStore::new(memory, locks.clone(), me.clone())),
            locks,
            disk: DiskStore::new(files),
            directory,
            peers,
            clock,
            options,
            is_decommissioning: AtomicBool::new(false),
            is_refused: AtomicBool::new(false),
            known_peers: Mutex::new(None),
            rng: Mutex::new(Rng::new(u64::from(executor.0))),
        })
    }

    /// Whose blocks these are.
    pub fn executor(&self) -> ExecutorId {
        self.executor
    }

    /// The blocks in memory.
    pub fn memory_store(&self) -> &Arc<MemoryStore> {
        &self.memory
    }

    /// The blocks on disk.
    pub fn disk_store(&self) -> &DiskStore {
        &self.disk
    }

    /// Who reads and writes what.
    pub fn locks(&self) -> &Arc<LockTable> {
        &self.locks
    }

    /// Makes itself known to the master, and tells it of all blocks.
    ///
    /// If the master counts this executor as lost, the process has to end; [`is_refused`](Self::is_refused) is true
    /// from then on.
    pub fn register(&self) -> Registered {
        let registration = Registration {
            executor: self.executor,
            peer: self.peer.clone(),
            max_memory: self.options.max_memory,
        };
        let registered = self.directory.register(&registration);
        match registered {
            Registered::Accepted => self.report_all(),
            Registered::Refused => {
                tracing::error!(executor = %self.executor, "the master counts this executor as lost");
                self.is_refused.store(true, Ordering::Relaxed);
            }
        }
        registered
    }

    fn report_all(&self) {
        for id in self.locks.ids(BlockId::is_tracked) {
            // Locked, so that what is said of a block is said in order; who writes it will report it anyway.
            if let Ok(Some(_lock)) = self.read_lock(id, LockOwner::unique(), Wait::Never) {
                self.directory.report(self.executor, &[self.status(id)]);
            }
        }
    }

    /// Takes note of what the master said to a sign of life, and registers again if it does not know this process.
    pub fn on_answer(&self, answer: Answer) {
        if answer == Answer::NotRegistered && !self.is_refused() {
            self.register();
        }
    }

    /// Whether the master refused this process, which then has to end with [`EXIT_CODE_REFUSED`](super::EXIT_CODE_REFUSED).
    pub fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }

    /// From now on takes no new partitions and map outputs, because the process is about to end.
    pub fn decommission(&self) {
        self.is_decommissioning.store(true, Ordering::Relaxed);
    }

    /// Whether a block may be stored here at this time.
    fn takes(&self, id: BlockId) -> bool {
        let is_leaving = self.is_decommissioning.load(Ordering::Relaxed);
        !is_leaving || (id.rdd().is_none() && id.shuffle().is_none())
    }

    /// Where a block is, and how large.
    pub fn status(&self, id: BlockId) -> BlockUpdate {
        let (memory, disk) = (self.memory.size(id), self.disk.size(id));
        self.status_with(id, memory, disk)
    }

    fn status_with(&self, id: BlockId, memory: Option<u64>, disk: Option<u64>) -> BlockUpdate {
        let level = match self.locks.level(id) {
            Some(level) if memory.is_some() || disk.is_some() => StorageLevel {
                memory: memory.is_some(),
                disk: disk.is_some(),
                deserialized: level.deserialized && memory.is_some(),
                replication: level.replication,
            },
            _ => StorageLevel::NONE,
        };
        BlockUpdate { id, level, memory_size: memory.unwrap_or(0), disk_size: disk.unwrap_or(0) }
    }

    /// Tells the master where a block is now. The caller has it locked, so that reports of a block keep their order.
    fn report(&self, update: BlockUpdate) {
        if update.id.is_tracked() {
            let answer = self.directory.report(self.executor, &[update]);
            if answer == Answer::NotRegistered
                && !self.is_refused()
                && self.register() == Registered::Accepted
            {
                self.directory.report(self.executor, &[update]);
            }
        }
    }

    /// Releases every lock of a task that has ended, and returns the blocks.
    pub fn release_all(&self, owner: LockOwner) -> Vec<BlockId> {
        self.locks.release_all(owner)
    }

    /// Removes a block as soon as it is not in use, and returns whether there was one.
    pub fn remove(&self, id: BlockId, wait: Wait<'_>) -> Result<bool, LockError> {
        let owner = LockOwner::unique();
        if self.locks.lock_for_writing(id, owner, wait)?.is_none() {
            return Ok(false);
        }
        self.erase(id, owner);
        Ok(true)
    }

    /// Removes all traces of a block that the owner has locked for writing.
    fn erase(&self, id: BlockId, owner: LockOwner) {
        self.memory.remove(id);
        self.disk.remove(id);
        self.report(self.status_with(id, None, None));
        self.locks.remove(id, owner);
    }

    /// Removes all partitions of an RDD, and returns how many there were.
    pub fn remove_rdd(&self, rdd: RddId, wait: Wait<'_>) -> Result<usize, LockError> {
        self.remove_all(|id| id.rdd() == Some(rdd), wait)
    }

    /// Removes all blocks of a shuffle, and returns how many there were.
    pub fn remove_shuffle(&self, shuffle: ShuffleId, wait: Wait<'_>) -> Result<usize, LockError> {
        self.remove_all(|id| id.shuffle() == Some(shuffle), wait)
    }

    /// Removes all pieces of a broadcast and its value, and returns how many blocks those were.
    pub fn remove_broadcast(&self, broadcast: BroadcastId, wait: Wait<'_>) -> Result<usize, LockError> {
        self.remove_all(|id| id.broadcast() == Some(broadcast), wait)
    }

    fn remove_all(&self, wanted: impl Fn(&BlockId) -> bool, wait: Wait<'_>) -> Result<usize, LockError> {
        let mut removed = 0;
        for id in self.locks.ids(wanted) {
            removed += usize::from(self.remove(id, wait)?);
        }
        Ok(removed)
    }
}

/// Saves what leaves memory, as its level wants.
impl EvictionHandler for BlockManager {
    fn evict(&self, id: BlockId, value: &Stored, save: &Save) -> io::Result<AfterEviction> {
        let has_disk = self.locks.level(id).is_some_and(|level| level.disk);
        let mut on_disk = self.disk.size(id);
        if has_disk && on_disk.is_none() {
            on_disk = match (value, save) {
                (Stored::Bytes(bytes), _) => {
                    Some(self.disk.write(id, None, &|out| out.write_all(bytes)).map_err(io::Error::other)?)
                }
                (Stored::Typed(value), Save::Serialize(write)) => {
                    let size = self.disk.write(id, None, &|out| write(&**value, out));
                    Some(size.map_err(io::Error::other)?)
                }
                (Stored::Typed(value), Save::Elsewhere(save)) => {
                    save(&**value)?;
                    None
                }
                (Stored::Typed(_), Save::Never) => None,
            };
        }
        self.report(self.status_with(id, None, on_disk));
        Ok(if on_disk.is_some() { AfterEviction::OnDisk } else { AfterEviction::Gone })
    }
}

impl fmt::Debug for BlockManager {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("BlockManager").field("executor", &self.executor).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
