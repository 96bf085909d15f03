//! A master goes and another takes over.

use firesteel_deploy::{master::WorkerLineState, submit::DriverSubmission};
use firesteel_net::{Address, Secret};
use firesteel_scheduler::{
    deploy::{DriverState, ExecutorState},
    master::{AppState, DriverStatus, RecoveryState},
};
use firesteel_types::ExecutorId;

use crate::{parts::Part, support::*};

/// Waits until a master leads a cluster with one worker and one application.
fn wait_until_recovered(cluster: &Cluster) {
    eventually("the master has recovered", || {
        let status = cluster.status();
        let worker = status.workers.first()?;
        let is_back = status.state == RecoveryState::Alive
            && worker.state == WorkerLineState::Alive
            && status.apps.first()?.state == AppState::Running;
        is_back.then_some(())
    });
}

/// Behaviours: MAST-022, MAST-023, WORK-002, WORK-004, CLI-004.
#[test]
fn running_executors_stay_when_a_master_is_replaced_and_everybody_comes_back() {
    let mut cluster = Cluster::with_store();
    let worker = cluster.worker("w", 2);
    let app = cluster.app("echo $$; exec sleep 1000");
    let id = app.id();
    let pid: i32 = eventually("it runs", || stdout(&worker, &id, 0)?.trim().parse().ok());
    eventually("the master knows", || {
        (cluster.status().apps[0].executors.first()?.state == ExecutorState::Running).then_some(())
    });
    let before = cluster.status();

    cluster.restart_master();

    app.notes.wait(|news| (*news == News::Disconnected).then_some(()));
    eventually("the application is back", || {
        (app.count(|news| *news == News::Connected(id.clone())) == 2).then_some(())
    });
    wait_until_recovered(&cluster);
    let after = cluster.status();
    assert_eq!((&after.workers[0].id, &after.apps[0].id), (&before.workers[0].id, &before.apps[0].id));
    assert_eq!(after.apps[0].executors, before.apps[0].executors);
    assert!(is_running(pid));
    assert_eq!(app.count(|news| matches!(news, News::Removed { .. } | News::Dead(_))), 0);
    assert_eq!(app.count(|news| *news == News::Disconnected), 1, "said once");

    assert!(app.client.request_executors(total(2)));
    app.notes.wait(|news| (*news == News::Added(ExecutorId(1))).then_some(()));
    app.client.stop();
    wait_until_gone(pid);
    eventually("nothing is stored of the application", || {
        let stored = std::fs::read_dir(cluster.folder.path().join("store")).unwrap().flatten();
        let apps = stored.filter(|entry| entry.file_name().to_string_lossy().starts_with("app_"));
        (apps.count() == 0).then_some(())
    });
}

/// Behaviours: MAST-022, MAST-026, CLI-004.
#[test]
fn a_master_that_was_killed_goes_on_where_it_was() {
    let cluster = Cluster::new();
    let (folder, secret) = (cluster.folder.path().join("m"), Secret::random());
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = Address::new("127.0.0.1", port);
    let security = firesteel_deploy::Security { secret: Some(secret.clone()), ..Default::default() };
    let master = Part::start("master", &folder, &secret, &address);
    let mut conf = cluster.worker_conf("w", 2);
    conf.security = security.clone();
    conf.machine.masters = vec![address.to_string().into()];
    let worker = started(conf);
    let app = App::start(firesteel_deploy::client::AppClientConf {
        security,
        redial: redial(),
        ..firesteel_deploy::client::AppClientConf::new(
            std::slice::from_ref(&address),
            description(shell("echo $$; exec sleep 1000")),
        )
    });
    let id = app.id();
    let pid: i32 = eventually("it runs", || stdout(&worker, &id, 0)?.trim().parse().ok());

    master.kill();
    app.notes.wait(|news| (*news == News::Disconnected).then_some(()));
    assert!(!app.client.request_executors(total(2)), "without a master");
    let _master = Part::start("master", &folder, &secret, &address);
    eventually("the application is back", || {
        (app.count(|news| *news == News::Connected(id.clone())) == 2).then_some(())
    });

    assert!(is_running(pid));
    eventually("it gets more executors", || {
        app.client.request_executors(total(2));
        (app.count(|news| *news == News::Added(ExecutorId(1))) == 1).then_some(())
    });
    assert_eq!(app.count(|news| matches!(news, News::Removed { .. })), 0);
}

/// Behaviours: CLI-004.
#[test]
fn a_new_master_is_told_how_many_executors_the_application_wants() {
    let mut cluster = Cluster::with_store();
    let _worker = cluster.worker("w", 3);
    let mut description = description(shell("exec sleep 1000"));
    description.executor_limit = Some(0);
    let app = cluster.app_with(description);
    app.id();
    assert!(app.client.request_executors(total(2)));
    eventually("both run", || {
        let executors = &cluster.status().apps[0].executors;
        (executors.iter().filter(|executor| executor.state == ExecutorState::Running).count() == 2)
            .then_some(())
    });

    cluster.restart_master();

    wait_until_recovered(&cluster);
    eventually("the limit is known", || (cluster.status().apps[0].executor_limit == 2).then_some(()));
    assert_eq!(cluster.status().apps[0].executors.len(), 2);
}

/// Behaviours: MAST-020, CLI-004.
#[test]
fn a_master_that_stored_nothing_gives_up_what_it_does_not_know() {
    let mut cluster = Cluster::new();
    let worker = cluster.worker("w", 1);
    let app = cluster.app("echo $$; exec sleep 1000");
    let id = app.id();
    let pid: i32 = eventually("it runs", || stdout(&worker, &id, 0)?.trim().parse().ok());

    cluster.restart_master();

    assert!(app.dead().contains("does not know"), "{}", app.dead());
    wait_until_gone(pid);
    cluster.wait_for_workers(1);
}

/// Behaviours: MAST-021, MAST-022, MAST-023.
#[test]
fn a_driver_that_runs_is_found_again_and_those_that_no_worker_has_end_or_are_submitted_anew() {
    let mut cluster = Cluster::with_store();
    let worker = cluster.worker("w", 1);
    let client = cluster.submit_client();
    let driver = crate::drivers::script(cluster.folder.path(), "driver", "exec sleep 1000");
    let runs = client.submit(&driver).unwrap();
    let is_running = || matches!(client.status(&runs), Ok(Some(DriverStatus::Running { .. })));
    eventually("it runs", || is_running().then_some(()));
    eventually("its process runs", || {
        worker.status().filter(|status| status.drivers.len() == 1 && status.cores_used == 1)
    });
    let waits = client.submit(&driver).unwrap();
    let supervised = client.submit(&DriverSubmission { supervise: true, ..driver }).unwrap();

    cluster.restart_master();

    eventually("the running one is found again", || is_running().then_some(()));
    let ended = client.status(&waits).unwrap();
    let is_error = matches!(ended, Some(DriverStatus::Ended { state: DriverState::Error, .. }));
    assert!(is_error, "{ended:?}");
    let relaunched = client.status(&supervised).unwrap();
    let Some(DriverStatus::Relaunched { new_id, .. }) = relaunched else { panic!("{relaunched:?}") };
    assert_eq!(client.status(&new_id).unwrap(), Some(DriverStatus::Submitted));
    assert!(client.kill(&runs).unwrap());
    eventually("the one that waits takes its place", || {
        matches!(client.status(&new_id), Ok(Some(DriverStatus::Running { .. }))).then_some(())
    });
}
