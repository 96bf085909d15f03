//! The list of blocks a reducer reads, made from a table of map outputs.
//!
//! The same for the tracker on the driver and for the cached tables of an executor.

use std::ops::Range;

use firesteel_types::{AttemptId, FetchFailure, PartitionId, ShuffleId};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::{MapStatus, OutputLocation};

/// The blocks that a reducer reads from one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorBlocks {
    /// The executor that holds them, and its host.
    pub location: OutputLocation,
    /// The blocks, by map and then by reducer. None of them is empty.
    pub blocks: Vec<BlockRef>,
}

/// One block of a shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRef {
    /// The map partition it comes from.
    pub map: PartitionId,
    /// The attempt that wrote it.
    pub attempt: AttemptId,
    /// The reducer it is for.
    pub reducer: PartitionId,
    /// About how many bytes it has.
    pub size_bytes: u64,
}

/// The non-empty blocks for `reducers` in `outputs`, by place, in the order of each place's first block.
pub(super) fn reducer_input<'a>(
    shuffle: ShuffleId,
    outputs: impl Iterator<Item = Option<&'a MapStatus>>,
    reducers: Range<u32>,
) -> Result<Vec<ExecutorBlocks>, FetchFailure> {
    let mut places: IndexMap<_, Vec<BlockRef>, FxBuildHasher> = IndexMap::default();
    for (map, output) in (0..).map(PartitionId).zip(outputs) {
        let Some(status) = output else { return Err(missing_output(shuffle, map, &reducers)) };
        for reducer in reducers.clone() {
            let size_bytes = status.sizes.size(reducer);
            if size_bytes > 0 {
                let reducer = PartitionId(reducer);
                let block = BlockRef { map, attempt: status.attempt, reducer, size_bytes };
                places.entry((status.executor, &status.host)).or_default().push(block);
            }
        }
    }
    let grouped = places.into_iter().map(|((executor, host), blocks)| ExecutorBlocks {
        location: OutputLocation { executor, host: host.clone() },
        blocks,
    });
    Ok(grouped.collect())
}

/// The failure of a reader whose table lacks the output of `map`.
///
/// It names no map and no address, like Spark's `MetadataFetchFailedException`: there is nothing to take off the
/// record, the output is already missing there.
fn missing_output(shuffle: ShuffleId, map: PartitionId, reducers: &Range<u32>) -> FetchFailure {
    metadata_failure(shuffle, reducers.start, format!("missing an output location for map {map}"))
}

/// The failure of `reducer`, which could not find out where its input is.
pub(super) fn metadata_failure(shuffle: ShuffleId, reducer: u32, message: String) -> FetchFailure {
    FetchFailure {
        shuffle,
        location: None,
        map_partition: None,
        map_attempt: None,
        reduce_partition: PartitionId(reducer),
        message,
    }
}
