//! Workers that go away in the middle of a job.

use std::fs;

use crate::{cluster::Cluster, process::wait_until_gone};

/// Behaviours: WORK-011.
#[test]
fn one_that_is_killed_with_the_shuffle_files_that_it_serves() {
    let mut cluster = Cluster::with_workers(2);
    let gate = cluster.gate("app", "reduce");
    let app = cluster.app("app", &[]);
    let executors = gate.wait(2);
    let victim = *executors.first().unwrap();
    let worker = cluster.worker_of(victim);
    let files = cluster.local_dir(worker);
    assert!(fs::read_dir(&files).unwrap().next().is_some(), "there are outputs to lose");

    // A master that can tell the driver would have the executor ended.
    cluster.master.stop();
    cluster.workers[worker].kill();
    wait_until_gone(victim);
    cluster.master.go_on();
    fs::remove_dir_all(&files).unwrap();
    gate.open();

    app.finish();
    cluster.wait_for_workers(1);
    cluster.workers.remove(worker);
    cluster.finish();
}

/// Behaviours: MAST-014.
#[test]
fn one_that_hangs_for_longer_than_it_may_and_then_goes_on() {
    let cluster = Cluster::with_workers(2);
    let gate = cluster.gate("app", "map");
    let app = cluster.app("app", &[]);
    let victim = *gate.wait(2).first().unwrap();
    let worker = &cluster.workers[cluster.worker_of(victim)];

    worker.stop();
    cluster.wait_for_workers(1);
    wait_until_gone(victim);
    worker.go_on();
    cluster.wait_for_workers(2);
    gate.open();

    app.finish();
    cluster.finish();
}
