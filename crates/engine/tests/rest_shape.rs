//! What the status store answers, printed as JSON, has the shape of Spark's REST API.

use std::{sync::Arc, time::Duration};

use firesteel::listener::{Listener, StatusStore};
use firesteel_types::{
    Accumulable, AccumulatorId, AttemptId, AttemptNumber, Cpus, ExecutorId, JobId, ListenerEvent, Locality,
    PartitionId, ProfileId, Properties, RddId, StageAttemptId, StageId, StageInfo, TaskIndex, TaskInfo,
    Timestamp,
};
use serde_json::{json, to_value};

const NOW: Timestamp = Timestamp::from_secs(1_709_210_096);
const STAGE: StageAttemptId = StageAttemptId::new(StageId(4), 1);

fn info() -> StageInfo {
    StageInfo {
        id: STAGE,
        name: Arc::from("count at app.rs:4"),
        tasks: 2,
        rdds: vec![RddId(8)],
        parents: Vec::new(),
        shuffle: None,
        profile: ProfileId::DEFAULT,
        submitted: Some(NOW),
        completed: None,
        failure: None,
    }
}

fn task() -> TaskInfo {
    TaskInfo {
        attempt: AttemptId(0),
        index: TaskIndex(0),
        partition: PartitionId(0),
        number: AttemptNumber(0),
        executor: ExecutorId(1),
        locality: Locality::Any,
        speculative: false,
        launched: NOW + Duration::from_millis(7),
    }
}

fn store_after(events: impl IntoIterator<Item = ListenerEvent>) -> StatusStore {
    let mut store = StatusStore::default();
    for event in events {
        store.on_event(&event);
    }
    store
}

#[test]
fn jobs_look_as_in_sparks_rest_api() {
    let properties = Properties::default().with(Properties::TAGS, "a,b").with(Properties::JOB_GROUP, "g");
    let stages = vec![Arc::new(info())];
    let store = store_after([ListenerEvent::JobStart { job: JobId(3), time: NOW, stages, properties }]);

    let expected = json!({
        "jobId": 3, "name": "count at app.rs:4", "submissionTime": "2024-02-29T12:34:56.000GMT",
        "stageIds": [4], "jobGroup": "g", "jobTags": ["a", "b"], "status": "RUNNING",
        "numTasks": 2, "numActiveTasks": 0, "numCompletedTasks": 0, "numSkippedTasks": 0, "numFailedTasks": 0,
        "numKilledTasks": 0, "numCompletedIndices": 0, "numActiveStages": 0, "numCompletedStages": 0,
        "numSkippedStages": 0, "numFailedStages": 0,
    });
    assert_eq!(to_value(store.job(JobId(3))).unwrap(), expected);
}

#[test]
fn stages_look_as_in_sparks_rest_api() {
    let failed = StageInfo { completed: Some(NOW), failure: Some("lost".to_owned()), ..info() };
    let properties = Properties::default();
    let (name, update, value) = ("rows".into(), "3".to_owned(), "7".to_owned());
    let added = Accumulable { id: AccumulatorId(5), name, update, value };
    let store = store_after([
        ListenerEvent::StageSubmitted { info: Arc::new(info()), properties },
        ListenerEvent::TaskStart { set: STAGE, task: task() },
        ListenerEvent::AccumulatorsUpdated { set: STAGE, attempt: AttemptId(0), accumulables: vec![added] },
        ListenerEvent::StageCompleted { info: Arc::new(failed) },
    ]);

    let expected = json!({
        "status": "FAILED", "stageId": 4, "attemptId": 1, "numTasks": 2, "numActiveTasks": 1,
        "numCompleteTasks": 0, "numFailedTasks": 0, "numKilledTasks": 0, "numCompletedIndices": 0,
        "submissionTime": "2024-02-29T12:34:56.000GMT",
        "firstTaskLaunchedTime": "2024-02-29T12:34:56.007GMT",
        "completionTime": "2024-02-29T12:34:56.000GMT", "failureReason": "lost",
        "executorRunTime": 0, "peakExecutionMemory": 0, "inputBytes": 0, "inputRecords": 0,
        "shuffleReadBytes": 0, "shuffleReadRecords": 0, "shuffleWriteBytes": 0, "shuffleWriteRecords": 0,
        "name": "count at app.rs:4", "schedulingPool": "default", "rddIds": [8], "resourceProfileId": 0,
        "accumulatorUpdates": [{ "id": 5, "name": "rows", "value": "7" }],
    });
    assert_eq!(to_value(store.stage_attempt(STAGE)).unwrap(), expected);
}

#[test]
fn executors_look_as_in_sparks_rest_api() {
    let added = |executor, host: &str| ListenerEvent::ExecutorAdded {
        executor,
        host: host.into(),
        cpus: Cpus::cores(4),
        profile: ProfileId::DEFAULT,
        time: NOW,
    };
    let store = store_after([added(ExecutorId(1), "h1"), added(ExecutorId::DRIVER, "h0")]);

    let expected = json!({
        "id": "1", "hostPort": "h1", "isActive": true, "totalCores": 4, "activeTasks": 0, "failedTasks": 0,
        "completedTasks": 0, "killedTasks": 0, "totalTasks": 0, "totalDuration": 0, "totalInputBytes": 0,
        "totalShuffleRead": 0, "totalShuffleWrite": 0, "isExcluded": false,
        "addTime": "2024-02-29T12:34:56.000GMT", "resourceProfileId": 0, "executorLogs": {},
    });
    assert_eq!(to_value(store.executor(ExecutorId(1))).unwrap(), expected);
    assert_eq!(to_value(store.executor(ExecutorId::DRIVER)).unwrap()["id"], "driver");
}
