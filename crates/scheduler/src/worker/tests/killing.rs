//! Ending processes against their will.

use super::*;

fn signal(process: ProcessId, signal: ProcessSignal) -> WorkerEffect {
    WorkerEffect::Signal { process, signal }
}

/// Behaviours: WORK-006, WORK-014.
#[test]
fn a_killed_executor_is_asked_to_terminate_and_its_exit_code_attached() {
    let mut harness = Harness::connected();
    let process = harness.run_executor(1);

    let ordered = harness.kill(1);
    let meanwhile = (harness.live_executors(), harness.worker.held());
    let ended = harness.exit(process, 143);

    assert_eq!(ordered, [signal(process, ProcessSignal::Terminate)]);
    assert_eq!(meanwhile, (vec![(key(1), ExecutorState::Killed)], (2, 1024)), "it is held until it ends");
    let message = "killed on order, with exit code 143";
    assert_eq!(ended, [changed(1, ExecutorState::Killed, message, Some(143))]);
    assert_eq!(harness.worker.held(), (0, 0));
}

/// Behaviours: WORK-014.
#[test]
fn a_process_that_does_not_obey_is_destroyed_and_then_given_up() {
    let mut harness = Harness::connected();
    let process = harness.run_executor(1);
    harness.kill(1);

    let done = harness.pass_quietly(secs(60));
    let late = harness.exit(process, 0);

    let owner = ProcessOwner::Executor(key(1));
    let message = "killed on order, but its process did not end";
    let expected = [
        (secs(10), signal(process, ProcessSignal::Destroy)),
        (secs(20), WorkerEffect::Orphaned { process, owner }),
        (secs(20), changed(1, ExecutorState::Killed, message, None)),
    ];
    assert_eq!(done, expected);
    assert_eq!(late, [ignored(WorkerIgnored::UnknownProcess { process })]);
    assert_eq!(harness.worker.held(), (0, 0));
}

/// Behaviours: WORK-014.
#[test]
fn a_process_that_ends_in_time_is_not_destroyed() {
    let mut harness = Harness::connected();
    let process = harness.run_executor(1);
    harness.kill(1);
    harness.pass(secs(9));

    harness.exit(process, 143);
    harness.acknowledge(1, ExecutorState::Killed);

    assert_eq!(harness.pass_quietly(secs(60)), []);
}

/// Behaviours: WORK-014.
#[test]
fn a_driver_that_does_not_obey_is_destroyed_and_then_given_up() {
    let mut harness = Harness::connected();
    let process = harness.run_driver(driver(true));

    let ordered = harness.hear("m1", MasterToWorker::KillDriver { driver: "driver-1".into() });
    let done = harness.pass_quietly(secs(60));

    assert_eq!(ordered, [signal(process, ProcessSignal::Terminate)]);
    let owner = ProcessOwner::Driver("driver-1".into());
    let expected = [
        (secs(10), signal(process, ProcessSignal::Destroy)),
        (secs(20), WorkerEffect::Orphaned { process, owner }),
        (secs(20), driver_ended(DriverState::Killed, None)),
    ];
    assert_eq!(done, expected);
}

/// Behaviours: WORK-006.
#[test]
fn an_executor_killed_before_its_process_was_ordered_never_starts() {
    let mut harness = Harness::connected();
    let process = created_process(&harness.launch(1));

    let ordered = harness.kill(1);
    let late = harness.dirs_created(process);

    assert_eq!(ordered, [changed(1, ExecutorState::Killed, "killed before it started", None)]);
    assert_eq!(late, [ignored(WorkerIgnored::UnknownProcess { process })]);
    assert_eq!(harness.worker.held(), (0, 0));
}

/// Behaviours: WORK-006.
#[test]
fn an_executor_killed_while_its_process_starts_is_ended_as_soon_as_it_runs() {
    let mut harness = Harness::connected();
    let process = created_process(&harness.launch(1));
    harness.dirs_created(process);

    let ordered = harness.kill(1);
    let started = harness.send(WorkerEvent::ProcessStarted { process });

    assert_eq!(ordered, []);
    assert_eq!(started, [signal(process, ProcessSignal::Terminate)], "it is never reported as running");
}

/// Behaviours: WORK-006.
#[test]
fn an_executor_killed_while_its_process_fails_to_start_counts_as_killed() {
    let mut harness = Harness::connected();
    let process = created_process(&harness.launch(1));
    harness.dirs_created(process);
    harness.kill(1);

    let effects = harness.send(WorkerEvent::ProcessFailed { process, message: "no memory".to_owned() });

    assert_eq!(effects, [changed(1, ExecutorState::Killed, "no memory", None)]);
}

#[test]
fn repeated_kills_and_kills_of_the_unknown_change_nothing() {
    let mut harness = Harness::connected();
    let process = harness.run_executor(1);
    harness.kill(1);

    assert_eq!(harness.kill(1), [ignored(WorkerIgnored::AlreadyKilled { process })]);
    assert_eq!(harness.kill(2), [ignored(WorkerIgnored::UnknownExecutor { executor: key(2) })]);
    let unknown = harness.hear("m1", MasterToWorker::KillDriver { driver: "driver-9".into() });
    assert_eq!(unknown, [ignored(WorkerIgnored::UnknownDriver { driver: "driver-9".into() })]);
}
