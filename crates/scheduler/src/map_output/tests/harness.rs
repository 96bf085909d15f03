//! What the tests share.

pub(super) use firesteel_types::{AttemptId, ExecutorId, PartitionId, ShuffleId};

pub(super) use super::super::{BlockSizes, MapOutputConfig, MapOutputTracker, MapStatus, SizeLimits};

pub(super) const SHUFFLE: ShuffleId = ShuffleId(10);
pub(super) const OTHER: ShuffleId = ShuffleId(11);
pub(super) const EXEC_A: ExecutorId = ExecutorId(1);
pub(super) const EXEC_B: ExecutorId = ExecutorId(2);
pub(super) const EXEC_C: ExecutorId = ExecutorId(3);

/// The output that `attempt` wrote to `executor` on the host `host-<executor>`.
pub(super) fn status(executor: ExecutorId, attempt: u64, sizes: &[u64]) -> MapStatus {
    MapStatus {
        executor,
        host: format!("host-{}", executor.0).into(),
        attempt: AttemptId(attempt),
        sizes: BlockSizes::from_bytes(sizes, &SizeLimits::default()),
        checksum: None,
    }
}

/// A tracker that knows [`SHUFFLE`] with `outputs`, one for each map, of one block of 100 bytes.
pub(super) fn tracker_with(outputs: &[ExecutorId]) -> MapOutputTracker {
    let mut tracker = MapOutputTracker::new(MapOutputConfig::default()).unwrap();
    register_all(&mut tracker, SHUFFLE, outputs);
    tracker
}

/// Registers `shuffle` with one block of 100 bytes for each map. The attempts are the maps' numbers.
pub(super) fn register_all(tracker: &mut MapOutputTracker, shuffle: ShuffleId, outputs: &[ExecutorId]) {
    tracker.register_shuffle(shuffle, outputs.len() as u32, 1).unwrap();
    for (map, &executor) in (0..).zip(outputs) {
        let output = status(executor, u64::from(map), &[100]);
        tracker.register_output(shuffle, PartitionId(map), output).unwrap();
    }
}

pub(super) fn maps(numbers: &[u32]) -> Vec<PartitionId> {
    numbers.iter().copied().map(PartitionId).collect()
}
