//! State changes that are not acknowledged.

use super::*;

const TIMEOUT: Duration = Duration::from_mins(2);

/// Behaviours: WORK-006.
#[test]
fn a_state_that_is_not_acknowledged_is_sent_five_times_and_then_ends_the_worker() {
    let mut harness = Harness::connected();
    let process = harness.run_executor(1);
    let exited = changed(1, ExecutorState::Exited, "exited with code 3", Some(3));

    let at_once = harness.exit(process, 3);
    let later = harness.pass_quietly(Duration::from_mins(20));

    assert_eq!(at_once, std::slice::from_ref(&exited));
    let mut expected: Vec<_> = (1..=4).map(|n| (TIMEOUT * n, exited.clone())).collect();
    let reason = "the state of app-1/1 was sent 5 times without an answer".to_owned();
    expected.push((TIMEOUT * 5, WorkerEffect::Exit { code: 1, reason }));
    assert_eq!(later, expected);
}

/// Behaviours: WORK-006.
#[test]
fn an_acknowledged_state_is_not_sent_again() {
    let mut harness = Harness::connected();
    let process = harness.run_executor(1);
    harness.exit(process, 0);

    assert_eq!(harness.acknowledge(1, ExecutorState::Exited), []);

    assert_eq!(harness.pass_quietly(Duration::from_mins(20)), []);
    assert!(harness.worker.is_quiescent());
    let again = harness.acknowledge(1, ExecutorState::Exited);
    assert_eq!(again, [ignored(WorkerIgnored::NothingToAcknowledge { executor: key(1) })]);
}

/// Behaviours: WORK-006.
#[test]
fn the_acknowledgement_of_an_earlier_state_is_not_one_of_the_last() {
    let mut harness = Harness::connected();
    let process = created_process(&harness.launch(1));
    harness.dirs_created(process);
    harness.send(WorkerEvent::ProcessStarted { process });
    harness.exit(process, 0);

    let effects = harness.acknowledge(1, ExecutorState::Running);
    let later = harness.pass_quietly(TIMEOUT);

    assert_eq!(effects, [ignored(WorkerIgnored::NothingToAcknowledge { executor: key(1) })]);
    let exited = changed(1, ExecutorState::Exited, "exited with code 0", Some(0));
    assert_eq!(later, [(TIMEOUT, exited)], "and the earlier state is not sent again");
}

/// Behaviours: WORK-002, WORK-006.
#[test]
fn an_executor_that_ends_without_a_master_is_reported_to_the_next_one() {
    let mut harness = Harness::connected();
    let process = harness.run_executor(1);
    harness.lose("m1");

    let ended = harness.exit(process, 0);
    let back = harness.registered("m1");

    assert_eq!(ended, []);
    let exited = changed(1, ExecutorState::Exited, "exited with code 0", Some(0));
    assert_eq!(back, [exited, to_master("m1", WorkerToMaster::LatestState(state(&[], &[])))]);
}

#[test]
fn no_tries_are_counted_while_there_is_no_master() {
    let mut harness = Harness::connected();
    let process = harness.run_executor(1);
    harness.exit(process, 0);
    harness.pass(TIMEOUT * 3);
    harness.lose("m1");
    harness.pass(secs(200));
    harness.registered("m1");

    let later = harness.pass_quietly(TIMEOUT * 4);

    let exited = changed(1, ExecutorState::Exited, "exited with code 0", Some(0));
    let expected: Vec<_> = (1..=4).map(|n| (TIMEOUT * n, exited.clone())).collect();
    assert_eq!(later, expected);
}
