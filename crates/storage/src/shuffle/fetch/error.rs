//! Why a block cannot be had: [`FetchError`].

use std::fmt;

use firesteel_types::FetchFailure;

use crate::{
    block::BlockId,
    transfer::{PeerAddr, TransferError},
};

/// Why a reader did not get a block.
#[derive(Clone, Debug, thiserror::Error)]
pub enum FetchError {
    /// A block cannot be had.
    #[error("cannot fetch {} from {peer}: {cause}", Named(block))]
    Block {
        /// The peer that should have had it.
        peer: PeerAddr,
        /// The block.
        block: BlockId,
        /// What happened.
        #[source]
        cause: FetchCause,
    },
    /// The reader's task was told to stop. Nothing comes after this.
    #[error("the fetch was given up because its task was told to stop")]
    Cancelled,
}

/// What happened to a block.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum FetchCause {
    /// The peer could not be reached, or did not have it.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// It should have been on this host and was not, or could not be read.
    #[error("its local file cannot be read: {reason}")]
    Local { reason: String },
    /// The map task wrote something, and nothing came.
    #[error("the answer is empty, but the map output has about {expected} bytes")]
    Empty { expected: u64 },
    /// The bytes are not what was written.
    #[error("the block is corrupt ({diagnosis}): {reason}")]
    Corrupt { reason: String, diagnosis: Diagnosis },
    /// The transport returned or panicked without a word about the block.
    #[error("the transport said nothing about it: {reason}")]
    Unanswered { reason: String },
}

/// Where a corrupt block was probably damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagnosis {
    /// Two fetches gave the same bytes, or it was read here: what is stored is damaged.
    Disk,
    /// Two fetches gave different bytes: they changed on the way, or between disk and network.
    Network,
    /// The bytes could not be compared.
    Unknown,
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Disk => "the stored bytes are damaged",
            Self::Network => "damaged on the way: two fetches gave different bytes",
            Self::Unknown => "for an unknown reason",
        })
    }
}

impl FetchError {
    /// The failure that a task reports to the scheduler, which then has the map output made again.
    ///
    /// None where that would not help: for a reader that was told to stop, for a block that found no place on this
    /// side, and for blocks that are not of a shuffle.
    ///
    /// ```
    /// use firesteel_storage::{block::BlockId, shuffle::fetch::*, transfer::PeerAddr};
    /// use firesteel_types::{ExecutorId, PartitionId, ShuffleId};
    ///
    /// let (shuffle, map, reduce) = (ShuffleId(1), PartitionId(2), PartitionId(3));
    /// let error = FetchError::Block {
    ///     peer: PeerAddr::new(ExecutorId(4), "host-4", 7337),
    ///     block: BlockId::Shuffle { shuffle, map, reduce },
    ///     cause: FetchCause::Empty { expected: 10 },
    /// };
    /// let failure = error.to_failure().expect("it is a block of a shuffle");
    /// assert_eq!((failure.shuffle, failure.map_partition, failure.reduce_partition), (shuffle, Some(map), reduce));
    /// assert!(failure.message.contains("host-4:7337"));
    /// assert_eq!(FetchError::Cancelled.to_failure(), None);
    /// ```
    pub fn to_failure(&self) -> Option<FetchFailure> {
        let Self::Block { peer, block: BlockId::Shuffle { shuffle, map, reduce }, cause } = self else {
            return None;
        };
        if let FetchCause::Transfer(TransferError::Local { .. } | TransferError::Cancelled) = cause {
            return None;
        }
        Some(FetchFailure {
            shuffle: *shuffle,
            location: Some((peer.executor, peer.host.clone())),
            map_partition: Some(*map),
            map_attempt: None,
            reduce_partition: *reduce,
            message: self.to_string(),
        })
    }
}

/// Spells out what a block of a shuffle is.
struct Named<'a>(&'a BlockId);

impl fmt::Display for Named<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            BlockId::Shuffle { shuffle, map, reduce } => write!(out, "{shuffle}, map {map}, reduce {reduce}"),
            other => other.fmt(out),
        }
    }
}
