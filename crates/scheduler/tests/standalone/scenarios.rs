//! Named stories, told in whole conversations where they are short.

use std::time::Duration;

use firesteel_scheduler::{
    deploy::DriverState,
    master::{
        DriverDescription, DriverOutcome, DriverPlace, MasterConfig, MasterEvent, RecoveryState, Reply,
        WorkerState,
    },
    worker::ProcessOwner,
};
use firesteel_types::{DriverId, ExecutorKey};

use crate::{
    app::AppPhase,
    cluster::Cluster,
    network::{End, Happening},
};

const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// The executor `executor` of the first application.
fn executor(cluster: &Cluster, executor: u32) -> ProcessOwner {
    let app = cluster.apps[0].id.clone().expect("it is registered");
    ProcessOwner::Executor(ExecutorKey::new(app, executor))
}

fn submit(cluster: &mut Cluster, supervise: bool) -> DriverId {
    let driver = DriverDescription {
        cores: 1,
        memory_mib: 512,
        resources: [].into(),
        supervise,
        command: std::sync::Arc::default(),
    };
    cluster.ask(|peer| MasterEvent::RequestSubmitDriver { peer, driver });
    cluster.run(secs(1));
    let submitted = cluster.replies.iter().rev().find_map(|reply| match reply {
        Reply::DriverSubmitted { driver } => Some(driver.clone()),
        _ => None,
    });
    submitted.expect("it is accepted")
}

/// Behaviours: MAST-012, MAST-013, MAST-016, WORK-001, WORK-003, WORK-005, WORK-006.
#[test]
fn from_registration_to_running_executors() {
    let mut cluster = Cluster::new(1, 1, MasterConfig::default());
    cluster.elect(0);
    cluster.run(secs(1));

    cluster.start_worker(0);
    cluster.run(secs(1));
    cluster.start_app(2);
    cluster.run(secs(1));

    assert_eq!(
        cluster.said(),
        [
            "h0 > m0: RegisterWorker at m0",
            "h0 < m0: RegisteredWorker",
            "h0 > m0: LatestState []",
            "a0 > m0: RegisterApplication",
            "a0 < m0: RegisteredApplication 0000",
            "h0 < m0: LaunchExecutor 0",
            "a0 < m0: ExecutorAdded 0 on h0",
            "h0 < m0: LaunchExecutor 1",
            "a0 < m0: ExecutorAdded 1 on h0",
            "h0 > m0: ExecutorStateChanged 0 Running",
            "h0 > m0: ExecutorStateChanged 1 Running",
            "a0 < m0: ExecutorUpdated 0 Running",
            "h0 < m0: ExecutorStateAck 0 Running",
            "a0 < m0: ExecutorUpdated 1 Running",
            "h0 < m0: ExecutorStateAck 1 Running",
        ]
    );
    cluster.assert_settled();
}

/// Behaviours: MAST-016, MAST-017.
#[test]
fn an_executor_that_exits_is_replaced_whatever_its_code() {
    for (code, blame) in [(0, 0), (1, 1), (143, 1), (-9, 1)] {
        let mut cluster = Cluster::running(1, 1);
        cluster.start_app(1);
        cluster.run(secs(1));
        cluster.said();

        cluster.exit_process(&executor(&cluster, 0), code);
        cluster.run(Duration::from_micros(3_500)); // The end is told, and the next one is ordered.

        assert_eq!(cluster.master().apps().next().map(|info| info.failures), Some(blame), "code {code}");
        cluster.run(secs(1));
        assert_eq!(
            cluster.said(),
            [
                &format!("h0 > m0: ExecutorStateChanged 0 Exited {code}"),
                &format!("a0 < m0: ExecutorUpdated 0 Exited {code}"),
                "h0 < m0: ExecutorStateAck 0 Exited",
                "h0 < m0: LaunchExecutor 1",
                "a0 < m0: ExecutorAdded 1 on h0",
                "h0 > m0: ExecutorStateChanged 1 Running",
                "a0 < m0: ExecutorUpdated 1 Running",
                "h0 < m0: ExecutorStateAck 1 Running",
            ]
        );
        cluster.assert_settled();
    }
}

/// Behaviours: MAST-018, WORK-007.
#[test]
fn a_finished_application_is_cleaned_up() {
    let mut cluster = Cluster::running(1, 1);
    let app = cluster.start_app(1);
    cluster.run(secs(1));
    cluster.said();

    cluster.finish_app(app);
    cluster.run(secs(1));

    assert_eq!(
        cluster.said(),
        [
            "a0 > m0: UnregisterApplication",
            "h0 < m0: KillExecutor 0",
            "h0 < m0: ApplicationFinished",
            "h0 > m0: ExecutorStateChanged 0 Killed 143",
            "h0 < m0: ExecutorStateAck 0 Killed",
        ]
    );
    cluster.assert_settled();
    assert!(cluster.is_quiescent());
}

/// Behaviours: MAST-015.
#[test]
fn a_dead_worker_takes_its_executors_with_the_host_and_others_replace_them() {
    let mut cluster = Cluster::running(1, 2);
    cluster.start_app(2);
    cluster.run(secs(1));
    cluster.said();

    cluster.kill_worker(1);
    cluster.run(secs(1));

    assert_eq!(
        cluster.said(),
        [
            "a0 < m0: ExecutorUpdated 0 Lost with h1",
            "a0 < m0: WorkerRemoved h1",
            "h0 < m0: LaunchExecutor 2",
            "a0 < m0: ExecutorAdded 2 on h0",
            "h0 > m0: ExecutorStateChanged 2 Running",
            "a0 < m0: ExecutorUpdated 2 Running",
            "h0 < m0: ExecutorStateAck 2 Running",
        ]
    );
    cluster.start_worker(1);
    cluster.run(secs(1));
    assert_eq!(
        cluster.said(),
        ["h1 > m0: RegisterWorker at m0", "h1 < m0: RegisteredWorker", "h1 > m0: LatestState []"]
    );
    cluster.assert_settled();
}

/// Behaviours: MAST-022, MAST-023, WORK-002, WORK-004.
#[test]
fn a_new_master_gets_executors_and_drivers_back() {
    let mut cluster = Cluster::running(2, 1);
    cluster.start_app(1);
    cluster.run(secs(1));
    let driver = submit(&mut cluster, false);
    let workers = format!("{:?}", cluster.master().workers().map(|info| &info.executors).collect::<Vec<_>>());
    cluster.said();

    cluster.kill_master(0);
    cluster.run(secs(1));
    cluster.elect(1);
    cluster.run(secs(1));

    assert_eq!(
        cluster.said(),
        [
            "h0 > m1: RegisterWorker at m1",
            "h0 < m1: MasterInStandby",
            "a0 < m1: MasterChanged",
            "h0 < m1: MasterChanged",
            "a0 > m1: MasterChangeAcknowledged",
            "h0 > m1: SchedulerState [0 Running, driver 0000]",
        ]
    );
    cluster.assert_settled();
    let recovered = cluster.master().workers().map(|info| &info.executors).collect::<Vec<_>>();
    assert_eq!(format!("{recovered:?}"), workers);
    assert_eq!(cluster.master().drivers().map(|info| info.id().clone()).collect::<Vec<_>>(), [driver]);
}

/// Behaviours: MAST-022, MAST-023, WORK-006, WORK-012.
#[test]
fn what_ended_while_no_master_led_is_told_to_the_next_one_before_the_list() {
    let mut cluster = Cluster::running(2, 1);
    cluster.start_app(1);
    cluster.run(secs(1));
    let driver = submit(&mut cluster, true);
    cluster.kill_master(0);
    cluster.run(secs(1));
    cluster.said();

    cluster.exit_process(&executor(&cluster, 0), 3);
    cluster.exit_process(&ProcessOwner::Driver(driver.clone()), 0);
    cluster.run(secs(1));
    cluster.elect(1);
    cluster.run(secs(1));

    assert_eq!(
        cluster.said(),
        [
            "a0 < m1: MasterChanged",
            "h0 < m1: MasterChanged",
            "a0 > m1: MasterChangeAcknowledged",
            "h0 > m1: ExecutorStateChanged 0 Exited 3",
            "h0 > m1: DriverStateChanged 0000 Finished",
            "h0 > m1: SchedulerState []",
            "h0 < m1: ExecutorStateAck 0 Exited",
            "h0 < m1: DriverStateAck 0000",
            "h0 < m1: LaunchExecutor 1",
            "a0 < m1: ExecutorAdded 1 on h0",
            "h0 > m1: ExecutorStateChanged 1 Running",
            "a0 < m1: ExecutorUpdated 1 Running",
            "h0 < m1: ExecutorStateAck 1 Running",
        ]
    );
    cluster.assert_settled();
    let ends: Vec<_> = cluster.master().completed_drivers().map(|done| done.outcome.clone()).collect();
    assert_eq!(ends, [DriverOutcome::Ended { state: DriverState::Finished, error: None }]);
}

/// Behaviours: MAST-001, WORK-002.
#[test]
fn a_standby_sends_workers_away_and_is_silent_to_applications() {
    let mut cluster = Cluster::new(2, 1, MasterConfig::default());
    cluster.elect(0);
    cluster.run(secs(1));

    cluster.start_worker(0);
    cluster.run(secs(1));
    cluster.start_app(0);
    cluster.run(secs(1));

    assert_eq!(
        cluster.said(),
        [
            "h0 > m0: RegisterWorker at m0",
            "h0 > m1: RegisterWorker at m1",
            "h0 < m0: RegisteredWorker",
            "h0 < m1: MasterInStandby",
            "h0 > m0: LatestState []",
            "a0 > m0: RegisterApplication",
            "a0 > m1: RegisterApplication",
            "a0 < m0: RegisteredApplication 0000",
        ]
    );
    assert_eq!(cluster.masters[1].master.as_ref().unwrap().state(), RecoveryState::Standby);
    cluster.assert_settled();
}

/// Behaviours: MAST-024, MAST-025.
#[test]
fn a_worker_decommissioned_by_its_host_is_drained_and_replaced() {
    let mut cluster = Cluster::running(1, 2);
    cluster.start_app(1);
    cluster.run(secs(1));
    cluster.said();

    let hosts = vec!["H1".to_owned()];
    cluster.ask(|peer| MasterEvent::DecommissionWorkersOnHosts { peer, hosts });
    cluster.run(secs(1));

    assert_eq!(
        cluster.said(),
        [
            "client > m0: DecommissionWorkersOnHosts H1",
            "a0 < m0: ExecutorUpdated 0 Decommissioned with h1",
            "h1 < m0: DecommissionWorker",
            "client < m0: WorkersDecommissioned { workers: 1 }",
            "h0 < m0: LaunchExecutor 1",
            "a0 < m0: ExecutorAdded 1 on h0",
            "h1 > m0: ExecutorStateChanged 0 Exited 0",
            "h0 > m0: ExecutorStateChanged 1 Running",
            "h1 < m0: ExecutorStateAck 0 Exited",
            "a0 < m0: ExecutorUpdated 1 Running",
            "h0 < m0: ExecutorStateAck 1 Running",
        ]
    );
    let leaving = cluster.master().workers().find(|info| info.host().as_str() == "h1").unwrap();
    assert_eq!((leaving.state, leaving.cores_free()), (WorkerState::Decommissioned, 4));
}

/// Behaviours: MAST-014, MAST-020, WORK-002.
#[test]
fn a_worker_that_was_silent_for_too_long_comes_back_empty() {
    let mut cluster = Cluster::running(1, 1);
    cluster.start_app(1);
    cluster.run(secs(1));
    cluster.said();

    cluster.workers[0].paused_until = cluster.network.now + secs(150);
    cluster.run(secs(170));

    assert_eq!(
        cluster.said(),
        [
            "a0 < m0: ExecutorUpdated 0 Lost with h0",
            "a0 < m0: WorkerRemoved h0",
            "h0 < m0: ReconnectWorker",
            "h0 > m0: RegisterWorker at m0",
            "h0 < m0: RegisteredWorker",
            "h0 > m0: LatestState [0 Running]",
            "h0 < m0: KillExecutor 0",
            "h0 < m0: LaunchExecutor 1",
            "a0 < m0: ExecutorAdded 1 on h0",
            "h0 > m0: ExecutorStateChanged 0 Killed 143",
            "h0 > m0: ExecutorStateChanged 1 Running",
            "h0 < m0: ExecutorStateAck 0 Killed",
            "a0 < m0: ExecutorUpdated 1 Running",
            "h0 < m0: ExecutorStateAck 1 Running",
        ]
    );
    cluster.assert_settled();
}

/// Behaviours: MAST-012, MAST-020.
#[test]
fn a_worker_back_on_a_new_connection_keeps_what_it_runs_and_lost_orders_are_given_again() {
    let mut cluster = Cluster::running(1, 1);
    cluster.start_app(1);
    cluster.run(secs(1));
    cluster.said();
    let connection = cluster.network.between(0, End::Worker(0)).unwrap();

    // A second executor is ordered and lost; the worker notices the break and the master does not.
    let app = cluster.apps[0].id.clone().unwrap();
    let total = firesteel_scheduler::master::ProfileTotal {
        profile: firesteel_types::ProfileId::DEFAULT,
        executor: None,
        total: 2,
    };
    cluster.ask(|peer| MasterEvent::RequestExecutors { peer, app, totals: vec![total] });
    cluster.run(Duration::from_micros(1_500));
    cluster.network.close(connection);
    cluster.tell_worker_of_loss(0, 0);
    cluster.run(secs(1));

    assert_eq!(
        cluster.said(),
        [
            "client > m0: RequestExecutors 2",
            "client < m0: ExecutorsRequested { accepted: true }",
            "a0 < m0: ExecutorAdded 1 on h0",
            "h0 > m0: RegisterWorker at m0",
            "h0 < m0: RegisteredWorker duplicate",
            "h0 > m0: LatestState [0 Running]",
            "a0 < m0: ExecutorUpdated 1 Lost",
            "h0 < m0: LaunchExecutor 2",
            "a0 < m0: ExecutorAdded 2 on h0",
            "h0 > m0: ExecutorStateChanged 2 Running",
            "a0 < m0: ExecutorUpdated 2 Running",
            "h0 < m0: ExecutorStateAck 2 Running",
        ]
    );
    cluster.assert_settled();
}

/// Behaviours: WORK-012, WORK-013.
#[test]
fn a_supervised_driver_that_fails_three_times_runs_a_fourth_time() {
    let mut cluster = Cluster::running(1, 1);
    let driver = submit(&mut cluster, true);
    let owner = ProcessOwner::Driver(driver.clone());

    for wait in [1, 2, 4] {
        assert!(cluster.exit_process(&owner, 1));
        cluster.run(Duration::from_millis(wait * 1_000 - 1));
        assert!(cluster.workers[0].processes.is_empty(), "it waits for {wait} s");
        cluster.run(Duration::from_millis(10));
        assert_eq!(cluster.workers[0].processes.values().collect::<Vec<_>>(), [&owner]);
    }
    let place = cluster.master().drivers().next().map(|info| info.place.clone());
    assert!(matches!(place, Some(DriverPlace::Running { .. })), "the master has seen nothing of it");
    cluster.assert_settled();
    cluster.exit_process(&owner, 0);
    cluster.run(secs(1));

    assert_eq!(
        cluster.said(),
        [
            "client > m0: RequestSubmitDriver",
            "client < m0: DriverSubmitted 0000",
            "h0 < m0: LaunchDriver 0000",
            "h0 > m0: DriverStateChanged 0000 Finished",
            "h0 < m0: DriverStateAck 0000",
        ]
    );
    assert!(cluster.master().is_quiescent());
}

/// Behaviours: MAST-015, WORK-013.
#[test]
fn a_supervised_driver_runs_elsewhere_under_a_new_id_when_its_worker_is_lost() {
    let mut cluster = Cluster::running(1, 2);
    let driver = submit(&mut cluster, true);
    let holds = |node: &crate::cluster::WorkerNode| !node.processes.is_empty();
    let worker = cluster.workers.iter().position(holds).unwrap();

    cluster.kill_worker(worker);
    cluster.network.after(secs(5), Happening::StartWorker { worker });
    cluster.run(secs(10));

    let now: Vec<_> = cluster.master().drivers().map(|info| info.id().clone()).collect();
    assert_eq!(now.len(), 1);
    assert_ne!(now, [driver]);
    cluster.assert_settled();
}

/// Behaviours: MAST-018, MAST-023.
#[test]
fn an_application_that_ended_while_no_master_led_is_finished_by_the_next_one() {
    let mut cluster = Cluster::running(2, 1);
    let app = cluster.start_app(1);
    cluster.run(secs(1));
    cluster.kill_master(0);
    cluster.run(secs(1));
    assert_eq!(cluster.apps[app].phase, AppPhase::Waiting);

    cluster.end_app_process(app);
    cluster.elect(1);
    cluster.run(secs(30));

    cluster.assert_settled();
    assert!(cluster.master().is_quiescent() && cluster.store.len() == 1);
}
