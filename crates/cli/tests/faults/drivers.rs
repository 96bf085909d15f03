//! Drivers that are killed.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::{
    cluster::{Cluster, driver_at, run},
    job,
    process::{signal, wait_until, wait_until_gone},
};

/// Behaviours: EXE-002.
#[test]
fn executors_end_the_master_is_done_with_it_and_its_files_are_removed() {
    let cluster = Cluster::with_workers(2);
    let gate = cluster.gate("app", "reduce");
    let app = cluster.app("app", &[]);
    let (id, executors) = (app.id(), gate.wait(2));
    let folders = || {
        let workers = (0..2).flat_map(|worker| fs::read_dir(cluster.local_dir(worker)).unwrap());
        workers.filter(|own| own.as_ref().unwrap().path().join(&id).exists()).count()
    };
    assert_eq!(folders(), 2, "shuffle files are there");

    app.kill();

    for executor in executors {
        wait_until_gone(executor);
    }
    cluster.wait_until_completed(&id);
    wait_until("the files of the application are removed", || folders() == 0);
    cluster.app("next", &[]).finish();
    cluster.finish();
}

fn ended(status: &Value, driver: &str, state: &str) -> bool {
    let is_it = |listed: &Value| listed["id"] == driver && listed["state"] == state;
    status["completeddrivers"].as_array().is_some_and(|drivers| drivers.iter().any(is_it))
}

/// Behaviours: WORK-013.
#[test]
fn a_supervised_one_is_started_again_and_another_is_not() {
    let cluster = Cluster::with_workers(2);
    let gate = cluster.gate("supervised", "driver");
    let (code, driver) = run(cluster.submit("supervised", &["--supervise"]));
    assert_eq!(code, Some(0));
    let first = driver_at(&gate, None);

    signal(first, Signal::KILL);
    let second = driver_at(&gate, Some(first));
    wait_until_gone(first);
    gate.open();

    cluster.wait_for_status("it ends well", |status| ended(status, &driver, "FINISHED"));
    assert_eq!(cluster.written_answer("supervised"), job::answer());
    assert_eq!(gate.came(), [first, second].into());

    let gate = cluster.gate("alone", "driver");
    let (code, driver) = run(cluster.submit("alone", &[]));
    assert_eq!(code, Some(0));
    let first = driver_at(&gate, None);
    signal(first, Signal::KILL);
    cluster.wait_for_status("it is over", |status| ended(status, &driver, "FAILED"));
    assert_eq!(gate.came(), [first].into());
    cluster.finish();
}
