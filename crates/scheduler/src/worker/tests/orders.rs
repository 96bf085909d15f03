//! Whose orders count, changed masters, and draining.

use super::*;

/// Behaviours: WORK-004.
#[test]
fn a_changed_master_gets_everything_that_runs_here() {
    let mut harness = Harness::connected();
    harness.run_executor(1);
    harness.launch(2);
    harness.run_driver(driver(false));

    let effects = harness.hear("m2", MasterToWorker::MasterChanged);

    let executors = [(1, ExecutorState::Running), (2, ExecutorState::Launching)];
    let list = WorkerToMaster::SchedulerState(state(&executors, &["driver-1"]));
    assert_eq!(effects, [to_master("m2", list)]);
    assert_eq!(harness.pass(secs(15)), [(secs(15), heartbeat_to("m2"))]);
}

/// Behaviours: WORK-004.
#[test]
fn a_changed_master_ends_the_search_for_one() {
    let mut harness = Harness::connected();
    harness.lose("m1");

    let effects = harness.hear("m2", MasterToWorker::MasterChanged);

    assert_eq!(effects, [to_master("m2", WorkerToMaster::SchedulerState(state(&[], &[])))]);
    assert_eq!(harness.pass(secs(15)), [(secs(15), heartbeat_to("m2"))]);
}

/// Behaviours: WORK-004.
#[test]
fn a_worker_that_was_never_registered_also_registers_with_a_changed_master() {
    let mut harness = Harness::registering(config());

    let effects = harness.hear("m2", MasterToWorker::MasterChanged);
    let retry = harness.pass(secs(14)).remove(0).1;
    let then = harness.registered("m2");

    let list = |kind: fn(WorkerReport) -> WorkerToMaster| to_master("m2", kind(state(&[], &[])));
    assert_eq!(effects, [list(WorkerToMaster::SchedulerState), register_at("m2")]);
    assert_eq!(retry, register_at("m2"));
    assert_eq!(then, [list(WorkerToMaster::LatestState), heartbeat_to("m2")]);
}

/// Behaviours: WORK-004.
#[test]
fn orders_from_a_master_that_is_not_active_are_ignored() {
    let mut harness = Harness::connected();
    harness.run_executor(1);
    harness.run_driver(driver(false));
    harness.hear("m2", MasterToWorker::MasterChanged);
    let orders = [
        MasterToWorker::LaunchExecutor(Box::new(launch(2))),
        MasterToWorker::KillExecutor { executor: key(1) },
        MasterToWorker::LaunchDriver(Box::new(DriverLaunch { driver: "driver-2".into(), ..driver(false) })),
        MasterToWorker::KillDriver { driver: "driver-1".into() },
        MasterToWorker::ApplicationFinished { app: "app-1".into() },
        MasterToWorker::ReconnectWorker,
        MasterToWorker::DecommissionWorker,
        MasterToWorker::ExecutorStateAck { executor: key(1), state: ExecutorState::Running },
        MasterToWorker::DriverStateAck { driver: "driver-1".into() },
    ];

    for order in orders {
        let effects = harness.hear("m1", order.clone());

        let reason = WorkerIgnored::NotActiveMaster { master: "m1".into() };
        assert_eq!(effects, [ignored(reason)], "{order:?}");
    }
    assert_eq!(harness.live_executors(), [(key(1), ExecutorState::Running)]);
}

/// Behaviours: WORK-002.
#[test]
fn a_worker_told_to_reconnect_registers_again() {
    let mut harness = Harness::connected();

    let effects = harness.hear("m1", MasterToWorker::ReconnectWorker);
    let again = harness.hear("m1", MasterToWorker::ReconnectWorker);

    assert_eq!(effects, [register_at("m1"), register_at("m2")]);
    assert_eq!(again, [ignored(WorkerIgnored::AlreadyRegistering)]);
}

/// Behaviours: WORK-005.
#[test]
fn a_decommissioned_worker_starts_drivers_but_no_executors() {
    let mut harness = Harness::connected_with(WorkerConfig { decommission_enabled: true, ..config() });
    harness.run_executor(1);

    assert_eq!(harness.hear("m1", MasterToWorker::DecommissionWorker), []);

    let refused = changed(2, ExecutorState::Failed, "the worker is decommissioned", None);
    assert_eq!(harness.launch(2), [refused], "so that the master does not count on it");
    assert_eq!(harness.live_executors(), [(key(1), ExecutorState::Running)], "what runs goes on");
    harness.run_driver(driver(false));
    let again = harness.hear("m1", MasterToWorker::DecommissionWorker);
    assert_eq!(again, [ignored(WorkerIgnored::AlreadyDecommissioned)]);
}

#[test]
fn a_signal_to_drain_is_passed_on_to_the_master() {
    let mut harness = Harness::connected_with(WorkerConfig { decommission_enabled: true, ..config() });

    let effects = harness.send(WorkerEvent::DecommissionSignalled);

    assert_eq!(effects, [to_master("m1", WorkerToMaster::WorkerDecommissioning { worker: WORKER.into() })]);
}

#[test]
fn a_signal_to_drain_without_a_master_is_passed_on_when_there_is_one() {
    let mut harness = Harness::registering(WorkerConfig { decommission_enabled: true, ..config() });

    assert_eq!(harness.send(WorkerEvent::DecommissionSignalled), []);
    let effects = harness.registered("m1");

    let list = WorkerToMaster::LatestState(state(&[], &[]));
    let drains = WorkerToMaster::WorkerDecommissioning { worker: WORKER.into() };
    assert_eq!(effects, [to_master("m1", list), to_master("m1", drains), heartbeat_to("m1")]);
}

#[test]
fn draining_must_be_enabled() {
    let mut harness = Harness::connected();

    let effects = harness.send(WorkerEvent::DecommissionSignalled);

    assert_eq!(effects, [ignored(WorkerIgnored::DecommissionDisabled)]);
    created_process(&harness.launch(1));
}
