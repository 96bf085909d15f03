//! What the pages of a worker show.

use std::sync::Arc;

use firesteel_deploy::worker::{
    LogError, LogOwner, LogRequest, LogSlice, LogStream, WorkerDriver, WorkerExecutor, WorkerStatus,
};
use firesteel_scheduler::{
    deploy::{DriverState, DriverStateChange, ExecutorState, ExecutorStateChange, Grant},
    worker::{FinishedDriver, FinishedExecutor},
};
use firesteel_types::ExecutorKey;
use serde_json::json;

use super::WorkerSource;
use crate::{
    Pages, Site,
    serve::testing::{get, site},
};

/// A log of 250 bytes whose first 50 are gone, with markup at its end.
struct Fixed;

const END: &str = "<script>alert(1)</script>\n";

fn whole_log() -> Vec<u8> {
    let mut log = vec![b'.'; 250 - END.len()];
    log.extend(END.as_bytes());
    log
}

impl WorkerSource for Fixed {
    fn status(&self) -> Option<WorkerStatus> {
        let grant = Grant { cores: 2, memory_mib: 512, ..Grant::default() };
        let change = ExecutorStateChange {
            executor: ExecutorKey::new("app-1", 0),
            state: ExecutorState::Exited,
            message: Some("<b>killed</b>".to_owned()),
            exit_code: Some(137),
        };
        let driver = DriverStateChange { driver: "driver-0".into(), state: DriverState::Failed, error: None };
        Some(WorkerStatus {
            id: Some("worker-1".into()),
            url: "h1:7078".to_owned(),
            master: Some("h0:7077".to_owned()),
            resources: Grant { cores: 4, memory_mib: 2048, ..Grant::default() },
            cores_used: 2,
            memory_used_mib: 512,
            executors: vec![WorkerExecutor {
                executor: ExecutorKey::new("app-1", 1),
                state: ExecutorState::Running,
                grant: grant.clone(),
            }],
            drivers: vec![WorkerDriver { driver: "driver-1".into(), grant: grant.clone() }],
            finished_executors: vec![FinishedExecutor { change, grant: grant.clone() }],
            finished_drivers: vec![FinishedDriver { change: driver, grant }],
        })
    }

    fn log(&self, request: &LogRequest) -> Result<LogSlice, LogError> {
        if request.owner != LogOwner::Executor(ExecutorKey::new("app-1", 1))
            || request.stream != LogStream::Stderr
        {
            return Err(LogError::Missing { owner: "<nobody>".to_owned(), stream: "stdout" });
        }
        let log = whole_log();
        let (first, end) = (50, log.len() as u64);
        let start = request.offset.unwrap_or_else(|| end.saturating_sub(request.length)).clamp(first, end);
        let until = (start + request.length).min(end);
        Ok(LogSlice { start, bytes: log[start as usize..until as usize].to_vec(), first, end })
    }
}

fn worker_site() -> Site {
    site(Pages::worker(Arc::new(Fixed)))
}

#[test]
fn the_overview_shows_processes_and_leads_to_their_logs() {
    let page = get(&worker_site(), "/");

    let shown = [
        "Firesteel worker at h1:7078",
        "worker-1",
        "h0:7077",
        "2/4",
        "Executors (1)",
        "1 of app-1",
        "RUNNING",
        "href=\"/logPage/?appId=app%2D1&amp;executorId=1&amp;logType=stderr\"",
        "Drivers (1)",
        "href=\"/logPage/?driverId=driver%2D1&amp;logType=stdout\"",
        "Finished executors (1)",
        "137",
        "&lt;b&gt;killed",
        "Finished drivers (1)",
        "FAILED",
    ];
    for text in shown {
        assert!(page.body.contains(text), "{text} in {}", page.body);
    }
    assert!(!page.body.contains("<b>"));
}

#[test]
fn json_has_the_shape_of_sparks_worker() {
    let json = get(&worker_site(), "/json").json();

    assert_eq!((&json["id"], &json["masterurl"]), (&json!("worker-1"), &json!("firesteel://h0:7077")));
    assert_eq!((&json["cores"], &json["coresused"]), (&json!(4), &json!(2)));
    assert_eq!((&json["memory"], &json["memoryused"]), (&json!(2048), &json!(512)));
    let executor = &json["executors"][0];
    assert_eq!(
        (&executor["appid"], &executor["id"], &executor["memory"]),
        (&json!("app-1"), &json!(1), &json!(512))
    );
    assert_eq!(json["finishedexecutors"][0]["exitcode"], 137);
    assert_eq!(
        (&json["drivers"][0]["id"], &json["finisheddrivers"][0]["state"]),
        (&json!("driver-1"), &json!("FAILED"))
    );
}

#[test]
fn the_end_of_a_log_is_shown_first_and_leads_back() {
    let page = get(&worker_site(), "/logPage/?appId=app-1&executorId=1&logType=stderr&byteLength=100");

    assert!(page.body.contains("bytes 150 to 250 of 250"), "{}", page.body);
    assert!(page.body.contains("&lt;script&gt;alert(1)"), "{}", page.body);
    assert!(!page.body.contains("<script"));
    assert!(page.body.contains("http-equiv=\"refresh\""), "the end of a log grows");
    assert!(page.body.contains("offset=50&amp;byteLength=100\">Earlier"), "{}", page.body);
    assert!(!page.body.contains(">Later"));
}

#[test]
fn an_older_part_of_a_log_leads_both_ways_and_stays() {
    let page =
        get(&worker_site(), "/logPage/?appId=app-1&executorId=1&logType=stderr&offset=60&byteLength=100");

    for text in [
        "bytes 60 to 160 of 250",
        "offset=50&amp;byteLength=100\">First",
        "offset=160&amp;byteLength=100\">Later",
    ] {
        assert!(page.body.contains(text), "{text} in {}", page.body);
    }
    assert!(!page.body.contains("refresh"));
}

#[test]
fn the_bytes_of_a_log_come_as_they_are() {
    let log = get(&worker_site(), "/log/?appId=app-1&executorId=1&logType=stderr&offset=0&byteLength=1000");

    assert!(log.head.contains("text/plain") && log.head.contains("nosniff"), "{}", log.head);
    assert_eq!(log.body.as_bytes(), &whole_log()[50..]);
}

#[test]
fn a_log_that_is_not_there_or_not_named_is_told() {
    let site = worker_site();

    assert_eq!(get(&site, "/logPage/?appId=app-1&executorId=9&logType=stderr").status, 404);
    for bad in [
        "",
        "?appId=a&logType=stdout",
        "?appId=a&executorId=1",
        "?appId=a&executorId=1&logType=../x",
        "?driverId=d",
    ] {
        let answer = get(&site, &format!("/logPage/{bad}"));
        assert_eq!(answer.status, 400, "{bad}");
        assert!(answer.body.starts_with("say w"), "{}", answer.body);
    }
    assert_eq!(get(&site, "/log/?appId=a&executorId=x&logType=stdout").status, 400);
}
