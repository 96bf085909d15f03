//! Applications get executors, hear of them, and give them back.

use firesteel_deploy::{client::AppClientConf, worker::variable};
use firesteel_net::{Address, Secret};
use firesteel_scheduler::{
    deploy::{Command, ExecutorState},
    master::AppState,
};
use firesteel_types::ExecutorId;

use crate::support::*;

/// Behaviours: CLI-003, MAST-016, WORK-006.
#[test]
fn an_executor_is_launched_and_its_exit_code_reaches_the_driver() {
    let cluster = Cluster::new();
    let _worker = cluster.worker("w", 2);

    let app = cluster.app("exit 3");
    let gone = app.removed(0);

    assert_eq!(gone, ("exited with code 3".to_owned(), Some(3)));
    assert_eq!(app.notes.all()[1], News::Added(ExecutorId(0)));
    app.removed(1);
}

/// Behaviours: WORK-005, WORK-010.
#[test]
fn an_executor_runs_in_its_folder_with_what_it_must_know() {
    let cluster = Cluster::new();
    let worker = cluster.worker("w", 2);
    let secret = Secret::random();
    let mut command = shell("pwd; env | grep FIRESTEEL_ | sort; echo to stderr >&2; exec sleep 1000");
    for (name, value) in [
        (variable::EXECUTOR_ID, "{{EXECUTOR_ID}}"),
        (variable::APP_ID, "{{APP_ID}}"),
        (variable::EXECUTOR_CORES, "{{CORES}}"),
        (variable::WORKER_URL, "{{WORKER_URL}}"),
        (variable::APP_SECRET, &cluster.security.seal_app_secret(&secret)),
    ] {
        command.environment.insert(name.to_owned(), value.to_owned());
    }

    let app = cluster.app_with(description(command));
    let id = app.id();
    let folder = cluster.work_dir("w").canonicalize().unwrap().join(id.as_str()).join("0");
    let said = eventually("the executor says all", || {
        stdout(&worker, &id, 0).filter(|said| said.contains(variable::WORKER_URL))
    });

    let mut lines = said.lines();
    assert_eq!(lines.next(), folder.to_str());
    let has =
        |name: &str, value: &str| assert!(said.contains(&format!("{name}={value}\n")), "{name}: {said}");
    has(variable::EXECUTOR_ID, "0");
    has(variable::APP_ID, id.as_str());
    has(variable::EXECUTOR_CORES, "1");
    has(variable::EXECUTOR_MEMORY_MIB, "64");
    has(variable::WORKER_URL, &worker.address().to_string());
    has(variable::SHUFFLE_SERVICE, &worker.address().to_string());
    has(variable::APP_SECRET, &secret.to_hex());
    has(variable::FILES_DIR, folder.join("files").to_str().unwrap());
    assert!(!said.contains(variable::CLUSTER_SECRET), "{said}");
    let local = said.lines().find_map(|line| line.strip_prefix("FIRESTEEL_LOCAL_DIRS=")).unwrap();
    assert!(local.ends_with(&format!("/{id}/executor-0")), "{local}");
    assert!(std::path::Path::new(local).is_dir());
    eventually("its errors are logged", || {
        (std::fs::read_to_string(folder.join("stderr")).unwrap() == "to stderr\n").then_some(())
    });
}

/// Behaviours: CLI-005, MAST-018, WORK-007.
#[test]
fn stopping_ends_the_executors_and_removes_their_local_files() {
    let cluster = Cluster::new();
    let worker = cluster.worker("w", 2);
    let app = cluster.app("echo $$; echo $FIRESTEEL_LOCAL_DIRS; exec sleep 1000");
    let id = app.id();
    let said = eventually("the executor says all", || {
        stdout(&worker, &id, 0).filter(|said| said.lines().count() == 2)
    });
    let (pid, local) = said.trim().split_once('\n').unwrap();

    app.client.stop();

    wait_until_gone(pid.parse().unwrap());
    eventually("the application is in the history", || {
        let status = cluster.status();
        (status.apps.is_empty() && status.completed_apps[0].id == id).then_some(())
    });
    eventually("its local files are gone", || (!std::path::Path::new(local).exists()).then_some(()));
    let worker_status =
        eventually("nothing is in use", || worker.status().filter(|status| status.executors.is_empty()));
    assert_eq!((worker_status.cores_used, worker_status.finished_executors.len()), (0, 1));
    assert!(stdout(&worker, &id, 0).is_some(), "its log stays");
    app.client.stop();
    assert_eq!(app.count(|news| matches!(news, News::Dead(_) | News::Disconnected)), 0);
}

/// Behaviours: CLI-001, CLI-002, CLI-003.
#[test]
fn without_a_master_requests_are_refused_and_the_application_is_dead_in_the_end() {
    let unused = Address::new("127.0.0.1", 1);
    let conf = AppClientConf {
        machine: impatient(std::slice::from_ref(&unused)),
        redial: redial(),
        ..AppClientConf::new(&[unused], description(Command::default()))
    };

    let app = App::start(conf);

    assert!(!app.client.request_executors(total(1)));
    assert!(!app.client.kill_executors(vec![ExecutorId(0)]));
    assert_eq!(app.dead(), "all masters are unresponsive, giving up");
    assert_eq!(app.notes.all().len(), 1);
}

/// Behaviours: CLI-002, CLI-008.
#[test]
fn requests_and_kills_are_answered_by_the_master_and_done() {
    let cluster = Cluster::new();
    let _worker = cluster.worker("w", 2);
    let mut description = description(shell("exec sleep 1000"));
    description.executor_limit = Some(0);
    let app = cluster.app_with(description);
    app.id();

    assert!(app.client.request_executors(total(2)));
    app.notes.wait(|news| (*news == News::Added(ExecutorId(1))).then_some(()));
    assert!(!app.client.request_executors(total(-1)));
    assert!(app.client.request_executors(total(1)));
    assert!(app.client.kill_executors(vec![ExecutorId(0), ExecutorId(77)]));

    eventually("one executor is left", || {
        let executors = cluster.status().apps.remove(0).executors;
        (executors.len() == 1 && executors[0].id == ExecutorId(1)).then_some(())
    });
}

/// Behaviours: MAST-002, MAST-008.
#[test]
fn an_application_that_waits_starts_when_room_appears() {
    let cluster = Cluster::new();
    let _worker = cluster.worker("w", 1);
    let first = cluster.app("exec sleep 1000");
    first.notes.wait(|news| matches!(news, News::Added(_)).then_some(()));
    let second = cluster.app("exec sleep 1000");
    let id = second.id();

    let waits = cluster.status().apps.into_iter().find(|app| app.id == id).unwrap();
    assert_eq!((waits.state, waits.executors.len()), (AppState::Waiting, 0));
    first.client.stop();

    second.notes.wait(|news| matches!(news, News::Added(_)).then_some(()));
    eventually("its executor runs", || {
        let app = cluster.status().apps.pop()?;
        (app.executors.first()?.state == ExecutorState::Running).then_some(())
    });
}

/// Behaviours: MAST-017, CLI-004.
#[test]
fn an_application_whose_executors_always_fail_is_removed() {
    let cluster = Cluster::with(|conf, _| conf.machine.max_executor_retries = Some(3));
    let _worker = cluster.worker("w", 1);

    let command = Command { program: "/no/such/program".to_owned(), ..Command::default() };
    let app = cluster.app_with(description(command));

    assert!(app.dead().contains("its executors fail to run"), "{}", app.dead());
    assert_eq!(app.count(|news| matches!(news, News::Removed { .. })), 3);
    let (message, code) = app.removed(0);
    assert!(message.contains("/no/such/program") && code.is_none(), "{message}");
    assert!(!app.client.request_executors(total(1)));
    assert_eq!(cluster.status().apps, []);
}

/// Behaviours: CLI-003, MAST-024.
#[test]
fn executors_of_a_worker_that_leaves_are_reported_with_its_host() {
    let cluster = Cluster::new();
    let mut conf = cluster.worker_conf("w", 1);
    conf.machine.decommission_enabled = true;
    let worker = started(conf);
    let app = cluster.app("exec sleep 1000");
    app.notes.wait(|news| matches!(news, News::Added(_)).then_some(()));

    worker.decommission();

    let leaves = News::Decommissioned { executor: ExecutorId(0), host: Some("127.0.0.1".into()) };
    app.notes.wait(|news| (*news == leaves).then_some(()));
    assert_eq!(cluster.submit_client().decommission_hosts(vec!["127.0.0.1".to_owned()]).unwrap(), 1);
}

#[test]
fn a_callback_may_stop_the_client_and_may_not_wait_for_it() {
    struct Stops(std::sync::OnceLock<firesteel_deploy::client::AppClient>, std::sync::mpsc::Sender<bool>);

    impl firesteel_deploy::client::AppEvents for Stops {
        fn connected(&self, _: &firesteel_types::AppId) {
            let client = eventually("the client is there", || self.0.get());
            let answered = client.request_executors(total(1));
            client.stop();
            self.1.send(answered).unwrap();
        }
        fn disconnected(&self) {}
        fn dead(&self, _: &str) {}
        fn executor_added(&self, _: ExecutorId, _: &firesteel_deploy::client::ExecutorPlace) {}
        fn executor_removed(
            &self,
            _: ExecutorId,
            _: &str,
            _: Option<i32>,
            _: Option<&firesteel_types::Host>,
        ) {
        }
        fn executor_decommissioned(&self, _: ExecutorId, _: &str, _: Option<&firesteel_types::Host>) {}
        fn worker_removed(&self, _: &firesteel_types::WorkerId, _: &firesteel_types::Host, _: &str) {}
    }

    let cluster = Cluster::new();
    let (tell, told) = std::sync::mpsc::channel();
    let events = std::sync::Arc::new(Stops(std::sync::OnceLock::new(), tell));
    let conf = AppClientConf {
        security: cluster.security.clone(),
        ..AppClientConf::new(&[cluster.master.address().clone()], description(shell("exit 0")))
    };
    let client = firesteel_deploy::client::AppClient::start(conf, events.clone()).unwrap();
    assert!(events.0.set(client).is_ok());

    assert_eq!(told.recv_timeout(GUARD), Ok(false));
    eventually("the application has left", || cluster.status().apps.is_empty().then_some(()));
    assert_eq!(cluster.status().completed_apps.len(), 1);
}
