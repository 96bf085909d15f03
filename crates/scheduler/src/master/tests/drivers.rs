//! Drivers: placing, killing, asking, ending.

use std::{collections::BTreeMap, time::Duration};

use firesteel_types::{DriverId, ExecutorId};

use super::{super::*, harness::*};
use crate::deploy::*;

fn config(driver_placement: Placement, max_drivers: Option<u32>) -> MasterConfig {
    MasterConfig { max_drivers, driver_placement, ..MasterConfig::default() }
}

fn drivers_by_worker(cluster: &Cluster) -> Vec<usize> {
    cluster.workers().map(|worker| worker.drivers.len()).collect()
}

fn waiting(cluster: &Cluster) -> usize {
    cluster.drivers().filter(|driver| driver.place == DriverPlace::Waiting).count()
}

fn killed(cluster: &mut Cluster, driver: &DriverId) -> Vec<MasterEffect> {
    cluster.send(MasterEvent::RequestKillDriver { peer: CLIENT, driver: driver.clone() })
}

fn ended(cluster: &mut Cluster, driver: &DriverId, end: DriverState) -> Vec<MasterEffect> {
    let error = (end == DriverState::Error).then(|| "no such file".to_owned());
    let change = DriverStateChange { driver: driver.clone(), state: end, error };
    let worker = cluster.drivers().find(|info| info.id() == driver).and_then(|info| info.worker().cloned());
    let worker = worker.unwrap_or_else(|| w(0));
    cluster.hear(CLIENT, WorkerToMaster::DriverStateChanged { worker, change })
}

fn end_acked(driver: &DriverId) -> MasterEffect {
    to_reporter(MasterToWorker::DriverStateAck { driver: driver.clone() })
}

/// Behaviours: MAST-010.
#[test]
fn drivers_are_spread_out_over_the_workers() {
    let mut cluster = alive(config(Placement::SpreadOut, None));
    cluster.worker(worker(9, 10, 512));
    for _ in 0..6 {
        cluster.driver(DriverDescription { supervise: true, ..driver(1, 1) });
    }
    for number in 0..3 {
        cluster.worker(worker(number, 10, 512));
    }

    // All six are placed again in one pass.
    cluster.disconnect_worker(9);

    assert_eq!(drivers_by_worker(&cluster), [2, 2, 2]);
}

/// Behaviours: MAST-010.
#[test]
fn packed_drivers_go_to_the_first_worker_that_fits() {
    let mut cluster = cluster_with(config(Placement::Packed, None), 3);

    cluster.driver(driver(6, 1));
    cluster.driver(driver(6, 1));
    cluster.driver(driver(4, 1));

    assert_eq!(drivers_by_worker(&cluster), [2, 1, 0]);
    assert_eq!(cluster.worker_info(0).cores_free(), 0);
}

/// Behaviours: MAST-010.
#[test]
fn the_seed_decides_which_worker_is_asked_first() {
    let first_worker = |seed| {
        let mut cluster = cluster(0);
        cluster.master = Master::new(MasterConfig::default(), seed).unwrap();
        cluster.send(MasterEvent::Elected);
        cluster.send(MasterEvent::Recovered { apps: vec![], drivers: vec![], workers: vec![] });
        for number in 0..5 {
            cluster.worker(worker(number, 10, 512));
        }
        cluster.driver(driver(1, 1));
        drivers_by_worker(&cluster)
    };

    let places: Vec<_> = (0..20).map(first_worker).collect();

    assert!(places.iter().any(|place| place != &places[0]), "the order is shuffled");
    assert_eq!(places[3], first_worker(3));
}

/// Behaviours: MAST-010.
#[test]
fn a_driver_that_fits_nowhere_waits_and_lets_smaller_ones_pass() {
    for placement in [Placement::SpreadOut, Placement::Packed] {
        let mut cluster = cluster_with(config(placement, None), 2);

        let large = cluster.driver(driver(11, 1));
        let small = cluster.driver(driver(1, 1));

        assert_eq!(cluster.status(&large), Some(DriverStatus::Submitted));
        assert!(matches!(cluster.status(&small), Some(DriverStatus::Running { .. })));
        cluster.worker(worker(7, 11, 512));
        assert_eq!(cluster.status(&large), Some(DriverStatus::Running { worker: w(7) }));
    }
}

/// Behaviours: MAST-010.
#[test]
fn at_most_the_allowed_number_of_drivers_run() {
    for placement in [Placement::SpreadOut, Placement::Packed] {
        let mut cluster = cluster_with(config(placement, Some(4)), 3);
        let drivers: Vec<DriverId> = (0..6).map(|_| cluster.driver(driver(1, 1))).collect();
        assert_eq!((cluster.drivers().count(), waiting(&cluster)), (6, 2));

        ended(&mut cluster, &drivers[0], DriverState::Finished);

        assert_eq!((cluster.drivers().count(), waiting(&cluster)), (5, 1));
    }
}

/// Behaviours: MAST-021.
#[test]
fn clients_are_served_only_by_a_master_that_is_alive() {
    let mut cluster = standby(MasterConfig::default());
    let driver_id = DriverId::from("driver-0");
    let peer = CLIENT;

    for event in [
        MasterEvent::RequestSubmitDriver { peer, driver: driver(1, 1) },
        MasterEvent::RequestKillDriver { peer, driver: driver_id.clone() },
        MasterEvent::RequestKillAllDrivers { peer },
        MasterEvent::RequestDriverStatus { peer, driver: driver_id },
    ] {
        let effects = cluster.send(event);
        assert_eq!(effects, [to_client(Reply::NotAlive { state: RecoveryState::Standby })]);
    }
    assert_eq!(cluster.drivers().count(), 0);
}

/// Behaviours: MAST-021.
#[test]
fn a_submitted_driver_is_stored_launched_and_answered() {
    let mut cluster = cluster(1);

    let effects = cluster.send(MasterEvent::RequestSubmitDriver { peer: CLIENT, driver: driver(2, 64) });

    let id = DriverId::from("driver-20260101000000-0000");
    let stored = StoredDriver { id: id.clone(), submitted: START, description: driver(2, 64) };
    let launch = MasterToWorker::LaunchDriver(Box::new(DriverLaunch {
        driver: id.clone(),
        grant: grant(2, 64),
        supervise: false,
        command: stored.description.command.clone(),
    }));
    assert_eq!(
        effects,
        [
            MasterEffect::Persist(StoredObject::Driver(stored)),
            to_client(Reply::DriverSubmitted { driver: id }),
            to_worker(0, launch),
        ]
    );
}

/// Behaviours: MAST-021.
#[test]
fn killing_removes_a_waiting_driver_and_asks_the_worker_of_a_running_one() {
    let mut cluster = cluster(1);
    let running = cluster.driver(driver(8, 1));
    let waits = cluster.driver(driver(8, 1));
    let unknown = DriverId::from("driver-x");

    let of_waiting = killed(&mut cluster, &waits);
    let of_running = killed(&mut cluster, &running);
    let of_unknown = killed(&mut cluster, &unknown);

    let answer =
        |driver: &DriverId, accepted| to_client(Reply::DriverKilled { driver: driver.clone(), accepted });
    assert_eq!(of_waiting, [MasterEffect::Forget(ObjectName::Driver(waits.clone())), answer(&waits, true)]);
    let kill = MasterToWorker::KillDriver { driver: running.clone() };
    assert_eq!(of_running, [to_worker(0, kill), answer(&running, true)]);
    assert_eq!(of_unknown, [answer(&unknown, false)]);
    let ended_as_killed = DriverStatus::Ended { state: DriverState::Killed, worker: None, error: None };
    assert_eq!(cluster.status(&waits), Some(ended_as_killed));
    assert_eq!(cluster.status(&running), Some(DriverStatus::Running { worker: w(0) }));
    ended(&mut cluster, &running, DriverState::Killed);
    assert!(cluster.is_quiescent());
}

/// Behaviours: MAST-021.
#[test]
fn killing_all_drivers_reaches_waiting_and_running_ones() {
    let mut cluster = cluster(1);
    let running = cluster.driver(driver(8, 1));
    let waits = cluster.driver(driver(8, 1));

    let effects = cluster.send(MasterEvent::RequestKillAllDrivers { peer: CLIENT });

    assert_eq!(
        effects,
        [
            to_worker(0, MasterToWorker::KillDriver { driver: running }),
            MasterEffect::Forget(ObjectName::Driver(waits)),
            to_client(Reply::AllDriversKilled),
        ]
    );
}

/// Behaviours: MAST-021.
#[test]
fn the_status_of_ended_drivers_is_known_for_two_hundred() {
    let mut cluster = cluster(1);
    let drivers: Vec<DriverId> = (0..201)
        .map(|_| {
            let id = cluster.driver(driver(1, 1));
            ended(&mut cluster, &id, DriverState::Error);
            id
        })
        .collect();

    // The 201st found the history full, and the oldest 20 made room.
    assert_eq!(cluster.completed_drivers().count(), 181);
    assert_eq!(cluster.status(&drivers[19]), None);
    let error = Some("no such file".to_owned());
    let status = DriverStatus::Ended { state: DriverState::Error, worker: Some(w(0)), error };
    assert_eq!(cluster.status(&drivers[20]), Some(status));
    cluster.send(MasterEvent::RequestClearCompleted { peer: CLIENT });
    assert_eq!(cluster.completed_drivers().count(), 0);
}

#[test]
fn ends_of_unknown_and_waiting_drivers_are_ignored() {
    let mut cluster = cluster(0);
    let waits = cluster.driver(driver(1, 1));
    let unknown = DriverId::from("driver-x");

    let of_waiting = ended(&mut cluster, &waits, DriverState::Finished);
    let of_unknown = ended(&mut cluster, &unknown, DriverState::Finished);

    let not_there = IgnoredReason::DriverNotThere { driver: waits.clone(), worker: w(0) };
    assert_eq!(of_waiting, [ignored(not_there), end_acked(&waits)]);
    let unknown_driver = IgnoredReason::UnknownDriver { driver: unknown.clone() };
    assert_eq!(of_unknown, [ignored(unknown_driver), end_acked(&unknown)]);
}

/// Behaviours: MAST-027.
#[test]
fn drivers_and_executors_share_a_workers_addresses_and_give_them_back() {
    let mut cluster = alive(MasterConfig::default());
    cluster.worker(with_gpus(worker(0, 10, 2_048), &["g0", "g1", "g2", "g3", "g4", "g5"]));
    let three = BTreeMap::from([("gpu".into(), 3)]);
    let driver = cluster.driver(DriverDescription { resources: three.clone(), ..driver(1, 512) });
    let mut description = app(1, 512);
    description.executor.resources = three;

    let app = cluster.app(description);

    let info = cluster.worker_info(0);
    assert_eq!(info.drivers[&driver].addresses, addresses("gpu", &["g0", "g1", "g2"]));
    let executors: Vec<_> =
        info.executors.iter().map(|(key, desc)| (key.executor, &desc.grant.addresses)).collect();
    assert_eq!(executors, [(ExecutorId(0), &addresses("gpu", &["g3", "g4", "g5"]))]);

    // The driver's addresses go to the application when it ends.
    ended(&mut cluster, &driver, DriverState::Finished);
    let second = &cluster.worker_info(0).executors[&key(&app, 1)];
    assert_eq!(second.grant.addresses, addresses("gpu", &["g0", "g1", "g2"]));
    cluster.send(MasterEvent::UnregisterApplication { app });
    assert!(cluster.is_quiescent());
}

/// Behaviours: MAST-015.
#[test]
fn a_relaunched_driver_is_not_ended_by_the_report_of_the_old_one() {
    let mut cluster = cluster(1);
    let old = cluster.driver(DriverDescription { supervise: true, ..driver(1, 1) });
    cluster.disconnect_worker(0);
    cluster.worker(worker(1, 10, 512));
    cluster.wait(Duration::from_secs(1));

    let late = ended(&mut cluster, &old, DriverState::Killed);

    assert_eq!(late, [ignored(IgnoredReason::UnknownDriver { driver: old.clone() }), end_acked(&old)]);
    let new_id = DriverId::from("driver-20260101000000-0001");
    assert_eq!(cluster.status(&new_id), Some(DriverStatus::Running { worker: w(1) }));
    assert_eq!(cluster.status(&old), Some(DriverStatus::Relaunched { worker: Some(w(0)), new_id }));
}
