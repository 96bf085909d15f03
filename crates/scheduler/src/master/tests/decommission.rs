//! Workers that are told to leave.

use firesteel_types::ExecutorId;

use super::{super::*, harness::*};
use crate::deploy::*;

fn leave(cluster: &mut Cluster, number: u32) -> Vec<MasterEffect> {
    cluster.hear(CLIENT, WorkerToMaster::WorkerDecommissioning { worker: w(number) })
}

fn leave_hosts(cluster: &mut Cluster, hosts: &[&str]) -> Vec<MasterEffect> {
    let hosts = hosts.iter().map(|&host| host.to_owned()).collect();
    cluster.send(MasterEvent::DecommissionWorkersOnHosts { peer: CLIENT, hosts })
}

fn decommissioned(executor: u32, host: &str) -> AppMessage {
    AppMessage::ExecutorUpdated {
        executor: ExecutorId(executor),
        state: ExecutorState::Decommissioned,
        message: Some("worker decommissioned".to_owned()),
        exit_code: None,
        worker_host: Some(host.into()),
    }
}

/// The driver's half of MAST-025, which loses the shuffle output on that host, is the DAG scheduler's.
///
/// Behaviours: MAST-024, MAST-025, MAST-026.
#[test]
fn a_leaving_worker_gets_nothing_new_and_its_executors_are_reported_with_the_host() {
    let mut cluster = cluster(1);
    let app = cluster.app(AppDescription { executor_limit: Some(1), ..app(5, 128) });

    let effects = leave(&mut cluster, 0);

    let forget = MasterEffect::Forget(ObjectName::Worker(w(0)));
    assert_eq!(effects, [to_app(&app, decommissioned(0, "h0")), forget]);
    assert_eq!(cluster.executors_and_limit(&app), (0, 1));
    assert_eq!(cluster.worker_info(0).cores_free(), 5);
    cluster.driver(driver(1, 1));
    assert_eq!(cluster.worker_info(0).drivers.len(), 0);
}

/// Behaviours: MAST-024.
#[test]
fn a_repeated_order_does_nothing() {
    let mut cluster = cluster(1);
    cluster.app(app(5, 128));
    leave(&mut cluster, 0);

    let again = leave(&mut cluster, 0);
    let by_host = leave_hosts(&mut cluster, &["h0"]);
    let unknown = leave(&mut cluster, 7);

    let leaving = || ignored(IgnoredReason::WorkerDecommissioned { worker: w(0) });
    assert_eq!(again, [leaving()]);
    assert_eq!(by_host, [leaving(), to_client(Reply::WorkersDecommissioned { workers: 1 })]);
    assert_eq!(unknown, [ignored(IgnoredReason::UnknownWorker { worker: w(7) })]);
}

/// Behaviours: MAST-024.
#[test]
fn every_worker_on_a_host_leaves_whatever_the_case() {
    let mut cluster = alive(MasterConfig::default());
    for (number, host) in [(0, "localhost"), (1, "LOCALHOST"), (2, "other")] {
        let port = 7_000 + u16::try_from(number).unwrap();
        cluster.worker(WorkerDescription { host: host.into(), port, ..worker(number, 10, 512) });
    }

    let effects = leave_hosts(&mut cluster, &["LoCalHost", "localHOST", "NoSuchHost"]);

    let forget = |number| MasterEffect::Forget(ObjectName::Worker(w(number)));
    assert_eq!(
        effects,
        [
            forget(0),
            to_worker(0, MasterToWorker::DecommissionWorker),
            forget(1),
            to_worker(1, MasterToWorker::DecommissionWorker),
            to_client(Reply::WorkersDecommissioned { workers: 2 }),
        ]
    );
    let states: Vec<_> = cluster.workers().map(|worker| worker.state).collect();
    assert_eq!(states, [WorkerState::Decommissioned, WorkerState::Decommissioned, WorkerState::Alive]);
}

/// Behaviours: MAST-024.
#[test]
fn unknown_hosts_and_masters_in_standby_count_no_workers() {
    let none = [to_client(Reply::WorkersDecommissioned { workers: 0 })];

    assert_eq!(leave_hosts(&mut cluster(2), &["NoSuchHost1", "NoSuchHost2"]), none);
    assert_eq!(leave_hosts(&mut standby(MasterConfig::default()), &["h0"]), none);
}

/// Behaviours: MAST-024.
#[test]
fn executors_of_a_leaving_worker_are_replaced_elsewhere() {
    let mut cluster = cluster(2);
    let app = cluster.app(AppDescription { executor_limit: Some(1), ..app(5, 128) });
    assert_eq!(cluster.cores(&app), [0, 5]);

    leave(&mut cluster, 1);

    // The old executor still holds its cores, but no longer belongs to the application.
    assert_eq!(cluster.cores(&app), [5, 5]);
    assert_eq!(cluster.app_info(&app).executors.keys().collect::<Vec<_>>(), [&ExecutorId(1)]);
}

/// Behaviours: MAST-017, MAST-024.
#[test]
fn executors_of_a_leaving_worker_end_without_blame() {
    let mut cluster = cluster(1);
    let app = cluster.app(app(5, 128));
    leave(&mut cluster, 0);

    let effects = cluster.report(&app, 0, ExecutorState::Exited, Some(1));

    assert_eq!(effects, [acked(&app, 0, ExecutorState::Exited)]);
    assert_eq!(cluster.app_info(&app).failures, 0);
    assert_eq!(cluster.worker_info(0).cores_free(), 5);
}

/// Behaviours: MAST-015, MAST-024.
#[test]
fn a_leaving_worker_that_goes_reports_its_executors_lost() {
    let mut cluster = cluster(1);
    let app = cluster.app(AppDescription { executor_limit: Some(1), ..app(5, 128) });
    leave(&mut cluster, 0);

    let effects = cluster.disconnect_worker(0);

    let lost = AppMessage::ExecutorUpdated {
        executor: ExecutorId(0),
        state: ExecutorState::Lost,
        message: Some("worker lost: connection lost".to_owned()),
        exit_code: None,
        worker_host: Some("h0".into()),
    };
    let message = "connection lost".to_owned();
    let removed = AppMessage::WorkerRemoved { worker: w(0), host: "h0".into(), message };
    assert_eq!(effects, [to_app(&app, lost), to_app(&app, removed)]);
}

/// Behaviours: MAST-024.
#[test]
fn a_leaving_worker_outlives_the_application_of_its_executors() {
    let mut cluster = cluster(1);
    let app = cluster.app(app(5, 128));
    leave(&mut cluster, 0);
    cluster.send(MasterEvent::UnregisterApplication { app });

    let effects = cluster.disconnect_worker(0);

    assert_eq!(effects, []);
    assert!(cluster.is_quiescent());
}
