//! What a block is called: [`BlockId`].

use std::fmt;

use firesteel_types::{AttemptId, PartitionId, RddId, ShuffleId};
use serde::{Deserialize, Serialize};

/// One broadcast variable of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BroadcastId(pub u64);

impl fmt::Display for BroadcastId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "broadcast-{}", self.0)
    }
}

/// The name of a block: the same in every process of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum BlockId {
    /// A partition of a persisted RDD. What is stored of an RDD whose rows did not come again has another generation
    /// than what is computed afterwards, so that the two are never taken for each other.
    Rdd { rdd: RddId, partition: PartitionId, generation: u32 },
    /// What the map task of partition `map` left for the reduce partition `reduce`.
    Shuffle { shuffle: ShuffleId, map: PartitionId, reduce: PartitionId },
    /// One piece of a broadcast value.
    Broadcast { id: BroadcastId, piece: u32 },
    /// A result too large to travel in a message.
    TaskResult(AttemptId),
    /// A broadcast value as its tasks see it, decoded. It never leaves its process.
    BroadcastValue(BroadcastId),
}

impl BlockId {
    /// The RDD, if it is a partition of one: blocks of one RDD do not evict each other.
    pub const fn rdd(&self) -> Option<RddId> {
        match self {
            Self::Rdd { rdd, .. } => Some(*rdd),
            Self::Shuffle { .. } | Self::Broadcast { .. } | Self::TaskResult(_) | Self::BroadcastValue(_) => {
                None
            }
        }
    }

    /// Whether it is a partition of `rdd` that was stored before `generation`.
    pub const fn is_stale(&self, rdd: RddId, generation: u32) -> bool {
        match self {
            Self::Rdd { rdd: RddId(stored), generation: of_block, .. } => {
                *stored == rdd.0 && *of_block < generation
            }
            Self::Shuffle { .. } | Self::Broadcast { .. } | Self::TaskResult(_) | Self::BroadcastValue(_) => {
                false
            }
        }
    }

    /// The shuffle, if it belongs to one.
    pub const fn shuffle(&self) -> Option<ShuffleId> {
        match self {
            Self::Shuffle { shuffle, .. } => Some(*shuffle),
            Self::Rdd { .. } | Self::Broadcast { .. } | Self::TaskResult(_) | Self::BroadcastValue(_) => None,
        }
    }

    /// The broadcast variable, if it is a part of one.
    pub const fn broadcast(&self) -> Option<BroadcastId> {
        match self {
            Self::Broadcast { id, .. } | Self::BroadcastValue(id) => Some(*id),
            Self::Rdd { .. } | Self::Shuffle { .. } | Self::TaskResult(_) => None,
        }
    }

    /// Whether the master keeps track of who holds it.
    ///
    /// Not of map outputs, which the map output tracker knows, and not of what stays in its process.
    pub const fn is_tracked(&self) -> bool {
        match self {
            Self::Rdd { .. } | Self::Broadcast { .. } | Self::TaskResult(_) => true,
            Self::Shuffle { .. } | Self::BroadcastValue(_) => false,
        }
    }

    /// A number that is the same for the same block in every process, to start random choices from.
    pub(crate) fn seed(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(self.to_string().as_bytes())
    }
}

/// Also the name of its file, so it holds no character that could leave a folder.
impl fmt::Display for BlockId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rdd { rdd, partition, generation: 0 } => write!(out, "rdd_{}_{}", rdd.0, partition.0),
            Self::Rdd { rdd, partition, generation } => {
                write!(out, "rdd_{}_{}_generation{generation}", rdd.0, partition.0)
            }
            Self::Shuffle { shuffle, map, reduce } => {
                write!(out, "shuffle_{}_{}_{}", shuffle.0, map.0, reduce.0)
            }
            Self::Broadcast { id, piece } => write!(out, "broadcast_{}_piece{piece}", id.0),
            Self::BroadcastValue(id) => write!(out, "broadcast_{}", id.0),
            Self::TaskResult(attempt) => write!(out, "taskresult_{}", attempt.0),
        }
    }
}
