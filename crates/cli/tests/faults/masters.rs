//! Masters that go away while applications run.

use serde_json::Value;

use crate::{
    cluster::Cluster,
    process::{is_alive, wait_until_gone},
};

fn states(status: &Value) -> Vec<&str> {
    let apps = status["activeapps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut all: Vec<&str> = apps.iter().filter_map(|app| app["state"].as_str()).collect();
    all.sort_unstable();
    all
}

/// Behaviours: MAST-022, MAST-023, WORK-004, CLI-004.
#[test]
fn one_that_is_killed_and_comes_back_disturbs_nobody_and_forgets_nobody() {
    let mut cluster = Cluster::with_workers(2);
    let gate = cluster.gate("first", "map");
    let first = cluster.app("first", &[]);
    let executors = gate.wait(2);
    let waiting = cluster.app("waiting", &[]);
    cluster.wait_for_status("one runs and one waits", |status| states(status) == ["RUNNING", "WAITING"]);

    cluster.master.kill();
    cluster.restart_master();

    cluster.wait_for_status("everybody is back", |status| {
        status["aliveworkers"] == 2 && status["status"] == "ALIVE" && states(status).len() == 2
    });
    let later = cluster.app("later", &[]);
    assert!(executors.iter().all(|executor| is_alive(*executor)));
    gate.open();
    first.finish();
    assert_eq!(gate.came(), executors, "no other executor was needed");
    for app in [waiting, later] {
        app.finish();
    }
    for executor in executors {
        wait_until_gone(executor);
    }
    cluster.finish();
}

#[test]
fn one_that_hangs_is_not_needed_to_end_an_application() {
    let cluster = Cluster::with_workers(2);
    let gate = cluster.gate("first", "map");
    let first = cluster.app("first", &[]);
    let (id, executors) = (first.id(), gate.wait(2));

    cluster.master.stop();
    gate.open();
    first.finish();
    for executor in executors {
        wait_until_gone(executor);
    }
    cluster.master.go_on();

    cluster.wait_until_completed(&id);
    cluster.app("second", &[]).finish();
    cluster.wait_for_workers(2);
    cluster.finish();
}
