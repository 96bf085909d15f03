//! `firesteel cluster`.

use std::fs;

use serde_json::json;

use crate::support::{Cluster, eventually, get, is_running, processes_in, run};

#[test]
fn a_cluster_comes_up_is_shown_and_goes_without_a_trace() {
    let cluster = Cluster::up(2, 1, &[]);
    let pids = cluster.pids();
    assert!(pids.len() == 3 && pids.iter().all(|pid| is_running(*pid)), "{pids:?}");

    let status = cluster.run(&["cluster", "status"]).worked().out;
    for text in ["PROCESS", "up", "2 alive, 0 of 2 cores", &cluster.master, &cluster.page, "worker-"] {
        assert!(status.contains(text), "{text} in {status}");
    }
    let again = cluster.run(&["cluster", "up"]);
    again.failed(1, &["a cluster is up already", &cluster.master, "firesteel cluster down"]);
    // Without a name the cluster of this machine is meant.
    let json = cluster.run(&["status", "--json"]).worked().out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["url"], &json["aliveworkers"]), (&json!(cluster.master), &json!(2)));
    let page = get(&cluster.worker_pages[1], "/");
    assert!(page.status == 200 && page.body.contains("Firesteel worker"), "{page:?}");

    assert!(cluster.down().worked().out.contains("the cluster is down"));

    assert!(pids.iter().all(|pid| !is_running(*pid)), "{pids:?}");
    assert_eq!(processes_in(cluster.home.path()), [""; 0]);
    assert!(!cluster.folder().exists());
    assert!(cluster.down().worked().out.contains("no cluster is up"));
    assert_eq!(cluster.run(&["cluster", "status"]).code, Some(1));
}

#[test]
fn a_cluster_with_a_dead_worker_says_so_and_still_goes_down() {
    let cluster = Cluster::up(2, 1, &[]);
    let pids = cluster.pids();
    let killed = std::process::Command::new("kill").args(["-9", &pids[1].to_string()]).status().unwrap();
    assert!(killed.success());
    eventually("it is gone", || (!is_running(pids[1])).then_some(()));

    let status = cluster.run(&["cluster", "status"]);
    assert!(status.code == Some(1) && status.out.contains("gone"), "{status:?}");
    let down = cluster.run(&["cluster", "down", "--keep-logs"]).worked();

    assert!(down.out.contains("the cluster is down"));
    assert!(pids.iter().all(|pid| !is_running(*pid)));
    let log = fs::read_to_string(cluster.folder().join("logs/master.log")).unwrap();
    assert!(log.contains("master listens"), "{log}");
    cluster.down().worked();
}

#[test]
fn a_cluster_that_cannot_start_says_why_and_leaves_no_process() {
    let home = tempfile::tempdir().unwrap();
    let up = |more: &[&str]| {
        let mut arguments = vec!["cluster", "up", "--cores", "1", "--memory", "512m", "--port", "0"];
        arguments.extend(["--webui-port", "0", "--worker-webui-port", "0"]);
        arguments.extend(more);
        run(home.path(), &arguments)
    };

    let told = ["the master ended", "firesteel.deploy.appIdPattern"];
    up(&["--conf", "firesteel.deploy.appIdPattern=app"]).failed(1, &told);
    // The master is there by then, and has to go again.
    up(&["--conf", "firesteel.worker.idPattern=%x"]).failed(1, &["the worker-0 ended", "bad placeholder"]);

    assert_eq!(processes_in(home.path()), [""; 0]);
    assert!(!home.path().join("firesteel/cluster/cluster.json").exists());
}

#[test]
fn workers_of_a_host_are_told_to_leave() {
    let cluster = Cluster::up(1, 1, &["--conf", "firesteel.decommission.enabled=true"]);

    let left = cluster.run(&["decommission", "127.0.0.1"]).worked();

    assert!(left.out.contains("1 worker was told to leave"), "{left:?}");
    cluster.run(&["decommission", "no-such-host"]).failed(1, &["no worker is on no-such-host"]);
    eventually("it is shown", || {
        let status = get(&cluster.page, "/json").json();
        (status["workers"][0]["state"] == "DECOMMISSIONED").then_some(())
    });
}
