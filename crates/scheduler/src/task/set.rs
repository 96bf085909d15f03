//! Task sets: the tasks of one stage attempt, as the DAG scheduler orders them.

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
    /// Whether its tasks start all at once or not at all.
    pub(crate) barrier: bool,
    /// The map output tracker's epoch when the set was made.
    pub(crate) epoch: u64,
    pub(crate) tasks: Vec<Task>,
    /// Whether the tasks are in ascending order of their partitions, as they are unless a job listed them otherwise.
    pub(crate) is_sorted: bool,
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

    /// The tasks that compute `partition`: one, unless the job asked for it several times.
    pub(crate) fn tasks_of(&self, partition: PartitionId) -> Vec<TaskIndex> {
        let is_it = |task: &Task| task.partition == partition;
        let range = if self.is_sorted {
            let from = self.tasks.partition_point(|task| task.partition < partition);
            let len = self.tasks[from..].iter().take_while(|task| is_it(task)).count();
            from..from + len
        } else {
            0..self.tasks.len()
        };
        range.filter(|at| is_it(&self.tasks[*at])).map(|at| TaskIndex(at as u32)).collect()
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
    /// A partition was completed by an older attempt of the stage: the active one need not run it.
    PartitionCompleted { stage: StageId, partition: PartitionId },
}
