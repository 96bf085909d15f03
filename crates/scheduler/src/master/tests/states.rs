//! States of the master, its settings, and ids.

use firesteel_types::AppId;

use super::{super::*, harness::*};
use crate::deploy::*;

fn config(change: impl FnOnce(&mut MasterConfig)) -> MasterConfig {
    let mut config = MasterConfig::default();
    change(&mut config);
    config
}

/// Behaviours: MAST-001.
#[test]
fn a_standby_master_ignores_applications_and_sends_workers_away() {
    let mut cluster = standby(MasterConfig::default());
    let peer = cluster.peer();

    let to_app = cluster.send(MasterEvent::RegisterApplication { peer, app: app(None, 128) });
    let to_worker = cluster.register(peer, worker(0, 10, 512));
    let to_leaver = cluster.hear(peer, WorkerToMaster::WorkerDecommissioning { worker: w(0) });

    assert_eq!(to_app, [ignored(IgnoredReason::NotLeading)]);
    let in_standby = MasterEffect::ToWorker { peer, message: MasterToWorker::MasterInStandby };
    assert_eq!(to_worker, std::slice::from_ref(&in_standby));
    assert_eq!(to_leaver, [in_standby]);
    assert_eq!(cluster.state(), RecoveryState::Standby);
    assert_eq!((cluster.apps().count(), cluster.workers().count()), (0, 0));
}

/// Behaviours: MAST-001, MAST-023.
#[test]
fn an_elected_master_with_nothing_stored_is_alive_at_once() {
    let mut cluster = standby(MasterConfig::default());

    let elected = cluster.send(MasterEvent::Elected);
    let state_while_loading = cluster.state();
    let recovered = cluster.send(MasterEvent::Recovered { apps: vec![], drivers: vec![], workers: vec![] });

    assert_eq!(elected, [MasterEffect::LoadStored]);
    assert_eq!(state_while_loading, RecoveryState::Standby);
    assert_eq!(recovered, []);
    assert_eq!(cluster.state(), RecoveryState::Alive);
}

/// Behaviours: MAST-001.
#[test]
fn nothing_is_scheduled_while_recovering() {
    let mut cluster = standby(MasterConfig::default());
    let stored = (worker(9, 10, 512), Peer(500));
    cluster.store.insert(ObjectName::Worker(w(9)), StoredObject::Worker(stored.0.clone()));
    cluster.send(MasterEvent::Elected);
    cluster.send(MasterEvent::Recovered { apps: vec![], drivers: vec![], workers: vec![stored] });

    cluster.worker(worker(0, 10, 512));
    let app = cluster.app(app(None, 128));

    assert_eq!(cluster.state(), RecoveryState::Recovering);
    assert_eq!(cluster.cores(&app), [0, 0]);
    assert_eq!(cluster.scheduling_passes(), 0);
}

/// Behaviours: MAST-001, MAST-016.
#[test]
fn a_standby_master_acknowledges_nothing() {
    let mut cluster = standby(MasterConfig::default());
    let app = AppId::from("app-0");
    let driver = DriverStateChange { driver: "driver-0".into(), state: DriverState::Finished, error: None };

    let of_executor = cluster.report(&app, 0, ExecutorState::Exited, Some(0));
    let of_driver = cluster.hear(CLIENT, WorkerToMaster::DriverStateChanged { worker: w(0), change: driver });

    assert_eq!(of_executor, [ignored(IgnoredReason::NotLeading)]);
    assert_eq!(of_driver, [ignored(IgnoredReason::NotLeading)]);
}

#[test]
fn a_master_that_is_leader_no_longer_ends_and_hears_nothing_more() {
    let mut cluster = cluster(1);

    assert_eq!(cluster.send(MasterEvent::RevokedLeadership), [MasterEffect::ShutDown]);
    assert_eq!(cluster.send(MasterEvent::Elected), [ignored(IgnoredReason::NotLeading)]);
    assert_eq!(cluster.next_deadline(), None);
    let mut other = standby(MasterConfig::default());
    assert_eq!(other.send(MasterEvent::RevokedLeadership), [ignored(IgnoredReason::NotLeading)]);
}

#[test]
fn a_second_election_and_an_unasked_recovery_change_nothing() {
    let mut cluster = cluster(1);
    let nothing = MasterEvent::Recovered { apps: vec![], drivers: vec![], workers: vec![] };

    assert_eq!(cluster.send(MasterEvent::Elected), [ignored(IgnoredReason::AlreadyLeading)]);
    assert_eq!(cluster.send(nothing), [ignored(IgnoredReason::NotLoading)]);
}

/// Behaviours: MAST-011.
#[test]
fn ids_count_from_zero_for_applications_and_drivers_apart() {
    let mut cluster = cluster(1);

    let apps = [cluster.app(app(None, 1)), cluster.app(app(None, 1))];
    let drivers = [cluster.driver(driver(1, 1)), cluster.driver(driver(1, 1))];

    assert_eq!(apps, ["app-20260101000000-0000".into(), "app-20260101000000-0001".into()]);
    assert_eq!(drivers, ["driver-20260101000000-0000".into(), "driver-20260101000000-0001".into()]);
}

/// Behaviours: MAST-011.
#[test]
fn the_number_of_applications_starts_again_at_the_modulo() {
    let mut cluster = alive(config(|config| {
        config.app_id_pattern = "%2$d".to_owned();
        config.app_number_modulo = Some(1_000);
    }));

    for number in 0..2_000_u32 {
        let id = cluster.app(app(None, 1));
        assert_eq!(id.as_str(), (number % 1_000).to_string());
        cluster.send(MasterEvent::UnregisterApplication { app: id });
    }
}

/// Behaviours: MAST-011.
#[test]
fn an_id_in_use_is_passed_over_and_none_left_refuses() {
    let mut cluster = alive(config(|config| {
        config.app_id_pattern = "a%2$d".to_owned();
        config.app_number_modulo = Some(2);
    }));
    let first = cluster.app(app(None, 1));
    let second = cluster.app(app(None, 1));

    let refused = cluster.send(MasterEvent::RegisterApplication { peer: CLIENT, app: app(None, 1) });
    cluster.send(MasterEvent::UnregisterApplication { app: second.clone() });
    let third = cluster.app(app(None, 1));

    let message = "every application id is in use; raise firesteel.deploy.appNumberModulo".to_owned();
    assert_eq!(refused, [to_client(Reply::RegisterApplicationFailed { message })]);
    assert_eq!((first.as_str(), third), ("a0", second));
}

/// Behaviours: MAST-011.
#[test]
fn settings_that_cannot_work_are_refused_at_the_start() {
    let refused = |change: fn(&mut MasterConfig)| Master::new(config(change), 0).unwrap_err();
    let whitespace = || IdPatternError::Whitespace { pattern: "my id %2$d".to_owned() };

    assert_eq!(
        refused(|config| config.app_id_pattern = "my id %2$d".to_owned()),
        MasterConfigError::AppIdPattern { source: whitespace() }
    );
    assert_eq!(
        refused(|config| config.driver_id_pattern = "my id %2$d".to_owned()),
        MasterConfigError::DriverIdPattern { source: whitespace() }
    );
    assert_eq!(
        refused(|config| config.max_drivers = Some(0)),
        MasterConfigError::Zero { key: "firesteel.deploy.maxDrivers" }
    );
}

#[test]
fn events_that_can_change_nothing_run_no_pass() {
    let mut cluster = cluster(2);
    let app = cluster.app(app(4, 128));
    let passes = cluster.scheduling_passes();
    let peer = cluster.worker_info(0).peer;
    let list = cluster.list(0);

    cluster.hear(peer, WorkerToMaster::Heartbeat { worker: w(0) });
    cluster.hear(peer, WorkerToMaster::LatestState(list));
    cluster.report(&app, 0, ExecutorState::Running, None);
    cluster.wait(std::time::Duration::from_secs(59));
    cluster.send(MasterEvent::Tick);

    assert_eq!(cluster.scheduling_passes(), passes);
}
