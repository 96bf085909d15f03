//! What is recorded, removed and counted.

use firesteel_types::{AttemptId, ExecutorId, FetchFailure, PartitionId};

use super::harness::*;
use crate::map_output::{BlockRef, ExecutorBlocks, MapOutputError, OutputLocation, Registered, Relocated};

const ADDED: Registered = Registered { replaced: false, checksum_changed: false };

/// Behaviours: MOT-001.
#[test]
fn a_shuffle_is_registered_once_and_its_outputs_go_with_it() {
    let mut tracker = tracker_with(&[EXEC_A]);

    let twice = tracker.register_shuffle(SHUFFLE, 1, 1);
    let unknown = tracker.register_output(OTHER, PartitionId(0), status(EXEC_A, 9, &[1]));

    assert_eq!(twice, Err(MapOutputError::ShuffleRegisteredTwice { shuffle: SHUFFLE }));
    assert_eq!(unknown, Err(MapOutputError::UnknownShuffle { shuffle: OTHER }));
    assert!(tracker.contains(SHUFFLE) && tracker.is_complete(SHUFFLE));
    assert!(tracker.unregister_shuffle(SHUFFLE));
    assert!(!tracker.unregister_shuffle(SHUFFLE));
    assert!(!tracker.contains(SHUFFLE) && !tracker.is_complete(SHUFFLE));
    assert_eq!(tracker.output(SHUFFLE, PartitionId(0)), None);
    assert_eq!(tracker.outputs_on(EXEC_A), 0);
    assert!(tracker.is_quiescent());
}

#[test]
fn a_status_must_fit_the_shuffle() {
    let mut tracker = MapOutputTracker::new(MapOutputConfig::default()).unwrap();
    tracker.register_shuffle(SHUFFLE, 1, 2).unwrap();

    let beyond = tracker.register_output(SHUFFLE, PartitionId(1), status(EXEC_A, 0, &[1, 1]));
    let short = tracker.register_output(SHUFFLE, PartitionId(0), status(EXEC_A, 0, &[1]));

    let map = PartitionId(1);
    assert_eq!(beyond, Err(MapOutputError::UnknownMap { shuffle: SHUFFLE, map, maps: 1 }));
    let map = PartitionId(0);
    let error = MapOutputError::WrongBlockCount { shuffle: SHUFFLE, map, blocks: 1, reducers: 2 };
    assert_eq!(short, Err(error));
    assert_eq!(tracker.available(SHUFFLE), 0);
}

/// Behaviours: MOT-002, MOT-004.
#[test]
fn one_output_is_unregistered_only_where_it_is_but_the_epoch_always_advances() {
    let mut tracker = tracker_with(&[EXEC_A, EXEC_A]);

    let elsewhere = tracker.unregister_output(SHUFFLE, PartitionId(0), EXEC_B);
    assert_eq!((elsewhere, tracker.available(SHUFFLE), tracker.epoch()), (Ok(false), 2, 1));
    let there = tracker.unregister_output(SHUFFLE, PartitionId(0), EXEC_A);
    assert_eq!((there, tracker.available(SHUFFLE), tracker.epoch()), (Ok(true), 1, 2));
    let again = tracker.unregister_output(SHUFFLE, PartitionId(0), EXEC_A);
    assert_eq!((again, tracker.available(SHUFFLE), tracker.epoch()), (Ok(false), 1, 3));

    assert_eq!(tracker.missing(SHUFFLE), maps(&[0]));
    let unknown = tracker.unregister_output(OTHER, PartitionId(0), EXEC_A);
    assert_eq!(unknown, Err(MapOutputError::UnknownShuffle { shuffle: OTHER }));
    assert_eq!(tracker.epoch(), 3, "nothing is known of that shuffle, so nothing is out of date");
}

/// Behaviours: MOT-003, MOT-004.
#[test]
fn a_lost_executor_takes_exactly_its_outputs_from_every_shuffle() {
    let mut tracker = tracker_with(&[EXEC_A, EXEC_B, EXEC_A]);
    register_all(&mut tracker, OTHER, &[EXEC_B, EXEC_A]);

    let removed = tracker.remove_executor(EXEC_A);

    let expected = [(SHUFFLE, PartitionId(0)), (SHUFFLE, PartitionId(2)), (OTHER, PartitionId(1))];
    assert_eq!(removed, expected);
    assert_eq!(tracker.missing(SHUFFLE), maps(&[0, 2]));
    assert_eq!(tracker.missing(OTHER), maps(&[1]));
    assert_eq!((tracker.outputs_on(EXEC_A), tracker.outputs_on(EXEC_B)), (0, 2));
    assert_eq!((tracker.remove_executor(EXEC_A), tracker.epoch()), (vec![], 2));
    tracker.check_invariants();
}

/// Behaviours: MOT-003, MOT-004.
#[test]
fn a_lost_host_takes_the_outputs_of_all_its_executors() {
    let mut tracker = tracker_with(&[EXEC_A, EXEC_B]);
    let mut neighbour = status(EXEC_C, 7, &[100]);
    neighbour.host = "host-1".into();
    tracker.register_shuffle(OTHER, 1, 1).unwrap();
    tracker.register_output(OTHER, PartitionId(0), neighbour).unwrap();

    let removed = tracker.remove_host(&"host-1".into());

    assert_eq!(removed, [(SHUFFLE, PartitionId(0)), (OTHER, PartitionId(0))]);
    assert_eq!(tracker.missing(SHUFFLE), maps(&[0]));
    assert_eq!((tracker.remove_host(&"host-1".into()), tracker.epoch()), (vec![], 2));
    tracker.check_invariants();
}

/// Behaviours: MOT-003, MOT-004.
#[test]
fn all_outputs_of_a_shuffle_can_go_while_it_stays_registered() {
    let mut tracker = tracker_with(&[EXEC_A, EXEC_B]);
    register_all(&mut tracker, OTHER, &[EXEC_A]);

    let removed = tracker.unregister_all_outputs(SHUFFLE);

    assert_eq!(removed, Ok(maps(&[0, 1])));
    assert_eq!(tracker.missing(SHUFFLE), maps(&[0, 1]));
    assert!(tracker.contains(SHUFFLE) && tracker.is_complete(OTHER));
    assert_eq!(tracker.epoch(), 1);
}

/// Behaviours: MOT-003, MOT-012.
#[test]
fn an_overwritten_attempt_is_forgotten() {
    let mut tracker = tracker_with(&[EXEC_A]);

    let again = tracker.register_output(SHUFFLE, PartitionId(0), status(EXEC_B, 5, &[100]));
    let late = tracker.relocate(SHUFFLE, AttemptId(0), EXEC_C, "host-3".into());

    assert_eq!(again, Ok(Registered { replaced: true, checksum_changed: false }));
    assert_eq!(late, Relocated::Untracked);
    assert_eq!(tracker.output(SHUFFLE, PartitionId(0)), Some(&status(EXEC_B, 5, &[100])));
    assert_eq!((tracker.outputs_on(EXEC_A), tracker.outputs_on(EXEC_B)), (0, 1));
    assert_eq!(tracker.available(SHUFFLE), 1);
}

/// Behaviours: MOT-004.
#[test]
fn a_completed_map_stage_advances_the_epoch_and_registering_does_not() {
    let mut tracker = tracker_with(&[EXEC_A]);
    assert_eq!(tracker.epoch(), 0);

    tracker.increment_epoch();

    assert_eq!(tracker.epoch(), 1);
}

/// Behaviours: MOT-012.
#[test]
fn a_relocated_output_is_recorded_at_its_new_place() {
    let mut tracker = tracker_with(&[EXEC_A, EXEC_A]);

    let moved = tracker.relocate(SHUFFLE, AttemptId(1), EXEC_B, "host-2".into());

    assert_eq!(moved, Relocated::Moved { map: PartitionId(1) });
    assert_eq!(tracker.output(SHUFFLE, PartitionId(1)), Some(&status(EXEC_B, 1, &[100])));
    assert_eq!(tracker.remove_executor(EXEC_A), [(SHUFFLE, PartitionId(0))]);
    assert_eq!(tracker.remove_host(&"host-2".into()), [(SHUFFLE, PartitionId(1))]);
}

/// Behaviours: MOT-012.
#[test]
fn relocation_brings_back_an_output_lost_with_its_executor() {
    let mut tracker = tracker_with(&[EXEC_A]);
    tracker.remove_executor(EXEC_A);

    let restored = tracker.relocate(SHUFFLE, AttemptId(0), EXEC_B, "host-2".into());

    assert_eq!(restored, Relocated::Restored { map: PartitionId(0) });
    assert_eq!(tracker.output(SHUFFLE, PartitionId(0)), Some(&status(EXEC_B, 0, &[100])));
    assert!(tracker.is_complete(SHUFFLE));
}

/// All outputs were discarded because the next run deals its rows otherwise. A copy of one of them comes late.
///
/// Behaviours: MOT-012, DAG-050.
#[test]
fn relocation_does_not_bring_back_an_output_that_was_discarded() {
    let mut tracker = tracker_with(&[EXEC_A, EXEC_A]);
    tracker.remove_executor(EXEC_A);
    tracker.unregister_all_outputs(SHUFFLE).unwrap();

    let late = tracker.relocate(SHUFFLE, AttemptId(0), EXEC_B, "host-2".into());

    assert_eq!(late, Relocated::Untracked);
    assert_eq!(tracker.available(SHUFFLE), 0);
}

/// Behaviours: MOT-012.
#[test]
fn relocation_does_not_touch_an_output_that_was_made_again() {
    let mut tracker = tracker_with(&[EXEC_A]);
    tracker.remove_executor(EXEC_A);
    let again = tracker.register_output(SHUFFLE, PartitionId(0), status(EXEC_C, 5, &[100]));

    let late = tracker.relocate(SHUFFLE, AttemptId(0), EXEC_B, "host-2".into());

    assert_eq!((again, late), (Ok(ADDED), Relocated::Untracked));
    assert_eq!(tracker.output(SHUFFLE, PartitionId(0)), Some(&status(EXEC_C, 5, &[100])));
    assert_eq!(tracker.relocate(OTHER, AttemptId(0), EXEC_B, "host-2".into()), Relocated::Untracked);
}

#[test]
fn an_attempt_named_for_two_maps_belongs_to_the_later() {
    let mut tracker = tracker_with(&[EXEC_A, EXEC_A]);
    tracker.register_output(SHUFFLE, PartitionId(1), status(EXEC_A, 0, &[100])).unwrap();

    let moved = tracker.relocate(SHUFFLE, AttemptId(0), EXEC_B, "host-2".into());
    tracker.register_output(SHUFFLE, PartitionId(1), status(EXEC_A, 1, &[100])).unwrap();
    let untracked = tracker.relocate(SHUFFLE, AttemptId(0), EXEC_C, "host-3".into());

    assert_eq!((moved, untracked), (Relocated::Moved { map: PartitionId(1) }, Relocated::Untracked));
    assert_eq!(tracker.outputs_on(EXEC_A), 2);
}

/// Behaviours: DAG-052.
#[test]
fn a_rerun_with_another_checksum_is_reported_even_after_the_first_output_was_lost() {
    let mut tracker = MapOutputTracker::new(MapOutputConfig::default()).unwrap();
    tracker.register_shuffle(SHUFFLE, 1, 1).unwrap();
    let mut register = |executor: ExecutorId, checksum, lose: bool| {
        let output = MapStatus { checksum, ..status(executor, u64::from(executor.0), &[1]) };
        let registered = tracker.register_output(SHUFFLE, PartitionId(0), output).unwrap();
        if lose {
            tracker.remove_executor(executor);
        }
        (registered, tracker.checksum_mismatches(SHUFFLE).collect::<Vec<_>>())
    };

    assert_eq!(register(EXEC_A, Some(7), true), (ADDED, vec![]));
    assert_eq!(register(EXEC_B, Some(7), true), (ADDED, vec![]), "the same content");
    let changed = Registered { replaced: false, checksum_changed: true };
    assert_eq!(register(EXEC_C, Some(8), false), (changed, maps(&[0])));
    let replaced = Registered { replaced: true, checksum_changed: true };
    assert_eq!(register(EXEC_A, Some(9), false), (replaced, maps(&[0])));
    let unknown = Registered { replaced: true, checksum_changed: false };
    assert_eq!(register(EXEC_B, None, false), (unknown, maps(&[0])), "nothing to compare");
}

/// Behaviours: MOT-007.
#[test]
fn a_reducer_gets_its_blocks_by_executor_and_no_empty_ones() {
    let mut tracker = MapOutputTracker::new(MapOutputConfig::default()).unwrap();
    tracker.register_shuffle(SHUFFLE, 3, 3).unwrap();
    let outputs = [(EXEC_A, [9, 1, 0]), (EXEC_B, [9, 0, 1]), (EXEC_A, [9, 0, 1])];
    for (map, (executor, sizes)) in (0..).zip(outputs) {
        let output = status(executor, u64::from(map) + 50, &sizes);
        tracker.register_output(SHUFFLE, PartitionId(map), output).unwrap();
    }

    let input = tracker.reducer_input(SHUFFLE, 1..3);

    let block = |map, reducer| BlockRef {
        map: PartitionId(map),
        attempt: AttemptId(u64::from(map) + 50),
        reducer: PartitionId(reducer),
        size_bytes: 1,
    };
    let location = |executor, host: &str| OutputLocation { executor, host: host.into() };
    let expected = vec![
        ExecutorBlocks { location: location(EXEC_A, "host-1"), blocks: vec![block(0, 1), block(2, 2)] },
        ExecutorBlocks { location: location(EXEC_B, "host-2"), blocks: vec![block(1, 2)] },
    ];
    assert_eq!(input, Ok(expected));
    assert_eq!(tracker.reducer_input(OTHER, 0..1), Ok(vec![]), "an unknown shuffle has no blocks");
}

/// Behaviours: MOT-006.
#[test]
fn a_missing_output_is_a_fetch_failure_without_address() {
    let mut tracker = tracker_with(&[EXEC_A, EXEC_B]);
    tracker.remove_executor(EXEC_B);

    let failure = tracker.reducer_input(SHUFFLE, 0..1);

    let expected = FetchFailure {
        shuffle: SHUFFLE,
        location: None,
        map_partition: None,
        map_attempt: None,
        reduce_partition: PartitionId(0),
        message: "missing an output location for map partition-1".into(),
    };
    assert_eq!(failure, Err(expected));
}

/// Registration is constant time: were it not, a million maps would not end.
#[test]
fn a_million_maps_are_registered_and_lost_executor_by_executor() {
    let mut tracker = MapOutputTracker::new(MapOutputConfig::default()).unwrap();
    tracker.register_shuffle(SHUFFLE, 1_000_000, 1).unwrap();
    let outputs: Vec<_> = (0..10_000).map(|executor| status(ExecutorId(executor), 0, &[0])).collect();
    for map in 0..1_000_000 {
        let output = MapStatus { attempt: AttemptId(map.into()), ..outputs[map as usize % 10_000].clone() };
        tracker.register_output(SHUFFLE, PartitionId(map), output).unwrap();
    }
    assert!(tracker.is_complete(SHUFFLE));

    let removed: usize =
        (0..10_000).map(|executor| tracker.remove_executor(ExecutorId(executor)).len()).sum();

    assert_eq!((removed, tracker.available(SHUFFLE)), (1_000_000, 0));
    tracker.check_invariants();
}
