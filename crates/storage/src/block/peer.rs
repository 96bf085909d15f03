//! Other processes that hold blocks: what they are called ([`PeerId`], [`Peer`]) and what can be asked of them
//! ([`Peers`]).

use std::{fmt, fs::File, io, path::PathBuf};

use bytes::Bytes;
use firesteel_types::{ExecutorId, Host, PartitionId, ShuffleId, StorageLevel};
use serde::{Deserialize, Serialize};

use super::BlockId;

/// Who holds a block.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PeerId {
    /// An executor, or the driver.
    Executor(ExecutorId),
    /// The service of a host that serves the files of executors, also when they are gone.
    Service(Host),
}

impl fmt::Display for PeerId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Executor(executor) => executor.fmt(out),
            Self::Service(host) => write!(out, "service on {host}"),
        }
    }
}

/// A holder of blocks and where it runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Peer {
    /// Who it is.
    pub id: PeerId,
    /// Its machine.
    pub host: Host,
    /// The rack of the machine, if known.
    pub rack: Option<String>,
}

impl Peer {
    /// An executor, on a host of unknown rack.
    pub fn executor(id: ExecutorId, host: impl Into<Host>) -> Self {
        Self { id: PeerId::Executor(id), host: host.into(), rack: None }
    }

    /// The same in a rack.
    #[must_use]
    pub fn in_rack(self, rack: impl Into<String>) -> Self {
        Self { rack: Some(rack.into()), ..self }
    }

    /// Whether both are known to stand in the same rack.
    pub(super) fn shares_rack_with(&self, other: &Self) -> bool {
        self.rack.is_some() && self.rack == other.rack
    }
}

/// Serialized bytes to send, in memory or in a file.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum Body {
    /// In memory.
    Bytes(Bytes),
    /// In a file, from its beginning.
    File { path: PathBuf, len: u64 },
}

impl Body {
    /// How many bytes there are.
    pub fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File { len, .. } => *len,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// All that one map task left for a shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub struct MapOutputId {
    pub shuffle: ShuffleId,
    pub map: PartitionId,
}

impl fmt::Display for MapOutputId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "shuffle_{}_{}", self.shuffle.0, self.map.0)
    }
}

/// Why a peer did not do as asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum PeerError {
    /// The peer does not have the block.
    #[error("{peer} does not have the block")]
    Absent { peer: PeerId },

    /// The peer is going away and takes no more blocks.
    #[error("{peer} is decommissioning and takes no more blocks")]
    Decommissioning { peer: PeerId },

    /// The peer is well, but does not take the block: it has no room.
    #[error("{peer} has no room for the block")]
    NoRoom { peer: PeerId },

    /// The peer cannot be reached, or broke off.
    #[error("{peer} cannot be reached")]
    Broken {
        peer: PeerId,
        #[source]
        source: io::Error,
    },
}

/// The way to the block managers of other processes.
///
/// Every call blocks until it is answered or has failed; retries of broken connections belong in here, other holders are
/// the caller's business.
pub trait Peers: Send + Sync {
    /// The serialized bytes of a block.
    fn fetch(&self, from: &PeerId, id: BlockId) -> Result<Bytes, PeerError>;

    /// Writes the serialized bytes of a block to a file, and returns how many.
    fn fetch_to_file(&self, from: &PeerId, id: BlockId, file: &mut File) -> Result<u64, PeerError>;

    /// Gives a peer a copy of a block, to store as one of `level` without making further copies.
    fn upload(&self, to: &PeerId, id: BlockId, level: StorageLevel, body: Body) -> Result<(), PeerError>;

    /// Gives a peer a map output: its index and its data.
    fn upload_map_output(
        &self,
        to: &PeerId,
        output: MapOutputId,
        index: Bytes,
        data: Body,
    ) -> Result<(), PeerError>;

    /// Where the file of a block is that a peer on this host has on disk, and how many bytes it has, if that is known.
    fn file_on_this_host(&self, _of: &PeerId, _id: BlockId) -> Option<(PathBuf, u64)> {
        None
    }
}
