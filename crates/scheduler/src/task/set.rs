//! Task sets: the tasks of one stage attempt, as the DAG scheduler orders them.

use std::sync::Arc;

use firesteel_types::{
    JobId, PartitionId, ProfileId, Properties, RddId, StageAttemptId, StageId, TaskIndex, TaskLocation,
};

use crate::effect::StageTaskKind;

/// The tasks of one stage attempt.
#[derive(Clone, Debug)]
pub(crate) struct TaskSet {
    pub(crate) id: StageAttemptId,
    pub(crate) kind: StageTaskKind,
    /// The last RDD of the stage, and how many partitions it has.
    pub(crate) rdd: RddId,
    pub(crate) partitions: u32,
    /// The job it runs for: its place in FIFO order.
    pub(crate) priority: JobId,
    pub(crate) profile: ProfileId,
    pub(crate) properties: Properties,
    /// The generations of its RDDs, where they are not 0.
    pub(crate) generations: Arc<[(RddId, u32)]>,
    /// Whether its tasks start all at once or not at all.
    pub(crate) barrier: bool,
    /// The map output tracker's epoch when the set was made.
    pub(crate) epoch: u64,
    /// In ascending order of their outputs.
    pub(crate) tasks: Vec<Task>,
    /// Preferred places of each task; empty when no task has any.
    pub(crate) preferred: Vec<Vec<TaskLocation>>,
}

/// One task of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// The partition it computes.
    pub(crate) partition: PartitionId,
    /// Where its result belongs: the position in the job's list for a result task, the partition for a map task.
    pub(crate) output: u32,
}

impl TaskSet {
    pub(crate) fn len(&self) -> u32 {
        self.tasks.len() as u32
    }

    /// Where a task would rather run.
    pub(crate) fn preferred(&self, index: TaskIndex) -> &[TaskLocation] {
        self.preferred.get(index.index()).map_or(&[], Vec::as_slice)
    }

    /// The task whose result belongs at `output`, if this attempt has it.
    pub(crate) fn task_for(&self, output: u32) -> Option<TaskIndex> {
        let at = self.tasks.binary_search_by_key(&output, |task| task.output).ok()?;
        Some(TaskIndex(at as u32))
    }

    pub(crate) fn is_shuffle_map(&self) -> bool {
        matches!(self.kind, StageTaskKind::ShuffleMap(_))
    }
}

/// What the DAG scheduler wants of the task scheduler.
#[derive(Debug)]
pub(crate) enum TaskOrder {
    /// Run these tasks.
    Submit(Box<TaskSet>),
    /// End every attempt of every set of the stage, and launch no more.
    KillStage { stage: StageId, interrupt: bool, reason: String },
    /// A task was completed by an older attempt of the stage: the active one need not run it. It is named by its
    /// output, since a job may want the same partition at several positions.
    OutputCompleted { stage: StageId, output: u32 },
}
