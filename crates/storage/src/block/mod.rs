//! The blocks of one process by id, in memory and on disk, and who holds which in the application.

mod id;

mod content;
mod disk_store;
mod files;
mod locks;
mod memory_store;
mod storage_memory;

mod directory;
mod manager;
mod master;
mod peer;
mod replication;
mod shuffle_migration;

#[cfg(test)]
pub(crate) mod testing;

pub use content::{AnyValue, BlockData, NewBlock, Save, SaveElsewhere, Serialize, Stored};
pub use directory::{Answer, BlockUpdate, Directory, EXIT_CODE_REFUSED, Locations, Registered, Registration};
pub use disk_store::{DiskError, DiskStore};
pub use files::{BlockFile, BlockFiles, OneFolder};
pub use id::{BlockId, BroadcastId};
pub use locks::{LockError, LockOwner, LockTable, NewLock, Wait};
pub use manager::{
    Again, BlockError, BlockManager, BlockManagerParts, BlockOptions, BlockRead, Lease, Lookup,
    MigrationRound, Outcome, Put, ReadLock, Served, Source,
};
pub use master::{BlockManagerMaster, DriverCopy, MemoryStatus, Removal, Replicate};
pub use memory_store::{AfterEviction, EvictionHandler, MemoryStore};
pub use peer::{Body, MapOutputId, Peer, PeerError, PeerId, Peers};
pub use replication::ReplicationPolicy;
pub(crate) use replication::shuffle;
pub use shuffle_migration::{MapOutputs, ShuffleMigration, ShuffleMigrationReport};
pub use storage_memory::{Reservation, StorageMemory, Unroll};
