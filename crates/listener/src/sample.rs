//! Events for tests.

use std::sync::Arc;

use firesteel_types::{
    AttemptId, AttemptNumber, Cpus, ExecutorId, JobId, JobOutcome, ListenerEvent, Locality, PartitionId,
    ProfileId, Properties, StageAttemptId, StageId, StageInfo, TaskEndReason, TaskFailure, TaskIndex,
    TaskInfo, TaskMetrics, Timestamp,
};

/// When everything happens, unless a test sets another time.
pub(super) const NOW: Timestamp = Timestamp::from_secs(1_709_210_096);

pub(super) fn stage_id(stage: u32, attempt: u32) -> StageAttemptId {
    StageAttemptId::new(StageId(stage), attempt)
}

/// A stage attempt that is not submitted yet.
pub(super) fn info(stage: u32, attempt: u32, tasks: u32) -> StageInfo {
    StageInfo {
        id: stage_id(stage, attempt),
        name: Arc::from(format!("count at app.rs:{stage}")),
        tasks,
        rdds: Vec::new(),
        parents: Vec::new(),
        shuffle: None,
        profile: ProfileId::DEFAULT,
        submitted: None,
        completed: None,
        failure: None,
    }
}

pub(super) fn job_start(job: u32, stages: &[StageInfo]) -> ListenerEvent {
    job_start_with(job, stages, Properties::default())
}

pub(super) fn job_start_with(job: u32, stages: &[StageInfo], properties: Properties) -> ListenerEvent {
    let stages = stages.iter().cloned().map(Arc::new).collect();
    ListenerEvent::JobStart { job: JobId(job), time: NOW, stages, properties }
}

pub(super) fn job_end(job: u32) -> ListenerEvent {
    ListenerEvent::JobEnd { job: JobId(job), time: NOW, outcome: JobOutcome::Succeeded }
}

pub(super) fn job_failed(job: u32, reason: &str) -> ListenerEvent {
    ListenerEvent::JobEnd { job: JobId(job), time: NOW, outcome: JobOutcome::Failed(reason.to_owned()) }
}

pub(super) fn submitted(info: &StageInfo) -> ListenerEvent {
    let info = StageInfo { submitted: Some(NOW), ..info.clone() };
    ListenerEvent::StageSubmitted { info: Arc::new(info), properties: Properties::default() }
}

pub(super) fn completed(info: &StageInfo) -> ListenerEvent {
    let info = StageInfo { submitted: Some(NOW), completed: Some(NOW), ..info.clone() };
    ListenerEvent::StageCompleted { info: Arc::new(info) }
}

pub(super) fn failed(info: &StageInfo, reason: &str) -> ListenerEvent {
    let failure = Some(reason.to_owned());
    let info = StageInfo { submitted: Some(NOW), completed: Some(NOW), failure, ..info.clone() };
    ListenerEvent::StageCompleted { info: Arc::new(info) }
}

/// The first attempt of a task, on an executor.
pub(super) fn task(partition: u32, executor: u32) -> TaskInfo {
    TaskInfo {
        attempt: AttemptId(partition.into()),
        index: TaskIndex(partition),
        partition: PartitionId(partition),
        number: AttemptNumber(0),
        executor: ExecutorId(executor),
        locality: Locality::Any,
        speculative: false,
        launched: NOW,
    }
}

pub(super) fn task_start(set: StageAttemptId, task: TaskInfo) -> ListenerEvent {
    ListenerEvent::TaskStart { set, task }
}

pub(super) fn task_end(set: StageAttemptId, task: TaskInfo, reason: TaskEndReason) -> ListenerEvent {
    ListenerEvent::TaskEnd { set, task, time: NOW, reason, metrics: TaskMetrics::default() }
}

/// A task that starts and succeeds.
pub(super) fn success(set: StageAttemptId, task: TaskInfo) -> [ListenerEvent; 2] {
    [task_start(set, task), task_end(set, task, TaskEndReason::Success)]
}

pub(super) fn panicked() -> TaskEndReason {
    TaskEndReason::Failed(TaskFailure::panicked("broken"))
}

pub(super) fn killed() -> TaskEndReason {
    TaskEndReason::Failed(TaskFailure::killed("not wanted any more"))
}

pub(super) fn executor_added(executor: u32, host: &str) -> ListenerEvent {
    ListenerEvent::ExecutorAdded {
        executor: ExecutorId(executor),
        host: host.into(),
        cpus: Cpus::cores(4),
        profile: ProfileId::DEFAULT,
        time: NOW,
    }
}

pub(super) fn executor_removed(executor: u32) -> ListenerEvent {
    ListenerEvent::ExecutorRemoved { executor: ExecutorId(executor), time: NOW, reason: "gone".to_owned() }
}
