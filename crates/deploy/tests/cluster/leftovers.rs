//! A worker is killed: its executors notice, and the next worker cleans up.

use std::{fs, path::PathBuf};

use firesteel_deploy::worker::variable;
use firesteel_net::Secret;
use firesteel_scheduler::deploy::{Command, ExecutorState};

use crate::{
    parts::{PART, Part, arguments},
    support::*,
};

/// The executor that watches its worker.
fn watching(cluster: &Cluster) -> Command {
    let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let sealed = cluster.security.seal_app_secret(&Secret::random());
    let environment = [
        (PART, "executor"),
        (variable::APP_SECRET, &sealed),
        (variable::APP_ID, "{{APP_ID}}"),
        (variable::EXECUTOR_ID, "{{EXECUTOR_ID}}"),
        (variable::WORKER_URL, "{{WORKER_URL}}"),
    ];
    let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    Command { program, arguments: arguments(), environment, artifacts: vec![] }
}

fn local_folders(cluster: &Cluster) -> Vec<PathBuf> {
    let entries = fs::read_dir(cluster.folder.path().join("w/local")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Behaviours: WORK-011.
#[test]
fn executors_end_with_a_worker_that_is_killed_and_the_next_one_clears_what_is_left() {
    let cluster = Cluster::new();
    let folder = cluster.folder.path().join("w");
    let secret = cluster.security.secret.clone().unwrap();
    let worker = Part::start("worker", &folder, &secret, cluster.master.address());
    cluster.wait_for_workers(1);
    let watches = cluster.app_with(description(watching(&cluster)));
    let ignores = cluster.app("echo $$ > pid; exec sleep 1000");
    let (watches_id, ignores_id) = (watches.id(), ignores.id());
    let pid_of = |app: &str| number_in(&folder.join("work").join(app).join("0/pid"));
    let (watching, ignoring) = (pid_of(watches_id.as_str()), pid_of(ignores_id.as_str()));
    eventually("the master knows that they run, and so they are written down", || {
        let apps = cluster.status().apps;
        let executors = apps.iter().flat_map(|app| &app.executors);
        (executors.filter(|executor| executor.state == ExecutorState::Running).count() == 2).then_some(())
    });
    let left = local_folders(&cluster);
    assert_eq!(left.len(), 1);

    worker.kill();

    wait_until_gone(watching);
    assert!(is_running(ignoring), "what does not watch is left");
    assert!(left[0].join(watches_id.as_str()).exists());
    watches.removed(0);
    let next = cluster.worker("w", 2);
    wait_until_gone(ignoring);
    assert!(!left[0].exists(), "the local files of the killed worker are gone");
    assert!(folder.join("work").join(ignores_id.as_str()).exists(), "logs stay");
    eventually("they run again on the next worker", || {
        next.status().filter(|status| status.executors.len() == 2)
    });
}
