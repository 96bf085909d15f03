//! What the pages of a master show.

use std::sync::Arc;

use firesteel_deploy::master::{
    AppStatus, DriverStatusLine, ExecutorStatus, MasterStatus, WorkerLine, WorkerLineState,
};
use firesteel_scheduler::{
    deploy::{DriverState, ExecutorState, Grant},
    master::{AppEnd, AppState, CompletedApp, DriverOutcome, RecoveryState, UNLIMITED},
};
use firesteel_types::{ExecutorId, ExecutorKey, Timestamp};
use serde_json::json;

use super::MasterSource;
use crate::{
    Pages,
    html::now,
    serve::testing::{get, site},
};

const EVIL: &str = "<script>alert('&')</script>";
const START: Timestamp = Timestamp::from_secs(1_709_210_096);

struct Fixed(Option<MasterStatus>);

impl MasterSource for Fixed {
    fn status(&self) -> Option<MasterStatus> {
        self.0.clone()
    }
}

fn worker(id: &str, state: WorkerLineState, cores: u32) -> WorkerLine {
    let gpus = [("gpu".into(), ["0".into(), "1".into()].into())].into();
    WorkerLine {
        id: id.into(),
        host: "h1".into(),
        port: 7078,
        page: Some("http://h1:8081".to_owned()),
        state,
        resources: Grant { cores, memory_mib: 2048, addresses: gpus },
        cores_used: 1,
        memory_used_mib: 512,
        last_heartbeat: now(),
        executors: vec![ExecutorKey::new("app-1", 0)],
        drivers: vec!["driver-1".into()],
    }
}

fn driver(id: &str, ended: Option<(Timestamp, DriverOutcome)>) -> DriverStatusLine {
    DriverStatusLine {
        id: id.into(),
        submitted: START,
        worker: Some("worker-1".into()),
        cores: 1,
        memory_mib: 1024,
        supervise: true,
        ended,
    }
}

fn status() -> MasterStatus {
    let executor = ExecutorStatus {
        id: ExecutorId(0),
        worker: "worker-1".into(),
        state: ExecutorState::Running,
        cores: 1,
        memory_mib: 512,
        addresses: [("gpu".into(), ["1".into()].into())].into(),
    };
    let app = AppStatus {
        id: "app-1".into(),
        name: EVIL.to_owned(),
        state: AppState::Running,
        registered: START,
        cores_granted: 1,
        cores_left: UNLIMITED,
        executor_memory_mib: 512,
        executor_limit: 3,
        executors: vec![executor],
        driver_url: "h9:4041".to_owned(),
        page: Some("http://h9:4040".to_owned()),
    };
    let completed = CompletedApp {
        id: "app-0".into(),
        name: "the old one".to_owned(),
        registered: START,
        ended: START + std::time::Duration::from_secs(90),
        end: AppEnd::Failed,
    };
    let failed = DriverOutcome::Ended { state: DriverState::Error, error: Some(EVIL.to_owned()) };
    MasterStatus {
        url: "firesteel://h0:7077".to_owned(),
        state: RecoveryState::Alive,
        workers: vec![
            worker("worker-1", WorkerLineState::Alive, 4),
            worker("worker-0", WorkerLineState::Dead, 8),
        ],
        apps: vec![app],
        drivers: vec![driver("driver-1", None)],
        completed_apps: vec![completed],
        completed_drivers: vec![driver("driver-0", Some((START, failed)))],
    }
}

#[test]
fn the_overview_shows_everything_and_runs_no_script() {
    let site = site(Pages::master(Arc::new(Fixed(Some(status())))));

    let page = get(&site, "/");

    assert_eq!(page.status, 200);
    assert!(page.head.contains("content-type: text/html; charset=utf-8"), "{}", page.head);
    let shown = [
        "Firesteel master at firesteel://h0:7077",
        "ALIVE",
        "Workers (2)",
        "worker-1",
        "DEAD",
        "512.0 MiB of 2.0 GiB",
        "1 of 4",
        "2 gpu",
        "Applications (1)",
        "/app/?appId=app%2D1",
        "&lt;script&gt;",
        "Drivers (1)",
        "driver-1",
        "Completed applications (1)",
        "the old one",
        "1.5 min",
        "Completed drivers (1)",
        "ERROR",
        "2024-02-29 12:34:56",
        "http-equiv=\"refresh\"",
    ];
    for text in shown {
        assert!(page.body.contains(text), "{text} in {}", page.body);
    }
    assert!(!page.body.contains("<script"), "{}", page.body);
}

#[test]
fn one_application_shows_its_executors() {
    let site = site(Pages::master(Arc::new(Fixed(Some(status())))));

    let page = get(&site, "/app/?appId=app%2D1");

    for text in
        ["app-1", "&lt;script&gt;", "may take any more", "Executors (1)", "worker-1", "RUNNING", "gpu 1"]
    {
        assert!(page.body.contains(text), "{text} in {}", page.body);
    }
    assert!(!page.body.contains("<script"));
    let unknown = get(&site, "/app/?appId=%3Cscript%3E");
    assert_eq!(unknown.status, 404);
    assert!(unknown.head.contains("text/plain"), "what is not HTML cannot be markup: {}", unknown.head);
}

#[test]
fn json_has_the_shape_of_sparks_master() {
    let site = site(Pages::master(Arc::new(Fixed(Some(status())))));

    let json = get(&site, "/json").json();

    let whole = ["url", "status", "aliveworkers", "cores", "coresused", "memory", "memoryused"];
    let whole = whole.map(|key| json[key].clone());
    assert_eq!(
        whole.to_vec(),
        json!(["firesteel://h0:7077", "ALIVE", 1, 4, 1, 2048, 512]).as_array().unwrap().clone()
    );
    let worker = &json["workers"][0];
    assert_eq!(
        (&worker["coresfree"], &worker["memoryfree"], &worker["state"]),
        (&json!(3), &json!(1536), &json!("ALIVE"))
    );
    assert_eq!(worker["resources"], json!({ "gpu": { "name": "gpu", "addresses": ["0", "1"] } }));
    let app = &json["activeapps"][0];
    assert_eq!((&app["id"], &app["name"], &app["state"]), (&json!("app-1"), &json!(EVIL), &json!("RUNNING")));
    assert_eq!((&app["cores"], &app["memoryperexecutor"]), (&json!(1), &json!(512)));
    let completed = &json["completedapps"][0];
    assert_eq!((&completed["state"], &completed["duration"]), (&json!("FAILED"), &json!(90_000)));
    assert_eq!(json["activedrivers"][0]["state"], "RUNNING");
    assert_eq!(json["completeddrivers"][0]["state"], "ERROR");
    assert_eq!(get(&site, "/json/").status, 200);
}

#[test]
fn a_master_that_has_ended_says_so() {
    let site = site(Pages::master(Arc::new(Fixed(None))));

    assert_eq!(get(&site, "/").status, 503);
    assert_eq!(get(&site, "/json").body, "the master has ended\n");
}
