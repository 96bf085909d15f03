//! Networks that are cut for longer than any timeout, and healed.

use std::fs;

use crate::{
    cluster::Cluster,
    process::{is_alive, wait_until_gone},
    proxy::{HOST, Proxy},
};

/// Behaviours: HB-005, EXE-002.
#[test]
fn between_the_driver_and_all_of_its_executors() {
    let cluster = Cluster::with_workers(2);
    let gate = cluster.gate("app", "map");
    let proxy = Proxy::before(0);
    let port = proxy.port.to_string();
    let app = cluster.app(
        "app",
        &[
            ("firesteel.driver.host", HOST),
            ("firesteel.driver.bindAddress", "127.0.0.1"),
            ("firesteel.driver.port", &port),
            ("firesteel.port.maxRetries", "0"),
            ("firesteel.network.timeout", "2s"),
            ("firesteel.network.timeoutInterval", "200ms"),
            ("firesteel.executor.heartbeatInterval", "100ms"),
        ],
    );
    let executors = gate.wait(2);

    proxy.cut();
    gate.open();
    for executor in &executors {
        wait_until_gone(*executor);
    }
    assert!(is_alive(app.pid()), "the application waits for others");
    proxy.heal();

    let log = app.log.clone();
    app.finish();
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("lost the line to an executor"), "{log}");
    assert!(gate.came().len() > executors.len(), "others did the work");
    cluster.finish();
}

/// Behaviours: MAST-014.
#[test]
fn between_the_master_and_a_worker() {
    let mut cluster = Cluster::new();
    let direct = cluster.master.url.clone();
    let proxy = Proxy::before(cluster.master.port());
    let behind = format!("firesteel://{HOST}:{}", proxy.port);
    cluster.add_worker(&direct, &[]);
    cluster.add_worker(&behind, &["--conf", "firesteel.worker.preferConfiguredMasterAddress=true"]);
    cluster.wait_for_workers(2);
    let gate = cluster.gate("app", "map");
    let app = cluster.app("app", &[]);
    let cut_off = gate.wait(2).into_iter().find(|executor| cluster.worker_of(*executor) == 1).unwrap();

    proxy.cut();
    cluster.wait_for_workers(1);
    wait_until_gone(cut_off);
    proxy.heal();
    cluster.wait_for_workers(2);
    gate.open();

    app.finish();
    cluster.finish();
}
