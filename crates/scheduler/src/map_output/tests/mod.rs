//! Tests that need more than one file's types, and what they share.

mod client;
mod model;
mod queries;
mod tables;
mod tracker;

use firesteel_types::{AttemptId, ExecutorId, PartitionId, ShuffleId};

use super::{BlockSizes, MapOutputConfig, MapOutputTracker, MapStatus, SizeLimits};

const SHUFFLE: ShuffleId = ShuffleId(10);
const OTHER: ShuffleId = ShuffleId(11);
const EXEC_A: ExecutorId = ExecutorId(1);
const EXEC_B: ExecutorId = ExecutorId(2);
const EXEC_C: ExecutorId = ExecutorId(3);

/// The output that `attempt` wrote to `executor` on the host `host-<executor>`.
fn status(executor: ExecutorId, attempt: u64, sizes: &[u64]) -> MapStatus {
    MapStatus {
        executor,
        host: format!("host-{}", executor.0).into(),
        attempt: AttemptId(attempt),
        sizes: BlockSizes::from_bytes(sizes, &SizeLimits::default()),
        checksum: None,
    }
}

/// A tracker that knows [`SHUFFLE`] with `outputs`, one for each map, of one block of 100 bytes.
fn tracker_with(outputs: &[ExecutorId]) -> MapOutputTracker {
    let mut tracker = MapOutputTracker::new(MapOutputConfig::default()).unwrap();
    register_all(&mut tracker, SHUFFLE, outputs);
    tracker
}

/// Registers `shuffle` with one block of 100 bytes for each map. The attempts are the maps' numbers.
fn register_all(tracker: &mut MapOutputTracker, shuffle: ShuffleId, outputs: &[ExecutorId]) {
    tracker.register_shuffle(shuffle, outputs.len() as u32, 1).unwrap();
    for (map, &executor) in (0..).zip(outputs) {
        let output = status(executor, u64::from(map), &[100]);
        tracker.register_output(shuffle, PartitionId(map), output).unwrap();
    }
}

fn maps(numbers: &[u32]) -> Vec<PartitionId> {
    numbers.iter().copied().map(PartitionId).collect()
}
