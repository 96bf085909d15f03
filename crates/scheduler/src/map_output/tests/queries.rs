//! Statistics and preferred places.

use std::ops::Range;

use firesteel_types::{Host, PartitionId};

use super::harness::*;
use crate::map_output::OutputLocation;

/// A tracker with one output for each of `outputs`: the executor and the size of its only block.
fn tracker_with_sizes(config: MapOutputConfig, outputs: &[(ExecutorId, u64)]) -> MapOutputTracker {
    let mut tracker = MapOutputTracker::new(config).unwrap();
    tracker.register_shuffle(SHUFFLE, outputs.len() as u32, 1).unwrap();
    for (map, &(executor, size)) in (0..).zip(outputs) {
        tracker.register_output(SHUFFLE, PartitionId(map), status(executor, map.into(), &[size])).unwrap();
    }
    tracker
}

fn host(executor: ExecutorId) -> Host {
    format!("host-{}", executor.0).into()
}

fn place(executor: ExecutorId) -> OutputLocation {
    OutputLocation { executor, host: host(executor) }
}

/// Behaviours: MOT-011.
#[test]
fn statistics_sum_the_outputs_that_are_present_for_each_reducer() {
    let mut tracker = MapOutputTracker::new(MapOutputConfig::default()).unwrap();
    tracker.register_shuffle(SHUFFLE, 3, 3).unwrap();
    tracker.register_output(SHUFFLE, PartitionId(0), status(EXEC_A, 0, &[1, 0, 1])).unwrap();
    tracker.register_output(SHUFFLE, PartitionId(2), status(EXEC_B, 2, &[1, 0, 0])).unwrap();

    assert_eq!(tracker.statistics(SHUFFLE), Some(vec![2, 0, 1]));
    assert_eq!(tracker.statistics_of(SHUFFLE, 1..3), Some(vec![0, 1]));
    assert_eq!(tracker.statistics(OTHER), None);
}

/// Behaviours: MOT-011.
#[test]
fn statistics_over_more_than_ten_million_blocks_are_split_into_near_equal_ranges() {
    let mut tracker = MapOutputTracker::new(MapOutputConfig::default()).unwrap();
    let huge = ShuffleId(12);
    tracker.register_shuffle(SHUFFLE, 1000, 9_999).unwrap();
    tracker.register_shuffle(OTHER, 1000, 10_000).unwrap();
    tracker.register_shuffle(huge, 10_000, 10_002).unwrap();

    assert_eq!(tracker.statistics_ranges(SHUFFLE, 8), &[Range { start: 0, end: 9_999 }]);
    assert_eq!(tracker.statistics_ranges(OTHER, 8), [0..5_000, 5_000..10_000]);
    let four = [0..2_501, 2_501..5_002, 5_002..7_502, 7_502..10_002];
    assert_eq!(tracker.statistics_ranges(huge, 4), four);
    assert_eq!(tracker.statistics_ranges(huge, 0), &[Range { start: 0, end: 10_002 }]);
}

/// Behaviours: MOT-010.
#[test]
fn largest_outputs_are_summed_by_executor_and_compared_with_the_reducers_total() {
    // The codes of these sizes stand for 10, 10, 30 and 54 bytes.
    let outputs = [(EXEC_A, 10), (EXEC_A, 10), (EXEC_B, 30), (EXEC_C, 50)];
    let tracker = tracker_with_sizes(MapOutputConfig::default(), &outputs);

    assert_eq!(tracker.statistics(SHUFFLE), Some(vec![104]));
    assert_eq!(tracker.largest_outputs(SHUFFLE, 0, 51), [place(EXEC_C)]);
    assert_eq!(tracker.largest_outputs(SHUFFLE, 0, 28), [place(EXEC_B), place(EXEC_C)]);
    assert_eq!(tracker.largest_outputs(SHUFFLE, 0, 19), [place(EXEC_A), place(EXEC_B), place(EXEC_C)]);
    assert_eq!(tracker.largest_outputs(SHUFFLE, 0, 52), []);
    assert_eq!(tracker.largest_outputs(OTHER, 0, 0), []);
}

/// Behaviours: DAG-048, MOT-010.
#[test]
fn a_reducer_prefers_each_host_once_that_holds_exactly_a_fifth_or_more() {
    let mut tracker = tracker_with_sizes(MapOutputConfig::default(), &[(EXEC_A, 10); 5]);
    for (map, executor) in [(0, EXEC_A), (1, EXEC_B), (2, EXEC_C), (3, EXEC_C), (4, EXEC_C)] {
        let neighbours = Host::from(if executor == EXEC_C { "host-3" } else { "host-1" });
        let output = MapStatus { host: neighbours, ..status(executor, map, &[10]) };
        tracker.register_output(SHUFFLE, PartitionId(map as u32), output).unwrap();
    }

    assert_eq!(tracker.preferred_hosts(SHUFFLE, 0), [host(EXEC_A), host(EXEC_C)]);
}

/// Behaviours: DAG-048.
#[test]
fn spread_out_input_gives_no_preference() {
    let outputs: Vec<_> = (0..6).map(|executor| (ExecutorId(executor), 10)).collect();
    let tracker = tracker_with_sizes(MapOutputConfig::default(), &outputs);

    assert_eq!(tracker.preferred_hosts(SHUFFLE, 0), []);
}

/// Behaviours: DAG-048.
#[test]
fn large_shuffles_and_disabled_locality_give_no_preference() {
    let preferred = |maps: u32, reducers: u32, reduce_locality: bool| {
        let config = MapOutputConfig { reduce_locality, ..MapOutputConfig::default() };
        let mut tracker = MapOutputTracker::new(config).unwrap();
        tracker.register_shuffle(SHUFFLE, maps, reducers).unwrap();
        let output = status(EXEC_A, 0, &vec![10; reducers as usize]);
        tracker.register_output(SHUFFLE, PartitionId(0), output).unwrap();
        tracker.preferred_hosts(SHUFFLE, 0)
    };

    assert_eq!(preferred(999, 999, true), [host(EXEC_A)]);
    assert_eq!(preferred(1000, 999, true), []);
    assert_eq!(preferred(999, 1000, true), []);
    assert_eq!(preferred(999, 999, false), []);
    assert_eq!(tracker_with(&[]).preferred_hosts(OTHER, 0), [], "an unknown shuffle");
}

/// Behaviours: MOT-010.
#[test]
fn a_range_of_maps_has_the_hosts_of_its_outputs_if_the_range_is_valid() {
    let outputs = [(EXEC_A, 1), (EXEC_B, 1), (EXEC_A, 1), (EXEC_C, 1)];
    let mut tracker = tracker_with_sizes(MapOutputConfig::default(), &outputs);
    let off = MapOutputConfig { reduce_locality: false, ..MapOutputConfig::default() };

    assert_eq!(tracker.map_range_hosts(SHUFFLE, 0..3), [host(EXEC_A), host(EXEC_B)]);
    assert_eq!(tracker.map_range_hosts(SHUFFLE, 3..4), [host(EXEC_C)]);
    assert_eq!(tracker.map_range_hosts(SHUFFLE, 0..5), [], "beyond the maps");
    assert_eq!(tracker.map_range_hosts(SHUFFLE, 2..2), []);
    assert_eq!(tracker.map_range_hosts(OTHER, 0..1), []);
    assert_eq!(tracker_with_sizes(off, &outputs).map_range_hosts(SHUFFLE, 0..3), []);
    tracker.remove_executor(EXEC_B);
    assert_eq!(tracker.map_range_hosts(SHUFFLE, 0..3), [host(EXEC_A)]);
}
