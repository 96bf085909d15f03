//! Executors that start and fail, and applications that end.

use firesteel_types::{AppId, ExecutorId};

use super::{super::*, harness::*};
use crate::deploy::*;

fn unregister(cluster: &mut Cluster, app: &AppId) -> Vec<MasterEffect> {
    cluster.send(MasterEvent::UnregisterApplication { app: app.clone() })
}

/// An application that may have one executor of 5 cores.
fn one_executor() -> AppDescription {
    AppDescription { executor_limit: Some(1), ..app(5, 128) }
}

/// Behaviours: MAST-016.
#[test]
fn changes_are_forwarded_and_acknowledged() {
    let mut cluster = cluster(1);
    let app = cluster.app(one_executor());

    let running = cluster.report(&app, 0, ExecutorState::Running, None);

    let update = updated(0, ExecutorState::Running, None);
    assert_eq!(running, [to_app(&app, update), acked(&app, 0, ExecutorState::Running)]);
}

/// Behaviours: MAST-016.
#[test]
fn an_ended_executor_frees_its_worker_and_is_replaced() {
    let mut cluster = cluster(1);
    let app = cluster.app(one_executor());

    let effects = cluster.report(&app, 0, ExecutorState::Exited, Some(0));

    let added = AppMessage::ExecutorAdded {
        executor: ExecutorId(1),
        worker: w(0),
        host: "h0".into(),
        port: 7078,
        cores: 5,
        memory_mib: 128,
    };
    assert_eq!(
        effects,
        [
            to_app(&app, updated(0, ExecutorState::Exited, Some(0))),
            acked(&app, 0, ExecutorState::Exited),
            to_worker(0, launch(&app, 1, grant(5, 128))),
            to_app(&app, added),
        ]
    );
    assert_eq!(cluster.worker_info(0).cores_free(), 5);
}

/// Behaviours: MAST-016.
#[test]
fn only_a_launching_executor_may_start_to_run() {
    let mut cluster = cluster(1);
    let app = cluster.app(one_executor());
    cluster.report(&app, 0, ExecutorState::Running, None);

    let again = cluster.report(&app, 0, ExecutorState::Running, None);

    let reason = IgnoredReason::NotLaunching { executor: key(&app, 0) };
    assert_eq!(again, [ignored(reason), acked(&app, 0, ExecutorState::Running)]);
}

/// Behaviours: MAST-016.
#[test]
fn changes_of_unknown_executors_are_ignored_and_acknowledged() {
    let mut cluster = cluster(1);
    let app = cluster.app(one_executor());
    let stranger = AppId::from("app-x");

    let unknown = |app: &AppId, executor| {
        let reason = IgnoredReason::UnknownExecutor { executor: key(app, executor) };
        [ignored(reason), acked(app, executor, ExecutorState::Failed)]
    };
    assert_eq!(cluster.report(&app, 4, ExecutorState::Failed, None), unknown(&app, 4));
    assert_eq!(cluster.report(&stranger, 0, ExecutorState::Failed, None), unknown(&stranger, 0));
}

/// Behaviours: MAST-017.
#[test]
fn ten_failures_in_a_row_remove_the_application() {
    let mut cluster = cluster(1);
    let app = cluster.app(one_executor());
    for executor in 0..9 {
        cluster.report(&app, executor, ExecutorState::Failed, None);
    }
    assert_eq!(cluster.app_info(&app).failures, 9);

    let effects = cluster.report(&app, 9, ExecutorState::Exited, Some(1));

    let removed = AppMessage::ApplicationRemoved { message: "its executors fail to run".to_owned() };
    assert_eq!(
        effects,
        [
            to_app(&app, updated(9, ExecutorState::Exited, Some(1))),
            to_app(&app, removed),
            MasterEffect::Forget(ObjectName::App(app.clone())),
            to_worker(0, MasterToWorker::ApplicationFinished { app: app.clone() }),
            acked(&app, 9, ExecutorState::Exited),
        ]
    );
    assert_eq!(cluster.completed_apps().map(|app| app.end).collect::<Vec<_>>(), [AppEnd::Failed]);
    assert!(cluster.is_quiescent());
}

/// Behaviours: MAST-016, MAST-017.
#[test]
fn running_resets_the_count_and_normal_exits_do_not_add_to_it() {
    let mut cluster = cluster(1);
    let app = cluster.app(one_executor());
    for executor in 0..9 {
        cluster.report(&app, executor, ExecutorState::Failed, None);
    }

    cluster.report(&app, 9, ExecutorState::Running, None);
    assert_eq!(cluster.app_info(&app).failures, 0);
    cluster.report(&app, 9, ExecutorState::Exited, Some(0));
    assert_eq!(cluster.app_info(&app).failures, 0);
    cluster.report(&app, 10, ExecutorState::Killed, None);
    assert_eq!(cluster.app_info(&app).failures, 1);
}

/// Behaviours: MAST-017.
#[test]
fn a_running_executor_keeps_the_application() {
    let mut cluster = cluster(1);
    let app = cluster.app(AppDescription { executor_limit: Some(2), ..app(5, 128) });
    cluster.report(&app, 0, ExecutorState::Running, None);

    for executor in 1..=15 {
        cluster.report(&app, executor, ExecutorState::Failed, None);
    }

    assert_eq!((cluster.app_info(&app).failures, cluster.apps().count()), (15, 1));
    cluster.report(&app, 0, ExecutorState::Exited, Some(1));
    assert_eq!(cluster.apps().count(), 0);
}

/// Behaviours: MAST-017.
#[test]
fn without_a_bound_applications_may_fail_for_ever() {
    let mut cluster = cluster_with(MasterConfig { max_executor_retries: None, ..MasterConfig::default() }, 1);
    let app = cluster.app(one_executor());

    for executor in 0..50 {
        cluster.report(&app, executor, ExecutorState::Failed, None);
    }

    assert_eq!(cluster.app_info(&app).failures, 50);
}

/// Behaviours: MAST-017.
#[test]
fn the_end_of_a_decommissioned_executor_is_no_failure() {
    let mut cluster = cluster(1);
    let app = cluster.app(one_executor());
    cluster.report(&app, 0, ExecutorState::Decommissioned, None);

    cluster.report(&app, 0, ExecutorState::Exited, Some(1));

    assert_eq!(cluster.app_info(&app).failures, 0);
}

/// Behaviours: MAST-018.
#[test]
fn a_finished_application_leaves_nothing_behind() {
    let mut cluster = cluster(2);
    let app = cluster.app(AppDescription { executor_limit: Some(2), ..app(5, 128) });

    let effects = unregister(&mut cluster, &app);

    let kill = |executor| MasterToWorker::KillExecutor { executor: key(&app, executor) };
    let finished = MasterToWorker::ApplicationFinished { app: app.clone() };
    assert_eq!(
        effects,
        [
            to_worker(1, kill(0)),
            to_worker(0, kill(1)),
            MasterEffect::Forget(ObjectName::App(app.clone())),
            to_worker(0, finished.clone()),
            to_worker(1, finished),
        ]
    );
    assert!(cluster.is_quiescent());
    assert_eq!(unregister(&mut cluster, &app), [ignored(IgnoredReason::UnknownApp { app })]);
}

/// Behaviours: MAST-018.
#[test]
fn a_lost_connection_finishes_the_application() {
    let mut cluster = cluster(1);
    let app = cluster.app(one_executor());
    let waits = cluster.app(super::harness::app(10, 128));
    let peer = cluster.app_info(&app).peer;

    cluster.send(MasterEvent::Disconnected { peer });

    assert_eq!(cluster.completed_apps().map(|app| app.end).collect::<Vec<_>>(), [AppEnd::Finished]);
    assert_eq!(cluster.cores(&waits), [10]);
}

/// Behaviours: MAST-018.
#[test]
fn two_hundred_ended_applications_are_remembered() {
    let mut cluster = cluster(0);
    let apps: Vec<AppId> = (0..201)
        .map(|_| {
            let app = cluster.app(app(None, 1));
            unregister(&mut cluster, &app);
            app
        })
        .collect();

    // The 201st found the history full, and the oldest 20 made room.
    let remembered: Vec<AppId> = cluster.completed_apps().map(|app| app.id.clone()).collect();
    assert_eq!(remembered, apps[20..]);
}

/// Behaviours: MAST-018.
#[test]
fn a_short_history_drops_at_least_one() {
    let mut cluster = cluster_with(MasterConfig { retained_apps: 2, ..MasterConfig::default() }, 0);

    for _ in 0..5 {
        let app = cluster.app(app(None, 1));
        unregister(&mut cluster, &app);
    }

    assert_eq!(cluster.completed_apps().count(), 2);
}

#[test]
fn an_application_that_registers_again_gets_the_same_id() {
    let mut cluster = cluster(0);
    let app = cluster.app(one_executor());
    let peer = cluster.app_info(&app).peer;

    let again = cluster.send(MasterEvent::RegisterApplication { peer, app: one_executor() });

    assert_eq!(again, [MasterEffect::ToClient { peer, reply: Reply::RegisteredApplication { app } }]);
    assert_eq!(cluster.apps().count(), 1);
}

/// Behaviours: MAST-019.
#[test]
fn requests_of_unregistered_applications_are_answered_false() {
    let mut cluster = cluster(1);
    let stranger = AppId::from("app-x");

    let requested = cluster.request(&stranger, vec![total(0, None, 1)]);
    let killed = cluster.kill(&stranger, &["0"]);

    let unknown = ignored(IgnoredReason::UnknownApp { app: stranger });
    assert_eq!(requested, [unknown.clone(), to_client(Reply::ExecutorsRequested { accepted: false })]);
    assert_eq!(killed, [unknown, to_client(Reply::ExecutorsKilled { accepted: false })]);
}

/// Behaviours: MAST-019.
#[test]
fn killing_frees_at_once_and_ignores_ids_that_are_none() {
    let mut cluster = cluster(1);
    let app = cluster.app(one_executor());
    cluster.set_limit(&app, 0);

    let effects = cluster.kill(&app, &["0", "7", "driver"]);

    let kill = MasterToWorker::KillExecutor { executor: key(&app, 0) };
    assert_eq!(
        effects,
        [
            to_worker(0, kill),
            ignored(IgnoredReason::UnknownExecutor { executor: key(&app, 7) }),
            ignored(IgnoredReason::NotAnExecutorId { text: "driver".to_owned() }),
            to_client(Reply::ExecutorsKilled { accepted: true }),
        ]
    );
    assert_eq!(cluster.worker_info(0).cores_free(), 10);
    // The worker's own report comes late.
    let reason = IgnoredReason::UnknownExecutor { executor: key(&app, 0) };
    let late = cluster.report(&app, 0, ExecutorState::Killed, Some(143));
    assert_eq!(late, [ignored(reason), acked(&app, 0, ExecutorState::Killed)]);
}
