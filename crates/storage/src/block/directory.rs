//! The master as a block manager sees it: [`Directory`], and what is said to it.

use firesteel_types::{ExecutorId, StorageLevel};
use serde::{Deserialize, Serialize};

use super::{BlockId, Peer};

/// The exit code of an executor whose block manager the master refuses to register again, as in Spark.
pub const EXIT_CODE_REFUSED: i32 = 58;

/// Where a block of one block manager is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockUpdate {
    /// The block.
    pub id: BlockId,
    /// The level at which it is kept here, with memory and disk only where it really is; [`StorageLevel::NONE`] if it
    /// is gone.
    pub level: StorageLevel,
    /// Bytes in memory.
    pub memory_size: u64,
    /// Bytes on disk.
    pub disk_size: u64,
}

/// A block manager that makes itself known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// Whose it is.
    pub executor: ExecutorId,
    /// Where it is.
    pub peer: Peer,
    /// How many bytes of blocks it can keep in memory at most.
    pub max_memory: u64,
}

/// The master's reply to a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Registered {
    /// Welcome.
    Accepted,
    /// The executor counts as lost, and its work has been given to others: it has to end.
    Refused,
}

/// The master's reply to a block update or a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// Noted.
    Noted,
    /// The sender is not known. It has to register and report all its blocks.
    NotRegistered,
}

/// Who holds a block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locations {
    /// The holders, in no particular order.
    pub holders: Vec<Peer>,
    /// How large it is in serialized form, as far as known: the most that any holder has of it.
    pub size: u64,
}

/// The way to the [`BlockManagerMaster`](super::BlockManagerMaster).
///
/// Reports come from the midst of storing and evicting, so they must not wait for anything slow; and they must arrive in
/// the order they were made.
pub trait Directory: Send + Sync {
    /// Makes a block manager known.
    fn register(&self, registration: &Registration) -> Registered;

    /// Reports where blocks are now.
    fn report(&self, from: ExecutorId, updates: &[BlockUpdate]) -> Answer;

    /// Who holds a block.
    fn locations(&self, id: BlockId) -> Locations;

    /// All executors that may get copies of the blocks of `of`, without itself.
    fn peers(&self, of: ExecutorId) -> Vec<Peer>;
}
