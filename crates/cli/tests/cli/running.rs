//! What is seen of an application while it runs: at its master, its workers and its driver.

use std::fs;

use serde_json::Value;

use crate::{
    apps::{GATE, GATED, own_executable},
    support::{Beside, Cluster, eventually, firesteel, get},
};

/// Pages and paths are told as one address.
fn fetch(url: &str) -> crate::support::Fetched {
    let path = url.match_indices('/').nth(2).map_or(url.len(), |(at, _)| at);
    get(&url[..path], &url[path..])
}

fn text(value: &Value) -> &str {
    value.as_str().expect("it is a text")
}

#[test]
fn pages_show_how_far_it_is_and_lead_to_its_workers_and_logs() {
    let cluster = Cluster::up(2, 2, &[]);
    let gate = cluster.home.path().join("gate");
    let mut command = firesteel(cluster.home.path());
    command.args(["submit", "--master", &cluster.master, "--name", "gated", "--conf", "firesteel.ui.port=0"]);
    command.args(["--executor-cores", "1", "--executor-memory", "512m", "--total-executor-cores", "3"]);
    command.arg(own_executable()).args(GATED).env(GATE, &gate);
    let application = Beside::start(cluster.home.path(), "gated.log", command);

    let app = eventually("its executors run", || {
        let mut status = get(&cluster.page, "/json").json();
        let app = status["activeapps"].get_mut(0)?.take();
        let executors = app["executors"].as_array()?;
        let run = executors.iter().filter(|executor| executor["state"] == "RUNNING").count();
        (run == 3).then_some(app)
    });
    assert_eq!(
        (text(&app["name"]), app["cores"].as_u64(), app["memoryperexecutor"].as_u64()),
        ("gated", Some(3), Some(512))
    );
    let (id, ui) = (text(&app["id"]), text(&app["webuiaddress"]));
    let api = format!("{ui}/api/v1/applications/{id}");
    eventually("one task has ended and three run", || {
        let stages = fetch(&format!("{api}/stages")).json();
        (stages[0]["numCompleteTasks"] == 1 && stages[0]["numActiveTasks"] == 3).then_some(())
    });
    let stages = fetch(&format!("{ui}/stages/")).body;
    assert!(stages.contains("Active stages (1)") && stages.contains("1/4 (3 running)"), "{stages}");

    let executors = fetch(&format!("{api}/executors")).json();
    for executor in executors.as_array().unwrap() {
        let log = text(&executor["executorLogs"]["stderr"]);
        assert!(cluster.worker_pages.iter().any(|page| log.starts_with(page.as_str())), "{log}");
        let shown = fetch(log);
        assert!(shown.status == 200 && shown.body.contains("stderr of executor"), "{shown:?}");
        let page = fetch(&format!("{ui}/executors/")).body;
        assert!(page.contains(&log.replace('&', "&amp;")), "{page}");
    }
    let overview = get(&cluster.page, "/").body;
    for page in cluster.worker_pages.iter().chain([&ui.to_owned()]) {
        assert!(overview.contains(&format!("href=\"{page}\"")), "{page} in {overview}");
    }
    let of_app = get(&cluster.page, &format!("/app/?appId={id}")).body;
    assert_eq!(of_app.matches("logType=stdout").count(), 3, "{of_app}");
    let status = cluster.run(&["status"]).worked().out;
    assert!(status.contains(id) && status.contains("RUNNING") && status.contains("3 of 4 cores"), "{status}");

    fs::write(&gate, "").unwrap();
    let (code, said) = application.wait();
    assert!(code == Some(0) && said.contains("the sum is 6"), "{said}");
}

/// Behaviours: MAST-002.
#[test]
fn an_application_waits_for_what_another_uses_and_says_so() {
    let cluster = Cluster::up(1, 1, &[]);
    let gate = cluster.home.path().join("gate");
    let start = |name: &str| {
        let mut command = firesteel(cluster.home.path());
        command.args(["submit", "--master", &cluster.master, "--executor-memory", "512m"]);
        command
            .args(["--conf", "firesteel.ui.enabled=false", &own_executable()])
            .args(GATED)
            .env(GATE, &gate);
        Beside::start(cluster.home.path(), name, command)
    };
    let first = start("first.log");
    eventually("the first has the core", || {
        (get(&cluster.page, "/json").json()["coresused"] == 1).then_some(())
    });

    let mut second = start("second.log");
    second.says(&["no executor yet", "1 cores and 512 MiB", "it starts when they end"]);
    fs::write(&gate, "").unwrap();

    for application in [first, second] {
        let (code, said) = application.wait();
        assert!(code == Some(0) && said.contains("the sum is 6"), "{said}");
    }
}
