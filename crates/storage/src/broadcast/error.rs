//! What can go wrong with a broadcast value: [`BroadcastError`].

use std::{error::Error, io};

use crate::block::{BlockError, BroadcastId, LockError};

/// Why a broadcast value could not be published or had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum BroadcastError {
    /// It was used after it was destroyed.
    #[error("{id} was destroyed: it cannot be used any more")]
    Destroyed { id: BroadcastId },

    /// No process holds a piece of it.
    #[error("piece {piece} of {id} is nowhere: it was destroyed, or all its holders were lost")]
    Lost { id: BroadcastId, piece: u32 },

    /// A piece is not what was published.
    #[error("piece {piece} of {id} is corrupt: its checksum is {actual:016x}, not {expected:016x}")]
    Corrupt { id: BroadcastId, piece: u32, expected: u64, actual: u64 },

    /// A piece does not have the length that it should, although it is what was published.
    #[error("piece {piece} of {id} does not unpack to the {expected} bytes it should have")]
    Malformed { id: BroadcastId, piece: u32, expected: usize },

    /// The value could not be serialized.
    #[error("{id} cannot be serialized")]
    Encode {
        id: BroadcastId,
        #[source]
        source: io::Error,
    },

    /// The value could not be made from its bytes.
    #[error("{id} cannot be read")]
    Decode {
        id: BroadcastId,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },

    /// The value was asked for as another type than before.
    #[error("{id} has another type than the one it is used as")]
    OtherType { id: BroadcastId },

    /// There is a value of this name.
    #[error("{id} exists already")]
    Exists { id: BroadcastId },

    /// The pieces could not be stored or read.
    #[error(transparent)]
    Block(#[from] BlockError),
}

impl From<LockError> for BroadcastError {
    fn from(error: LockError) -> Self {
        Self::Block(error.into())
    }
}
