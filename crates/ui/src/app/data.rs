//! What runs and what ran: [`JobData`], [`StageData`], [`ExecutorData`].

use std::{collections::BTreeMap, sync::Arc};

use firesteel_types::{
    AccumulatorId, Cpus, ExecutorId, Host, JobId, ProfileId, RddId, StageAttemptId, StageId, TaskMetrics,
    Timestamp,
};
use serde::Serialize;

use super::shape;

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum JobStatus {
    /// It is not over.
    Running,
    /// All of its results are there.
    Succeeded,
    /// It failed or was cancelled.
    Failed,
}

/// How far an attempt of a stage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum StageStatus {
    /// A job has it, and it is not submitted yet.
    Pending,
    /// It was submitted and is not over.
    Active,
    /// All of its tasks succeeded.
    Complete,
    /// It failed; another attempt may follow.
    Failed,
    /// Its outputs were there already, so nothing was run.
    Skipped,
}

impl StageStatus {
    /// Whether nothing more will happen to the attempt, but for tasks that still run.
    ///
    /// ```
    /// # use firesteel_ui::app::StageStatus;
    /// assert!(StageStatus::Skipped.is_over());
    /// assert!(!StageStatus::Active.is_over());
    /// ```
    pub const fn is_over(self) -> bool {
        match self {
            Self::Complete | Self::Failed | Self::Skipped => true,
            Self::Pending | Self::Active => false,
        }
    }
}

/// One job, as its application knows it.
///
/// Every attempt of a task counts, so with retries more tasks are completed than there are;
/// `num_completed_indices` counts each partition of a stage once and is what progress is measured by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobData {
    /// The job.
    pub job_id: JobId,
    /// What made its last stage.
    pub name: Arc<str>,
    /// What it does, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it was accepted.
    #[serde(serialize_with = "shape::time")]
    pub submission_time: Timestamp,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shape::optional_time")]
    pub completion_time: Option<Timestamp>,
    /// Its stages, in ascending order.
    pub stage_ids: Vec<StageId>,
    /// Its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_group: Option<String>,
    /// Its tags.
    pub job_tags: Vec<String>,
    /// How far it is.
    pub status: JobStatus,
    /// Why it failed, if it did. Spark does not have this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    /// Tasks of its stages that were not complete when it began.
    pub num_tasks: u32,
    /// Attempts that run.
    pub num_active_tasks: u32,
    /// Attempts that succeeded.
    pub num_completed_tasks: u32,
    /// Tasks of stages that were skipped.
    pub num_skipped_tasks: u32,
    /// Attempts that failed, those included whose output was lost afterwards.
    pub num_failed_tasks: u32,
    /// Attempts that were killed or denied their commit.
    pub num_killed_tasks: u32,
    /// Tasks that are done, each counted once.
    pub num_completed_indices: u32,
    /// Stages that run.
    pub num_active_stages: u32,
    /// Stages that are complete.
    pub num_completed_stages: u32,
    /// Stages that never had to be submitted.
    pub num_skipped_stages: u32,
    /// Attempts of stages that failed.
    pub num_failed_stages: u32,
}

/// One attempt of a stage, as its application knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StageData {
    /// How far it is.
    pub status: StageStatus,
    /// The stage.
    pub stage_id: StageId,
    /// Its attempt, counted from 0.
    pub attempt_id: u32,
    /// Tasks in this attempt.
    pub num_tasks: u32,
    /// Task attempts that run.
    pub num_active_tasks: u32,
    /// Task attempts that succeeded.
    pub num_complete_tasks: u32,
    /// Task attempts that failed, those included whose output was lost afterwards.
    pub num_failed_tasks: u32,
    /// Task attempts that were killed or denied their commit.
    pub num_killed_tasks: u32,
    /// Partitions that this attempt was the first to complete.
    pub num_completed_indices: u32,
    /// When it was submitted.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shape::optional_time")]
    pub submission_time: Option<Timestamp>,
    /// When its first task was launched.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shape::optional_time")]
    pub first_task_launched_time: Option<Timestamp>,
    /// When it completed or failed.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shape::optional_time")]
    pub completion_time: Option<Timestamp>,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    /// Sums over all attempts of tasks that ended; of the peak memory, the highest.
    #[serde(flatten, serialize_with = "shape::stage_metrics")]
    pub metrics: TaskMetrics,
    /// What made its last RDD.
    pub name: Arc<str>,
    /// What its job does, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The pool its tasks wait in.
    pub scheduling_pool: String,
    /// The RDDs computed in it.
    pub rdd_ids: Vec<RddId>,
    /// The named accumulators that its tasks added to, by id: the last total of each.
    pub accumulator_updates: Vec<AccumulableData>,
    /// Its resource profile.
    pub resource_profile_id: ProfileId,
}

/// A named accumulator, as a stage saw it last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AccumulableData {
    /// The accumulator.
    pub id: AccumulatorId,
    /// Its name.
    pub name: Arc<str>,
    /// Its total.
    pub value: String,
}

impl StageData {
    /// The attempt's id.
    pub const fn id(&self) -> StageAttemptId {
        StageAttemptId::new(self.stage_id, self.attempt_id)
    }
}

/// One executor, as its application knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutorData {
    /// The executor.
    #[serde(serialize_with = "shape::executor")]
    pub id: ExecutorId,
    /// Where it runs.
    #[serde(rename = "hostPort")]
    pub host: Host,
    /// Whether it is there.
    pub is_active: bool,
    /// Its cores.
    #[serde(serialize_with = "shape::cores")]
    pub total_cores: Cpus,
    /// Task attempts that run on it.
    pub active_tasks: u32,
    /// Task attempts that failed, those included whose output was lost afterwards.
    pub failed_tasks: u64,
    /// Task attempts that succeeded.
    pub completed_tasks: u64,
    /// Task attempts that were killed or denied their commit. Spark does not have this.
    pub killed_tasks: u64,
    /// Task attempts that were sent to it.
    pub total_tasks: u64,
    /// Time from launch to end, over all attempts, in milliseconds.
    #[serde(rename = "totalDuration")]
    pub total_duration_ms: u64,
    /// Bytes read from sources.
    pub total_input_bytes: u64,
    /// Bytes read from shuffles.
    pub total_shuffle_read: u64,
    /// Bytes written to shuffles.
    pub total_shuffle_write: u64,
    /// Whether no task of the application may run on it.
    pub is_excluded: bool,
    /// When it registered.
    #[serde(serialize_with = "shape::time")]
    pub add_time: Timestamp,
    /// When it went away.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shape::optional_time")]
    pub remove_time: Option<Timestamp>,
    /// Why it went away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remove_reason: Option<String>,
    /// Its resource profile.
    pub resource_profile_id: ProfileId,
    /// Where people find its logs, by the name of the log.
    pub executor_logs: BTreeMap<&'static str, String>,
}
