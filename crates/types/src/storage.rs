//! Where an RDD's partitions are kept once computed.

use serde::{Deserialize, Serialize};

/// How the partitions of a persisted RDD are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StorageLevel {
    /// Kept in memory.
    pub memory: bool,
    /// Kept on disk.
    pub disk: bool,
    /// Kept as values rather than as serialized bytes (memory only).
    pub deserialized: bool,
    /// How many executors hold a copy.
    pub replication: u8,
}

impl StorageLevel {
    /// Not persisted.
    pub const NONE: Self = Self { memory: false, disk: false, deserialized: false, replication: 1 };
    /// As values in memory; what does not fit is computed again when needed.
    pub const MEMORY_ONLY: Self = Self { memory: true, disk: false, deserialized: true, replication: 1 };

    /// As serialized bytes in memory: smaller, and slower to read.
    pub const MEMORY_ONLY_SER: Self = Self { memory: true, disk: false, deserialized: false, replication: 1 };

    /// Whether anything is stored at all.
    pub const fn is_persisted(self) -> bool {
        self.memory || self.disk
    }
}
