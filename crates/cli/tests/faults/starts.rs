//! Executors that cannot start: the user hears why, and the attempts end.

use crate::{cluster::Cluster, proxy::HOST};

#[test]
fn executors_that_always_fail_at_their_start_end_the_application() {
    let cluster = Cluster::with_workers(2);
    cluster.break_executors();

    let log = cluster.app("app", &[]).fail();

    let told = ["10 executors in a row ended before they joined", "exited with code 3"];
    assert!(told.iter().all(|told| log.contains(told)), "{log}");
    cluster.finish();
}

#[test]
fn a_driver_that_executors_cannot_reach_is_told_what_to_set() {
    let mut cluster = Cluster::with_master(&["--conf", "firesteel.deploy.maxExecutorRetries=2"]);
    let master = cluster.master.url.clone();
    cluster.add_worker(&master, &[]);

    // No process listens there.
    let elsewhere = [("firesteel.driver.host", HOST), ("firesteel.driver.bindAddress", "127.0.0.1")];
    let log = cluster.app("app", &elsewhere).fail();

    assert!(log.contains("cannot connect to 127.0.0.2") && log.contains("firesteel.driver.host"), "{log}");
    cluster.finish();
}

#[test]
fn executors_that_are_too_small_are_refused_at_once() {
    let cluster = Cluster::with_workers(1);

    let log = cluster.app("app", &[("firesteel.executor.memory", "256m")]).fail();

    assert!(log.contains("too little") && log.contains("firesteel.executor.memory"), "{log}");
    cluster.finish();
}
