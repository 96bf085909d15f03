//! What a listener of the application sees.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    AccumulatorId, AttemptId, AttemptNumber, Cpus, ExecutorId, Host, JobId, Locality, PartitionId, ProfileId,
    Properties, RddId, ShuffleId, StageAttemptId, StageId, TaskEndReason, TaskIndex, TaskMetrics, Timestamp,
};

/// One step of an application's life, in the order in which the scheduler decided it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum ListenerEvent {
    /// A job was accepted.
    JobStart { job: JobId, time: Timestamp, stages: Vec<Arc<StageInfo>>, properties: Properties },
    /// A job is over.
    JobEnd { job: JobId, time: Timestamp, outcome: JobOutcome },
    /// A stage attempt begins.
    StageSubmitted { info: Arc<StageInfo>, properties: Properties },
    /// A stage attempt is over; `info.failure` tells whether it failed.
    StageCompleted { info: Arc<StageInfo> },
    /// An attempt was sent to its executor. If it was sent ahead of a free slot, this is told when it begins there,
    /// and not at all if it never does.
    TaskStart { set: StageAttemptId, task: TaskInfo },
    /// An attempt finished, and its result is being fetched from its executor.
    TaskGettingResult { set: StageAttemptId, task: TaskInfo, time: Timestamp },
    /// What an attempt added to accumulators that have a name; its end follows.
    AccumulatorsUpdated { set: StageAttemptId, attempt: AttemptId, accumulables: Vec<Accumulable> },
    /// An attempt is over.
    TaskEnd {
        set: StageAttemptId,
        task: TaskInfo,
        time: Timestamp,
        reason: TaskEndReason,
        metrics: TaskMetrics,
    },
    /// A running task may get a second copy.
    SpeculativeTaskSubmitted { set: StageAttemptId, index: TaskIndex, partition: PartitionId },
    /// An executor registered.
    ExecutorAdded { executor: ExecutorId, host: Host, cpus: Cpus, profile: ProfileId, time: Timestamp },
    /// An executor is gone.
    ExecutorRemoved { executor: ExecutorId, time: Timestamp, reason: String },
    /// An executor gets no tasks any more.
    ExecutorExcluded { executor: ExecutorId, time: Timestamp, scope: ExclusionScope, failures: u32 },
    /// An executor gets tasks again.
    ExecutorUnexcluded { executor: ExecutorId, time: Timestamp },
    /// No executor of a host gets tasks any more.
    NodeExcluded { host: Host, time: Timestamp, scope: ExclusionScope, failures: u32 },
    /// The executors of a host get tasks again.
    NodeUnexcluded { host: Host, time: Timestamp },
    /// A task set cannot run anywhere because of exclusions; more executors would help.
    UnschedulableTaskSetAdded { set: StageAttemptId },
    /// That is over.
    UnschedulableTaskSetRemoved { set: StageAttemptId },
}

/// What one attempt added to a named accumulator, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accumulable {
    /// The accumulator.
    pub id: AccumulatorId,
    /// Its name.
    pub name: Arc<str>,
    /// What the attempt added, shortened if long.
    pub update: String,
    /// The total with it, shortened if long.
    pub value: String,
}

/// How far an exclusion reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExclusionScope {
    /// Every task of the application.
    Application,
    /// The tasks of one stage attempt.
    Stage(StageAttemptId),
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobOutcome {
    /// Every requested partition has its result.
    Succeeded,
    /// It failed or was cancelled, with the reason.
    Failed(String),
}

/// One attempt of a stage, as listeners see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageInfo {
    /// The stage attempt.
    pub id: StageAttemptId,
    /// What made its last RDD.
    pub name: Arc<str>,
    /// Tasks in this attempt.
    pub tasks: u32,
    /// The RDDs computed in it.
    pub rdds: Vec<RddId>,
    /// The stages it reads from.
    pub parents: Vec<StageId>,
    /// The shuffle it writes, if it is a map stage.
    pub shuffle: Option<ShuffleId>,
    /// Its resource profile.
    pub profile: ProfileId,
    /// When it was submitted, if it was.
    pub submitted: Option<Timestamp>,
    /// When it completed or failed.
    pub completed: Option<Timestamp>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

/// One attempt of a task, as listeners see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskInfo {
    /// The attempt.
    pub attempt: AttemptId,
    /// The task's place in its set.
    pub index: TaskIndex,
    /// The partition it computes.
    pub partition: PartitionId,
    /// How many attempts of the task came before.
    pub number: AttemptNumber,
    /// Where it runs.
    pub executor: ExecutorId,
    /// How near to its data.
    pub locality: Locality,
    /// Whether it is a second copy of a running task.
    pub speculative: bool,
    /// When it was launched, or began if it was sent ahead of a free slot.
    pub launched: Timestamp,
}
