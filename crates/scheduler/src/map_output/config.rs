//! The settings of the map output tracker, and what it refuses.

use firesteel_types::{PartitionId, ShuffleId};
use serde::{Deserialize, Serialize};

/// The settings of a [`MapOutputTracker`](super::MapOutputTracker).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapOutputConfig {
    /// From this size on a serialized table is sent by broadcast
    /// (`firesteel.shuffle.mapOutput.minSizeForBroadcast`).
    pub min_broadcast_bytes: u64,
    /// The largest control message (`firesteel.rpc.message.maxSize`).
    pub max_message_bytes: u64,
    /// Whether reducers prefer the hosts of their input (`firesteel.shuffle.reduceLocality.enabled`).
    pub reduce_locality: bool,
    /// Statistics over more blocks than this are worth a second thread
    /// (`firesteel.shuffle.mapOutput.parallelAggregationThreshold`).
    pub parallel_sum_blocks: u64,
}

impl Default for MapOutputConfig {
    fn default() -> Self {
        Self {
            min_broadcast_bytes: 512 << 10,
            max_message_bytes: 128 << 20,
            reduce_locality: true,
            parallel_sum_blocks: 10_000_000,
        }
    }
}

impl MapOutputConfig {
    pub(super) fn check(&self) -> Result<(), MapOutputError> {
        if self.min_broadcast_bytes > self.max_message_bytes {
            return Err(MapOutputError::BroadcastAboveMessage {
                min_broadcast_bytes: self.min_broadcast_bytes,
                max_message_bytes: self.max_message_bytes,
            });
        }
        Ok(())
    }
}

/// What a map output tracker refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum MapOutputError {
    /// A table too small for a broadcast could be too large for a message.
    #[error(
        "tables are broadcast from {min_broadcast_bytes} bytes on, but a message holds only \
         {max_message_bytes}: lower firesteel.shuffle.mapOutput.minSizeForBroadcast or raise firesteel.rpc.message.maxSize"
    )]
    BroadcastAboveMessage { min_broadcast_bytes: u64, max_message_bytes: u64 },

    /// The id is taken.
    #[error("{shuffle} is registered already")]
    ShuffleRegisteredTwice { shuffle: ShuffleId },

    /// It was never registered, or it is over.
    #[error("{shuffle} is not registered")]
    UnknownShuffle { shuffle: ShuffleId },

    /// The shuffle has fewer maps.
    #[error("{shuffle} has no map {map}, only {maps} maps")]
    UnknownMap { shuffle: ShuffleId, map: PartitionId, maps: u32 },

    /// The status does not have one block for each reducer, so some reducer would read too little.
    #[error("map {map} of {shuffle} has {blocks} blocks for {reducers} reducers")]
    WrongBlockCount { shuffle: ShuffleId, map: PartitionId, blocks: u32, reducers: u32 },
}
