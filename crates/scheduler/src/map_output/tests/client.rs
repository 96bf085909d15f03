//! The executor's cache of tables.

use firesteel_types::{AttemptId, FetchFailure, PartitionId};

use super::harness::*;
use crate::map_output::{Lookup, MapOutputClient, MapTable, OnTable};

const TASK_1: AttemptId = AttemptId(1);
const TASK_2: AttemptId = AttemptId(2);
const TASK_3: AttemptId = AttemptId(3);

fn table(executor: ExecutorId) -> MapTable {
    [Some(status(executor, 0, &[1]))].into()
}

fn wake(requesters: &[AttemptId], table: MapTable) -> OnTable {
    OnTable::Wake { requesters: requesters.to_vec(), table }
}

/// A client that has the table of [`SHUFFLE`] with one output on executor A.
fn client_with_table() -> MapOutputClient {
    let mut client = MapOutputClient::new();
    client.want(SHUFFLE, TASK_1);
    client.on_table(SHUFFLE, table(EXEC_A));
    client
}

/// Behaviours: MOT-005.
#[test]
fn the_driver_is_asked_once_and_later_tasks_use_the_cache() {
    let mut client = MapOutputClient::new();

    assert_eq!(client.want(SHUFFLE, TASK_1), Lookup::Ask);
    assert_eq!(client.want(SHUFFLE, TASK_2), Lookup::Wait);
    assert_eq!(client.want(OTHER, TASK_3), Lookup::Ask, "another shuffle is another question");
    assert_eq!(client.on_table(SHUFFLE, table(EXEC_A)), wake(&[TASK_1, TASK_2], table(EXEC_A)));
    assert_eq!(client.want(SHUFFLE, TASK_3), Lookup::Cached(table(EXEC_A)));

    assert_eq!(client.on_table(SHUFFLE, table(EXEC_B)), OnTable::Ignored);
    assert_eq!(client.want(SHUFFLE, TASK_3), Lookup::Cached(table(EXEC_A)));
    assert!(!client.is_quiescent());
}

/// Behaviours: MOT-004.
#[test]
fn only_a_larger_epoch_drops_the_cache() {
    let mut client = client_with_table();
    client.on_epoch(0);
    assert_eq!(client.want(SHUFFLE, TASK_2), Lookup::Cached(table(EXEC_A)));

    client.on_epoch(3);

    assert_eq!(client.want(SHUFFLE, TASK_2), Lookup::Ask);
    assert_eq!(client.on_table(SHUFFLE, table(EXEC_B)), wake(&[TASK_2], table(EXEC_B)));
    client.on_epoch(2);
    assert_eq!((client.want(SHUFFLE, TASK_3), client.epoch()), (Lookup::Cached(table(EXEC_B)), 3));
}

/// Behaviours: MOT-004, MOT-005.
#[test]
fn a_table_that_comes_unasked_is_kept_unless_it_is_old_or_asked_for() {
    let mut client = MapOutputClient::new();

    client.on_offer(2, SHUFFLE, table(EXEC_A));
    assert_eq!((client.want(SHUFFLE, TASK_1), client.epoch()), (Lookup::Cached(table(EXEC_A)), 2));
    client.on_offer(1, SHUFFLE, table(EXEC_B));
    assert_eq!(client.want(SHUFFLE, TASK_1), Lookup::Cached(table(EXEC_A)), "it is older");
    client.on_offer(2, SHUFFLE, table(EXEC_B));
    assert_eq!(client.want(SHUFFLE, TASK_1), Lookup::Cached(table(EXEC_B)));

    assert_eq!(client.want(OTHER, TASK_2), Lookup::Ask);
    client.on_offer(3, OTHER, table(EXEC_A));
    assert_eq!(client.want(SHUFFLE, TASK_1), Lookup::Ask, "a new epoch drops what was kept");
    assert_eq!(
        client.on_table(OTHER, table(EXEC_A)),
        OnTable::AskAgain,
        "it was asked for in an older epoch"
    );
    assert_eq!(client.on_table(OTHER, table(EXEC_B)), wake(&[TASK_2], table(EXEC_B)));
}

/// Behaviours: MOT-004, MOT-005.
#[test]
fn an_answer_to_a_question_of_an_older_epoch_is_asked_for_again() {
    let mut client = MapOutputClient::new();
    client.want(SHUFFLE, TASK_1);
    client.on_epoch(1);
    assert_eq!(client.want(SHUFFLE, TASK_2), Lookup::Wait);

    assert_eq!(client.on_table(SHUFFLE, table(EXEC_A)), OnTable::AskAgain);
    assert_eq!(client.want(SHUFFLE, TASK_3), Lookup::Wait);

    let everyone = wake(&[TASK_1, TASK_2, TASK_3], table(EXEC_B));
    assert_eq!(client.on_table(SHUFFLE, table(EXEC_B)), everyone);
    assert!(client.is_quiescent());
}

/// Behaviours: MOT-006.
#[test]
fn a_missing_output_is_a_metadata_failure_and_clears_every_table() {
    let mut client = client_with_table();
    client.want(OTHER, TASK_1);
    let holed: MapTable = [Some(status(EXEC_A, 0, &[1, 1])), None].into();
    client.on_table(OTHER, holed.clone());

    let failure = client.reducer_input(OTHER, &holed, 1..2);

    let expected = FetchFailure {
        shuffle: OTHER,
        location: None,
        map_partition: None,
        map_attempt: None,
        reduce_partition: PartitionId(1),
        message: "missing an output location for map partition-1".into(),
    };
    assert_eq!(failure, Err(expected));
    assert_eq!(client.want(SHUFFLE, TASK_2), Lookup::Ask);
    assert_eq!(client.want(OTHER, TASK_2), Lookup::Ask);
}

/// Behaviours: MOT-006.
#[test]
fn a_whole_table_gives_the_same_input_as_the_tracker_and_stays() {
    let tracker = tracker_with(&[EXEC_A]);
    let mut client = MapOutputClient::new();
    client.want(SHUFFLE, TASK_1);
    let whole: MapTable = [Some(status(EXEC_A, 0, &[100]))].into();
    client.on_table(SHUFFLE, whole.clone());

    let input = client.reducer_input(SHUFFLE, &whole, 0..1);

    assert_eq!(input, tracker.reducer_input(SHUFFLE, 0..1));
    assert_eq!(client.want(SHUFFLE, TASK_2), Lookup::Cached(whole));
}

/// Behaviours: MOT-005.
#[test]
fn when_the_driver_cannot_be_asked_everyone_who_waits_fails_and_the_next_asks_again() {
    let mut client = MapOutputClient::new();
    client.want(SHUFFLE, TASK_1);
    client.want(SHUFFLE, TASK_2);

    assert_eq!(client.on_unavailable(SHUFFLE), [TASK_1, TASK_2]);
    assert_eq!(client.on_unavailable(SHUFFLE), []);

    assert_eq!(client.on_table(SHUFFLE, table(EXEC_A)), OnTable::Ignored);
    assert_eq!(client.want(SHUFFLE, TASK_3), Lookup::Ask);
}

#[test]
fn the_table_of_a_finished_shuffle_is_not_kept() {
    let mut client = client_with_table();
    client.want(OTHER, TASK_1);

    client.forget(SHUFFLE);
    client.forget(OTHER);

    assert_eq!(client.want(SHUFFLE, TASK_2), Lookup::Ask);
    assert_eq!(client.on_table(OTHER, table(EXEC_B)), wake(&[TASK_1], table(EXEC_B)));
    assert_eq!(client.want(OTHER, TASK_2), Lookup::Ask);
}
