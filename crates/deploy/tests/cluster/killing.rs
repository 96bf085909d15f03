//! How processes end against their will.

use firesteel_types::ExecutorId;

use crate::support::*;

/// Behaviours: WORK-014.
#[test]
fn a_process_that_does_not_obey_is_destroyed_with_all_that_it_started() {
    let cluster = Cluster::new();
    let worker = cluster.worker("w", 1);
    let app = cluster.app("trap '' TERM; sleep 1000 & echo $!; echo $$; while :; do wait; done");
    let id = app.id();
    let said = eventually("both run", || stdout(&worker, &id, 0).filter(|said| said.lines().count() == 2));
    let pids: Vec<i32> = said.lines().map(|line| line.parse().unwrap()).collect();

    assert!(app.client.request_executors(total(0)));
    assert!(app.client.kill_executors(vec![ExecutorId(0)]));

    pids.into_iter().for_each(wait_until_gone);
    let finished = eventually("its end is known", || {
        worker.status().and_then(|status| status.finished_executors.into_iter().next())
    });
    assert_eq!(finished.change.exit_code, Some(128 + 9));
}

/// Behaviours: WORK-006, WORK-014.
#[test]
fn a_process_that_obeys_ends_in_its_own_way() {
    let cluster = Cluster::new();
    let mut conf = cluster.worker_conf("w", 1);
    conf.machine.terminate_timeout = GUARD;
    let worker = started(conf);
    let app = cluster.app("trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done");
    let id = app.id();
    eventually("it runs", || stdout(&worker, &id, 0).filter(|said| said == "ready\n"));

    assert!(app.client.request_executors(total(0)));
    assert!(app.client.kill_executors(vec![ExecutorId(0)]));

    let finished = eventually("its end is known", || {
        worker.status().and_then(|status| status.finished_executors.into_iter().next())
    });
    assert_eq!(finished.change.exit_code, Some(7));
    assert_eq!(stdout(&worker, &id, 0).unwrap(), "ready\nbye\n", "its last words are in the log");
}

#[test]
fn a_process_that_ends_takes_those_it_started_with_it() {
    let cluster = Cluster::new();
    let worker = cluster.worker("w", 1);
    let mut description = description(shell("sleep 1000 & echo $!; exit 0"));
    description.executor_limit = Some(1);
    let app = cluster.app_with(description);
    let id = app.id();

    app.removed(0);

    let left: i32 = stdout(&worker, &id, 0).unwrap().trim().parse().unwrap();
    wait_until_gone(left);
}

#[test]
fn a_process_that_leaves_its_group_does_not_keep_its_worker_waiting() {
    let cluster = Cluster::with(|conf, _| conf.machine.max_executor_retries = Some(1));
    let _worker = cluster.worker("w", 1);
    let leaves = "setsid sh -c 'echo $$ > left; exec sleep 1000' &";
    let app = cluster.app(&format!("{leaves} while [ ! -s left ]; do sleep 0.01; done; exit 5"));
    let id = app.id();

    assert_eq!(app.removed(0).1, Some(5));

    // It holds the pipes of the executor, which the worker does not wait for.
    let left = number_in(&cluster.work_dir("w").join(id.as_str()).join("0/left"));
    let pid = rustix::process::Pid::from_raw(left).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// Behaviours: MAST-015.
#[test]
fn a_worker_that_is_stopped_ends_its_processes_and_leaves_no_local_files() {
    let cluster = Cluster::new();
    let worker = cluster.worker("w", 2);
    let mut description = description(shell("echo $$; trap '' TERM; while :; do sleep 0.01; done"));
    description.executor_limit = Some(2);
    let app = cluster.app_with(description);
    let id = app.id();
    let pids: Vec<i32> = [0, 1]
        .map(|executor| eventually("it runs", || stdout(&worker, &id, executor)?.trim().parse().ok()))
        .to_vec();
    let address = worker.address().clone();

    worker.stop();

    assert!(pids.into_iter().all(|pid| !is_running(pid)), "they are gone when stop returns");
    let local = cluster.folder.path().join("w/local");
    assert_eq!(std::fs::read_dir(local).unwrap().count(), 0);
    assert!(std::net::TcpStream::connect((address.host.as_str(), address.port)).is_err());
    assert_eq!(worker.wait(), firesteel_deploy::Ending::Stopped);
    let (message, code) = app.removed(0);
    assert!(message.contains("worker lost") && code.is_none(), "{message}");
    app.notes.wait(|news| matches!(news, News::WorkerRemoved { .. }).then_some(()));
    let host = app.notes.wait(|news| match news {
        News::Removed { host, .. } => Some(host.clone()),
        _ => None,
    });
    assert_eq!(host, Some("127.0.0.1".into()));
    worker.stop();
    assert_eq!(worker.status(), None);
}
