//! Workers: registration, heartbeats, silence and loss.

use std::time::Duration;

use firesteel_types::{AppId, ExecutorId, ProfileId, WorkerId};

use super::{super::*, harness::*};
use crate::deploy::*;

fn register(cluster: &mut Cluster, peer: Peer, worker: WorkerDescription) -> Vec<MasterEffect> {
    cluster.register(peer, worker)
}

fn registered(peer: Peer, duplicate: bool) -> MasterEffect {
    let message = MasterToWorker::RegisteredWorker { contacted: MASTER_ADDRESS.into(), duplicate };
    MasterEffect::ToWorker { peer, message }
}

fn heartbeat(cluster: &mut Cluster, number: u32) -> Vec<MasterEffect> {
    cluster.hear(CLIENT, WorkerToMaster::Heartbeat { worker: w(number) })
}

/// A worker's list with these executors and drivers.
fn list(worker: WorkerId, executors: &[(&AppId, u32)], drivers: &[&str]) -> WorkerToMaster {
    let executors = executors.iter().map(|&(app, executor)| ExecutorReport {
        executor: key(app, executor),
        profile: ProfileId::DEFAULT,
        grant: grant(1, 1),
        state: ExecutorState::Running,
    });
    let drivers = drivers.iter().map(|&driver| DriverReport { driver: driver.into(), grant: grant(1, 1) });
    WorkerToMaster::LatestState(WorkerReport {
        worker,
        executors: executors.collect(),
        drivers: drivers.collect(),
    })
}

/// A master that recovers worker 0 (of 10 cores, on connection 500) and nothing else.
fn recovering() -> Cluster {
    let mut cluster = standby(MasterConfig::default());
    let worker = worker(0, 10, 512);
    cluster.store.insert(ObjectName::Worker(w(0)), StoredObject::Worker(worker.clone()));
    cluster.send(MasterEvent::Elected);
    cluster.send(MasterEvent::Recovered {
        apps: vec![],
        drivers: vec![],
        workers: vec![(worker, Peer(500))],
    });
    cluster
}

/// Behaviours: MAST-012, MAST-013, MAST-026.
#[test]
fn a_new_worker_is_stored_and_told_the_address_it_used() {
    let mut cluster = alive(MasterConfig::default());

    let effects = register(&mut cluster, Peer(1), worker(0, 10, 512));

    let stored = MasterEffect::Persist(StoredObject::Worker(worker(0, 10, 512)));
    assert_eq!(effects, [stored, registered(Peer(1), false)]);
}

/// Behaviours: MAST-012.
#[test]
fn a_known_worker_is_a_duplicate_and_moves_to_its_new_connection() {
    let mut cluster = cluster(1);
    let app = cluster.app(app(None, 128));
    let old = cluster.worker_info(0).peer;

    let again = register(&mut cluster, Peer(50), worker(0, 10, 512));
    let late_loss = cluster.send(MasterEvent::Disconnected { peer: old });

    assert_eq!(again, [registered(Peer(50), true)]);
    assert_eq!(late_loss, [ignored(IgnoredReason::UnknownPeer { peer: old })]);
    assert_eq!(cluster.cores(&app), [10]);
}

/// Behaviours: MAST-012.
#[test]
fn a_known_worker_that_was_unknown_to_the_new_master_is_alive_again() {
    let mut cluster = recovering();
    assert_eq!(cluster.worker_info(0).state, WorkerState::Unknown);

    let effects = register(&mut cluster, Peer(1), worker(0, 10, 512));

    // What it runs is still to be heard, and the question may have gone to a connection it does not have.
    let asked = MasterEffect::ToWorker { peer: Peer(1), message: MasterToWorker::MasterChanged };
    assert_eq!(effects, [registered(Peer(1), true), asked]);
    assert_eq!(cluster.worker_info(0).state, WorkerState::Alive);
    assert_eq!(cluster.state(), RecoveryState::Recovering);
}

/// Behaviours: MAST-012.
#[test]
fn a_new_id_at_an_address_in_use_is_refused() {
    let mut cluster = cluster(1);
    let impostor = WorkerDescription { id: "w9".into(), ..worker(0, 4, 128) };

    let effects = register(&mut cluster, Peer(50), impostor);

    let message = "a worker at h0:7078 is registered already".to_owned();
    let message = MasterToWorker::RegisterWorkerFailed { message };
    assert_eq!(effects, [MasterEffect::ToWorker { peer: Peer(50), message }]);
    assert_eq!(cluster.workers().count(), 1);
}

/// Behaviours: MAST-012.
#[test]
fn a_new_id_replaces_an_unknown_worker_at_its_address() {
    let mut cluster = recovering();
    let restarted = WorkerDescription { id: "w9".into(), ..worker(0, 4, 128) };

    let effects = register(&mut cluster, Peer(1), restarted.clone());

    assert_eq!(
        effects,
        [
            MasterEffect::Forget(ObjectName::Worker(w(0))),
            MasterEffect::Persist(StoredObject::Worker(restarted)),
            registered(Peer(1), false),
        ]
    );
    assert_eq!(cluster.workers().map(|worker| worker.id().clone()).collect::<Vec<_>>(), ["w9".into()]);
}

/// Behaviours: MAST-012.
#[test]
fn dead_workers_at_the_same_address_are_forgotten() {
    let mut cluster = cluster(2);
    cluster.disconnect_worker(0);
    cluster.disconnect_worker(1);
    let restarted = WorkerDescription { id: "w9".into(), ..worker(0, 4, 128) };

    register(&mut cluster, Peer(50), restarted);

    let dead: Vec<_> = cluster.dead_workers().map(|dead| dead.description.id.clone()).collect();
    assert_eq!(dead, [w(1)]);
}

/// Behaviours: MAST-014.
#[test]
fn a_silent_worker_is_dead_at_the_next_check_and_listed_for_sixteen_minutes() {
    let minutes = |minutes| Duration::from_mins(minutes);
    let mut cluster = alive(MasterConfig::default()); // Checks come at every full minute.
    cluster.wait(Duration::from_secs(30));
    cluster.worker(worker(0, 10, 512));

    cluster.wait(minutes(1)); // 1:30, silent for exactly 60 s.
    assert_eq!((cluster.workers().count(), cluster.dead_workers().count()), (1, 0));
    cluster.wait(Duration::from_secs(30)); // The check at 2:00.
    assert_eq!((cluster.workers().count(), cluster.dead_workers().count()), (0, 1));
    cluster.wait(minutes(14)); // The check at 16:00, 15:30 after the last sign of life.
    assert_eq!(cluster.dead_workers().count(), 1);
    cluster.wait(minutes(1)); // The check at 17:00.
    assert_eq!(cluster.dead_workers().count(), 0);
}

/// Behaviours: MAST-014.
#[test]
fn heartbeats_keep_a_worker_and_call_a_dead_one_back() {
    let mut cluster = cluster(2);
    for _ in 0..10 {
        cluster.wait(Duration::from_secs(15));
        assert_eq!(heartbeat(&mut cluster, 0), []);
    }

    assert_eq!(cluster.workers().map(|worker| worker.id().clone()).collect::<Vec<_>>(), [w(0)]);
    assert_eq!(heartbeat(&mut cluster, 1), [to_reporter(MasterToWorker::ReconnectWorker)]);
    assert_eq!(heartbeat(&mut cluster, 7), [ignored(IgnoredReason::UnknownWorker { worker: w(7) })]);
}

/// Behaviours: MAST-015.
#[test]
fn a_lost_worker_takes_its_executors_and_drivers_with_it() {
    let mut cluster = alive(MasterConfig::default());
    cluster.worker(worker(0, 12, 512));
    let ends = cluster.driver(driver(1, 1));
    let runs_again = cluster.driver(DriverDescription { supervise: true, ..driver(1, 1) });
    let app = cluster.app(app(None, 128));
    let other = cluster.app(AppDescription { executor_limit: Some(0), ..super::harness::app(None, 1) });

    let effects = cluster.disconnect_worker(0);

    let lost = AppMessage::ExecutorUpdated {
        executor: ExecutorId(0),
        state: ExecutorState::Lost,
        message: Some("worker lost: connection lost".to_owned()),
        exit_code: None,
        worker_host: Some("h0".into()),
    };
    let removed =
        AppMessage::WorkerRemoved { worker: w(0), host: "h0".into(), message: "connection lost".to_owned() };
    let new_driver = StoredDriver {
        id: "driver-20260101000000-0002".into(),
        submitted: START,
        description: DriverDescription { supervise: true, ..driver(1, 1) },
    };
    assert_eq!(
        effects,
        [
            to_app(&app, lost),
            MasterEffect::Forget(ObjectName::Driver(ends.clone())),
            MasterEffect::Persist(StoredObject::Driver(new_driver.clone())),
            MasterEffect::Forget(ObjectName::Driver(runs_again)),
            to_app(&app, removed.clone()),
            to_app(&other, removed),
            MasterEffect::Forget(ObjectName::Worker(w(0))),
        ]
    );
    let in_error = DriverStatus::Ended { state: DriverState::Error, worker: Some(w(0)), error: None };
    assert_eq!(cluster.status(&ends), Some(in_error));
    assert_eq!(cluster.status(&new_driver.id), Some(DriverStatus::Submitted));
}

/// Behaviours: MAST-015.
#[test]
fn the_executors_of_a_lost_worker_are_replaced_elsewhere() {
    let mut cluster = cluster(2);
    let app = cluster.app(AppDescription { cores_max: Some(4), executor_limit: Some(1), ..app(None, 128) });
    assert_eq!(cluster.cores(&app), [0, 4]);

    cluster.disconnect_worker(1);

    assert_eq!(cluster.cores(&app), [4]);
    assert_eq!(cluster.app_info(&app).executors.keys().collect::<Vec<_>>(), [&ExecutorId(1)]);
}

/// Behaviours: MAST-020.
#[test]
fn a_worker_must_kill_what_the_master_does_not_know() {
    let mut cluster = cluster(1);
    let known_driver = cluster.driver(driver(1, 1));
    let app = cluster.app(app(None, 128));
    let stranger = AppId::from("app-x");

    let executors = [(&app, 0), (&app, 1), (&stranger, 0)];
    let drivers = [known_driver.as_str(), "driver-x"];
    let effects = cluster.hear(worker_peer(0), list(w(0), &executors, &drivers));

    let kill = |app: &AppId, id| to_worker(0, MasterToWorker::KillExecutor { executor: key(app, id) });
    let kill_driver = to_worker(0, MasterToWorker::KillDriver { driver: "driver-x".into() });
    assert_eq!(effects, [kill(&app, 1), kill(&stranger, 0), kill_driver]);
}

/// Behaviours: MAST-020.
#[test]
fn lists_of_unknown_workers_and_of_those_yet_to_be_heard_kill_nothing() {
    let mut cluster = recovering();
    register(&mut cluster, Peer(1), worker(0, 10, 512));
    let stranger = AppId::from("app-x");

    let of_unknown = cluster.hear(Peer(1), list(w(7), &[(&stranger, 0)], &[]));
    let of_owing = cluster.hear(Peer(1), list(w(0), &[(&stranger, 0)], &[]));

    assert_eq!(of_unknown, [ignored(IgnoredReason::UnknownWorker { worker: w(7) })]);
    assert_eq!(of_owing, [ignored(IgnoredReason::WorkerOwesState { worker: w(0) })]);
}

/// Behaviours: MAST-012, MAST-020.
#[test]
fn orders_that_were_lost_with_a_connection_are_given_up_once_the_worker_lists_what_it_runs() {
    let mut cluster = cluster(1);
    let driver_id = cluster.driver(driver(1, 1));
    let app = cluster.app(AppDescription { executor_limit: Some(2), ..app(2, 128) });
    register(&mut cluster, Peer(50), worker(0, 10, 512));

    let on_the_old_one = cluster.hear(worker_peer(0), list(w(0), &[], &[]));
    let effects = cluster.hear(Peer(50), list(w(0), &[(&app, 1)], &[]));
    let again = cluster.hear(Peer(50), list(w(0), &[(&app, 1)], &[]));

    assert_eq!(on_the_old_one, [ignored(IgnoredReason::OldConnection { worker: w(0) })]);
    let lost = AppMessage::ExecutorUpdated {
        executor: ExecutorId(0),
        state: ExecutorState::Lost,
        message: Some("the order to start it was lost".to_owned()),
        exit_code: None,
        worker_host: None,
    };
    let to = |message| MasterEffect::ToWorker { peer: Peer(50), message };
    let driver_launch = MasterToWorker::LaunchDriver(Box::new(DriverLaunch {
        driver: driver_id.clone(),
        grant: grant(1, 1),
        supervise: false,
        command: driver(1, 1).command,
    }));
    let added = AppMessage::ExecutorAdded {
        executor: ExecutorId(2),
        worker: w(0),
        host: "h0".into(),
        port: 7078,
        cores: 2,
        memory_mib: 128,
    };
    assert_eq!(
        effects,
        [to_app(&app, lost), to(driver_launch), to(launch(&app, 2, grant(2, 128))), to_app(&app, added)]
    );
    assert_eq!(again, [], "what was ordered on this connection is on its way");
    assert_eq!(cluster.status(&driver_id), Some(DriverStatus::Running { worker: w(0) }));
}

/// Behaviours: MAST-016, MAST-020.
#[test]
fn numbers_that_another_master_gave_out_are_not_given_again() {
    let mut cluster = cluster(0);
    let app = cluster.app(AppDescription { executor_limit: Some(1), ..app(5, 128) });
    register(&mut cluster, Peer(1), worker(0, 10, 512));

    cluster.report_from(w(0), key(&app, 7), ExecutorState::Exited, Some(1));
    cluster.report_from(w(0), key(&app, u32::MAX), ExecutorState::Exited, Some(1));
    let before = cluster.app_info(&app).executors.len();
    cluster.hear(Peer(1), list(w(0), &[(&app, 3)], &[]));

    assert_eq!(before, 0, "a worker gets nothing to do before its list");
    assert_eq!(cluster.app_info(&app).executors.keys().collect::<Vec<_>>(), [&ExecutorId(8)]);
}

/// Behaviours: MAST-016.
#[test]
fn a_worker_speaks_only_of_its_own_executors_and_drivers() {
    let mut cluster = cluster(2);
    let driver_id = cluster.driver(driver(1, 1));
    let app = cluster.app(AppDescription { executor_limit: Some(1), ..app(5, 128) });
    let holder = cluster.app_info(&app).executors[&ExecutorId(0)].clone();
    let other = if holder == w(0) { w(1) } else { w(0) };

    let of_executor = cluster.report_from(other, key(&app, 0), ExecutorState::Exited, Some(1));
    let place = cluster.drivers().next().unwrap().worker().cloned();
    let stranger = if place == Some(w(0)) { w(1) } else { w(0) };
    let change = DriverStateChange { driver: driver_id.clone(), state: DriverState::Failed, error: None };
    let of_driver =
        cluster.hear(CLIENT, WorkerToMaster::DriverStateChanged { worker: stranger.clone(), change });

    let unknown = ignored(IgnoredReason::UnknownExecutor { executor: key(&app, 0) });
    assert_eq!(of_executor, [unknown, acked(&app, 0, ExecutorState::Exited)]);
    let not_there = IgnoredReason::DriverNotThere { driver: driver_id.clone(), worker: stranger };
    let heard = to_reporter(MasterToWorker::DriverStateAck { driver: driver_id });
    assert_eq!(of_driver, [ignored(not_there), heard]);
    assert_eq!((cluster.app_info(&app).executors.len(), cluster.drivers().count()), (1, 1));
}
