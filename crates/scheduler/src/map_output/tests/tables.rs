//! When the driver encodes a table, and when a broadcast is destroyed.

use std::sync::Arc;

use firesteel_types::{AttemptId, PartitionId};

use super::harness::*;
use crate::map_output::{MapOutputError, ServedTable, TableBroadcastId, decode_table};

/// A tracker whose tables all go by broadcast, with [`SHUFFLE`] at `outputs` and its table made.
fn broadcast_tracker(outputs: &[ExecutorId]) -> MapOutputTracker {
    let config = MapOutputConfig { min_broadcast_bytes: 0, ..MapOutputConfig::default() };
    let mut tracker = MapOutputTracker::new(config).unwrap();
    register_all(&mut tracker, SHUFFLE, outputs);
    assert!(matches!(tracker.table(SHUFFLE), Ok(ServedTable::NewBroadcast { id: TableBroadcastId(0), .. })));
    tracker
}

/// What the next request is answered with, and what was to be destroyed before it.
fn table_and_stale(tracker: &mut MapOutputTracker) -> (Kind, Vec<TableBroadcastId>) {
    let stale = tracker.take_stale_broadcasts();
    let kind = match tracker.table(SHUFFLE).unwrap() {
        ServedTable::Broadcast { id } => Kind::Cached(id),
        ServedTable::NewBroadcast { id, .. } => Kind::New(id),
        ServedTable::Inline { .. } => panic!("every table goes by broadcast here"),
    };
    (kind, stale)
}

#[derive(Debug, PartialEq)]
enum Kind {
    New(TableBroadcastId),
    Cached(TableBroadcastId),
}

const FIRST: TableBroadcastId = TableBroadcastId(0);
const SECOND: TableBroadcastId = TableBroadcastId(1);

/// Behaviours: MOT-009.
#[test]
fn a_broadcast_size_above_the_message_size_is_rejected() {
    let config = MapOutputConfig { min_broadcast_bytes: (128 << 20) + 1, ..MapOutputConfig::default() };
    let limit = MapOutputConfig { min_broadcast_bytes: 128 << 20, ..MapOutputConfig::default() };

    let error = MapOutputError::BroadcastAboveMessage {
        min_broadcast_bytes: (128 << 20) + 1,
        max_message_bytes: 128 << 20,
    };
    assert_eq!(MapOutputTracker::new(config).err(), Some(error));
    assert_eq!(MapOutputTracker::new(limit).err(), None);
}

/// Behaviours: MOT-008.
#[test]
fn a_small_table_is_encoded_once_and_sent_in_the_reply() {
    let mut tracker = tracker_with(&[EXEC_A, EXEC_B]);
    tracker.remove_executor(EXEC_B);

    let first = tracker.table(SHUFFLE).unwrap();
    let second = tracker.table(SHUFFLE).unwrap();

    let (ServedTable::Inline { bytes }, ServedTable::Inline { bytes: again }) = (first, second) else {
        panic!("a table of two outputs is small");
    };
    assert!(Arc::ptr_eq(&bytes, &again));
    assert_eq!(decode_table(&bytes).as_deref(), Ok(&[Some(status(EXEC_A, 0, &[100])), None][..]));
    let unknown = tracker.table(OTHER);
    assert_eq!(unknown, Err(MapOutputError::UnknownShuffle { shuffle: OTHER }));
}

/// Behaviours: MOT-008.
#[test]
fn by_default_a_table_of_half_a_mebibyte_is_broadcast() {
    let kind = |reducers: u32| {
        let mut tracker = MapOutputTracker::new(MapOutputConfig::default()).unwrap();
        tracker.register_shuffle(SHUFFLE, 512, reducers).unwrap();
        for map in 0..512 {
            let output = status(EXEC_A, map, &vec![1; reducers as usize]);
            tracker.register_output(SHUFFLE, PartitionId(map as u32), output).unwrap();
        }
        matches!(tracker.table(SHUFFLE), Ok(ServedTable::NewBroadcast { .. }))
    };

    assert!(!kind(1000), "some bytes short of 512 KiB");
    assert!(kind(1024));
}

/// Behaviours: MOT-008.
#[test]
fn adding_an_output_where_none_was_drops_the_table() {
    let mut tracker = broadcast_tracker(&[EXEC_A]);
    tracker.remove_executor(EXEC_A);
    assert_eq!(table_and_stale(&mut tracker), (Kind::New(SECOND), vec![FIRST]));

    tracker.register_output(SHUFFLE, PartitionId(0), status(EXEC_B, 9, &[1])).unwrap();

    assert_eq!(table_and_stale(&mut tracker), (Kind::New(TableBroadcastId(2)), vec![SECOND]));
    assert_eq!(table_and_stale(&mut tracker), (Kind::Cached(TableBroadcastId(2)), vec![]));
}

/// Behaviours: MOT-008.
#[test]
fn each_way_of_removing_and_relocating_drops_the_table() {
    let changes: [fn(&mut MapOutputTracker); 6] = [
        |tracker| drop(tracker.remove_executor(EXEC_A)),
        |tracker| drop(tracker.remove_host(&"host-1".into())),
        |tracker| drop(tracker.unregister_output(SHUFFLE, PartitionId(0), EXEC_A)),
        |tracker| drop(tracker.unregister_all_outputs(SHUFFLE)),
        |tracker| {
            tracker.relocate(SHUFFLE, AttemptId(0), EXEC_B, "host-2".into());
        },
        |tracker| {
            tracker.unregister_shuffle(SHUFFLE);
            tracker.register_shuffle(SHUFFLE, 1, 1).unwrap();
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut tracker = broadcast_tracker(&[EXEC_A]);

        change(&mut tracker);

        assert_eq!(table_and_stale(&mut tracker), (Kind::New(SECOND), vec![FIRST]), "change {number}");
    }
}

/// Behaviours: MOT-008.
#[test]
fn a_loss_elsewhere_keeps_the_table() {
    let mut tracker = broadcast_tracker(&[EXEC_A]);
    register_all(&mut tracker, OTHER, &[EXEC_B]);

    tracker.remove_executor(EXEC_B);
    tracker.unregister_output(SHUFFLE, PartitionId(0), EXEC_C).unwrap();

    assert_eq!(table_and_stale(&mut tracker), (Kind::Cached(FIRST), vec![]));
}

/// Behaviours: MOT-008.
#[test]
fn a_replaced_output_keeps_the_table_until_the_next_loss() {
    let mut tracker = broadcast_tracker(&[EXEC_A]);

    tracker.register_output(SHUFFLE, PartitionId(0), status(EXEC_B, 9, &[100])).unwrap();
    assert_eq!(table_and_stale(&mut tracker), (Kind::Cached(FIRST), vec![]));
    tracker.remove_executor(EXEC_A);

    assert!(tracker.is_complete(SHUFFLE), "the output is on the other executor");
    assert_eq!(
        table_and_stale(&mut tracker),
        (Kind::New(SECOND), vec![FIRST]),
        "the table named the lost executor"
    );
}
