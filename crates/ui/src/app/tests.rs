//! What the pages of an application show, and its data below `/api/v1`.

use std::{sync::Arc, time::Duration};

use firesteel_types::{
    AccumulatorId, Cpus, ExecutorId, JobId, ProfileId, RddId, StageId, StorageLevel, TaskMetrics, Timestamp,
};
use serde_json::json;

use super::{
    AccumulableData, AppSource, ApplicationData, EnvironmentData, ExecutorData, JobData, JobStatus,
    RddStorageData, StageData, StageStatus,
};
use crate::{
    Pages, Site, executor_logs,
    serve::testing::{get, site},
};

const EVIL: &str = "<script>alert('&')</script>";
const START: Timestamp = Timestamp::from_secs(1_709_210_096);

struct Fixed;

fn job(id: u32, status: JobStatus) -> JobData {
    JobData {
        job_id: JobId(id),
        name: "count at app.rs:4".into(),
        description: (id == 0).then(|| EVIL.to_owned()),
        submission_time: START,
        completion_time: (status != JobStatus::Running).then_some(START + Duration::from_millis(1500)),
        stage_ids: vec![StageId(id)],
        job_group: Some("nightly".to_owned()),
        job_tags: vec!["a".to_owned()],
        status,
        failure_reason: (status == JobStatus::Failed).then(|| format!("lost {EVIL}")),
        num_tasks: 10,
        num_active_tasks: 2,
        num_completed_tasks: 3,
        num_skipped_tasks: 0,
        num_failed_tasks: 1,
        num_killed_tasks: 0,
        num_completed_indices: 3,
        num_active_stages: 1,
        num_completed_stages: 0,
        num_skipped_stages: 0,
        num_failed_stages: 0,
    }
}

fn stage(id: u32, attempt: u32, status: StageStatus) -> StageData {
    StageData {
        status,
        stage_id: StageId(id),
        attempt_id: attempt,
        num_tasks: 10,
        num_active_tasks: 2,
        num_complete_tasks: 3,
        num_failed_tasks: 1,
        num_killed_tasks: 0,
        num_completed_indices: 3,
        submission_time: Some(START),
        first_task_launched_time: Some(START),
        completion_time: status.is_over().then_some(START + Duration::from_millis(250)),
        failure_reason: (status == StageStatus::Failed).then(|| EVIL.to_owned()),
        metrics: TaskMetrics {
            shuffle_bytes_written: 4096,
            run_time_us: 2_000_000,
            ..TaskMetrics::default()
        },
        name: "map at app.rs:3".into(),
        description: None,
        scheduling_pool: "default".to_owned(),
        rdd_ids: vec![RddId(7)],
        accumulator_updates: vec![AccumulableData {
            id: AccumulatorId(1),
            name: EVIL.into(),
            value: "42".to_owned(),
        }],
        resource_profile_id: ProfileId::DEFAULT,
    }
}

fn executor(id: ExecutorId, is_active: bool) -> ExecutorData {
    ExecutorData {
        id,
        host: "h1".into(),
        is_active,
        total_cores: Cpus::cores(4),
        active_tasks: 2,
        failed_tasks: 1,
        completed_tasks: 3,
        killed_tasks: 0,
        total_tasks: 6,
        total_duration_ms: 1234,
        total_input_bytes: 0,
        total_shuffle_read: 0,
        total_shuffle_write: 4096,
        is_excluded: false,
        add_time: START,
        remove_time: (!is_active).then_some(START),
        remove_reason: (!is_active).then(|| EVIL.to_owned()),
        resource_profile_id: ProfileId::DEFAULT,
        executor_logs: executor_logs("http://h1:8081", &"app-1".into(), id),
    }
}

impl AppSource for Fixed {
    fn application(&self) -> ApplicationData {
        ApplicationData {
            id: "app-1".to_owned(),
            name: EVIL.to_owned(),
            user: "me".to_owned(),
            master: "local[2]".to_owned(),
            started: START,
        }
    }

    fn jobs(&self) -> Vec<JobData> {
        vec![job(0, JobStatus::Running), job(1, JobStatus::Succeeded), job(2, JobStatus::Failed)]
    }

    fn stages(&self) -> Vec<StageData> {
        vec![
            stage(0, 0, StageStatus::Failed),
            stage(0, 1, StageStatus::Active),
            stage(1, 0, StageStatus::Complete),
        ]
    }

    fn executors(&self) -> Vec<ExecutorData> {
        vec![
            executor(ExecutorId(1), true),
            executor(ExecutorId(2), false),
            executor(ExecutorId::DRIVER, true),
        ]
    }

    fn storage(&self) -> Vec<RddStorageData> {
        vec![RddStorageData {
            id: RddId(7),
            name: "words".to_owned(),
            num_partitions: 4,
            num_cached_partitions: 3,
            storage_level: StorageLevel::MEMORY_ONLY,
            memory_used: Some(2048),
            disk_used: None,
        }]
    }

    fn environment(&self) -> EnvironmentData {
        let settings = [
            ("firesteel.app.name", EVIL),
            ("firesteel.authenticate.secret", "0123456789abcdef"),
            ("firesteel.ssl.keyPassword", "0123456789abcdef"),
        ];
        EnvironmentData::new(settings, [("os", "linux".to_owned())])
    }
}

fn app_site() -> Site {
    site(Pages::app(Arc::new(Fixed)))
}

#[test]
fn every_page_shows_its_part_and_runs_no_script() {
    let site = app_site();
    let cases: [(&str, &[&str]); 8] = [
        (
            "/jobs/",
            &[
                "Active jobs (1)",
                "Completed jobs (1)",
                "1.5 s",
                "Failed jobs (1)",
                "3/10 (2 running, 1 failed)",
            ],
        ),
        ("/jobs/job/?id=2", &["FAILED", "nightly", "lost &lt;script&gt;", "Stages (0)"]),
        ("/jobs/job/?id=0", &["RUNNING", "Stages (2)", "/stages/stage/?id=0&amp;attempt=1"]),
        (
            "/stages/",
            &["Active stages (1)", ">0.1<", "Pending stages (0)", "Failed stages (1)", "4.0 KiB", "250 ms"],
        ),
        ("/stages/stage/?id=0&attempt=0", &["Stage 0", "Accumulators (1)", "42", "2.0 s", "&lt;script&gt;"]),
        ("/executors/", &["Executors (2)", "driver", "1.2 s", "Removed executors (1)"]),
        ("/storage/", &["Cached RDDs (1)", "words", "Memory Deserialized 1x Replicated", "3/4", "2.0 KiB"]),
        ("/environment/", &["linux", "firesteel.authenticate.secret", "(redacted)"]),
    ];

    for (path, shown) in cases {
        let page = get(&site, path);
        assert_eq!(page.status, 200, "{path}");
        for text in shown {
            assert!(page.body.contains(text), "{text} at {path} in {}", page.body);
        }
        assert!(!page.body.contains("<script"), "{path}");
        assert!(!page.body.contains("0123456789abcdef"), "{path}");
    }
    assert_eq!(get(&site, "/").status, 302);
    assert_eq!((get(&site, "/jobs/job/?id=9").status, get(&site, "/stages/stage/?id=9").status), (404, 404));
    assert_eq!(get(&site, "/jobs/job/").status, 400);
}

#[test]
fn applications_are_listed_as_in_sparks_rest_api() {
    let site = app_site();

    let listed = get(&site, "/api/v1/applications").json();

    let attempt = &listed[0]["attempts"][0];
    assert_eq!((&listed[0]["id"], &listed[0]["name"]), (&json!("app-1"), &json!(EVIL)));
    assert_eq!(
        (&attempt["startTime"], &attempt["endTime"], &attempt["sparkUser"]),
        (&json!("2024-02-29T12:34:56.000GMT"), &json!("1969-12-31T23:59:59.999GMT"), &json!("me"))
    );
    assert_eq!((&attempt["completed"], &attempt["endTimeEpoch"]), (&json!(false), &json!(-1)));
    assert_eq!(get(&site, "/api/v1/applications/app-1").json()["id"], "app-1");
    assert_eq!(get(&site, "/api/v1/applications/app-2/jobs").status, 404);
    assert!(get(&site, "/api/v1/version").json()["spark"].is_string());
}

#[test]
fn the_parts_of_an_application_are_found_as_in_sparks_rest_api() {
    let site = app_site();
    let at = |path: &str| get(&site, &format!("/api/v1/applications/app-1/{path}"));
    let ids = |path: &str, key: &str| {
        let list = at(path).json();
        list.as_array().unwrap().iter().map(|one| one[key].clone()).collect::<Vec<_>>()
    };

    assert_eq!(ids("jobs", "jobId"), [2, 1, 0]);
    assert_eq!(ids("jobs?status=succeeded", "jobId"), [1]);
    assert_eq!(at("jobs/2").json()["status"], "FAILED");
    assert_eq!(ids("stages?status=active", "attemptId"), [1]);
    assert_eq!(ids("stages/0", "attemptId"), [0, 1]);
    assert_eq!(at("stages/0/1").json()["status"], "ACTIVE");
    assert_eq!(ids("executors", "id"), ["1", "driver"]);
    assert_eq!(ids("allexecutors", "id"), ["1", "2", "driver"]);
    assert_eq!(
        at("storage/rdd").json(),
        json!([{
            "id": 7, "name": "words", "numPartitions": 4, "numCachedPartitions": 3,
            "storageLevel": "Memory Deserialized 1x Replicated", "memoryUsed": 2048,
        }])
    );
    let environment = at("environment").json();
    assert_eq!(environment["sparkProperties"][0], json!(["firesteel.app.name", EVIL]));
    assert!(!environment.to_string().contains("0123456789abcdef"));
    for missing in ["jobs/9", "stages/9", "stages/0/9", "nothing"] {
        assert_eq!(at(missing).status, 404, "{missing}");
    }
    assert_eq!((at("jobs?status=odd").status, at("jobs/x").status), (400, 400));
}
