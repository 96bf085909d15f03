//! What can go wrong with shuffle files: [`ShuffleFileError`].

use std::io;
use std::path::PathBuf;

use firesteel_types::{PartitionId, ShuffleId};

use crate::codec::CodecError;
use crate::disk::DiskError;

/// Why a shuffle file cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum ShuffleFileError {
    /// The disk is full or fails while writing. The task may succeed elsewhere.
    #[error(transparent)]
    Disk(#[from] DiskError),

    /// Rows and bytes do not fit each other. Another attempt will not help.
    #[error(transparent)]
    Codec(#[from] CodecError),

    /// A map output is not there, or not whole: its map task must run again.
    #[error("the {part} file of the output of map {} of {shuffle} is missing", map.0)]
    Missing { part: &'static str, shuffle: ShuffleId, map: PartitionId },

    /// The disk does not give back what was written: it must be made again, elsewhere.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },

    /// A file is not as it was written: what it holds must be made again.
    #[error("{} is damaged: {damage}", path.display())]
    Damaged { path: PathBuf, damage: Damage },
}

/// In which way a file is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum Damage {
    /// Bytes are missing, or there are more than there should be.
    #[error("wrong length: {expected} bytes were written, {actual} are there")]
    Length { expected: u64, actual: u64 },

    /// There are as many bytes as were written, but others.
    #[error("wrong checksum of the bytes {from} to {to}: {actual:08x}, not {expected:08x}")]
    Checksum { from: u64, to: u64, expected: u32, actual: u32 },

    /// The checksum is right, yet the bytes mean nothing: they were written so.
    #[error("the bytes {from} to {to} cannot be decoded, though their checksum is right: {reason}")]
    Decode { from: u64, to: u64, reason: String },

    /// The index is none.
    #[error("bad index: {reason}")]
    Index { reason: &'static str },
}

impl ShuffleFileError {
    /// Whether the file is gone, damaged or unreadable, so that the task which made it must run again.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        match self {
            Self::Missing { .. } | Self::Unreadable { .. } | Self::Damaged { .. } => true,
            Self::Disk(_) | Self::Codec(_) => false,
        }
    }
}
