//! What the task scheduler tells the DAG scheduler.

use firesteel_types::{ExecutorId, Host, StageAttemptId, TaskEndReason, TaskFailure, TaskInfo, TaskMetrics};

use crate::map_output::MapStatus;

/// One report.
#[derive(Debug)]
pub(crate) enum DagEvent {
    /// An attempt ended.
    TaskEnded(Box<TaskEnded>),
    /// A task set was given up.
    TaskSetFailed { set: StageAttemptId, reason: String, cause: Option<TaskFailure> },
    /// An executor is ready for tasks.
    ExecutorAdded { executor: ExecutorId },
    /// An executor is gone, with its worker's host if that is known to be lost too.
    ExecutorLost { executor: ExecutorId, worker_host: Option<Host> },
}

/// How one attempt ended.
#[derive(Debug)]
pub(crate) struct TaskEnded {
    pub(crate) set: StageAttemptId,
    /// The position of the result in its job, or the map partition.
    pub(crate) output: u32,
    pub(crate) info: TaskInfo,
    /// The map output tracker's epoch when the set was made.
    pub(crate) epoch: u64,
    pub(crate) barrier: bool,
    pub(crate) reason: TaskEndReason,
    pub(crate) metrics: TaskMetrics,
    /// Whether the report carries accumulator updates.
    pub(crate) accumulators: bool,
    pub(crate) map_output: Option<MapStatus>,
}
