//! What a backend must do.

use std::sync::Arc;

use bytes::Bytes;

use firesteel_scheduler::{Refusal, StageLaunch, TaskDescription, heartbeat::HeartbeatReply};
use firesteel_storage::block::{BlockId, BlockUpdate};
use firesteel_types::{AppId, AttemptId, ExecutorId, Host, ProfileId, ShuffleId, StageAttemptId};

use super::RddHandle;
use crate::{
    protocol::Stored,
    task::{Form, Program, TaskData},
};

/// A stage attempt whose tasks are being launched.
pub(crate) struct PreparedStage {
    pub(crate) launch: Box<StageLaunch>,
    pub(crate) program: Program,
    /// Its last RDD.
    pub(crate) rdd: RddHandle,
    /// The short tables of the shuffles that it reads.
    pub(crate) tables: ShortTables,
}

/// Encoded tables of map outputs that are short enough to go with a stage, for tasks in other processes.
#[derive(Default)]
pub(crate) struct ShortTables {
    /// Epoch of the map output tracker that the tables were taken from.
    pub(crate) epoch: u64,
    pub(crate) tables: Vec<(ShuffleId, Bytes)>,
}

/// A task with everything it needs to run.
pub(crate) struct Launch {
    pub(crate) task: Box<TaskDescription>,
    pub(crate) stage: Arc<PreparedStage>,
    pub(crate) partition_data: TaskData,
    /// Whether the tables of its stage still hold.
    pub(crate) tables_hold: bool,
}

/// Where the tasks of an application run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TasksRun {
    /// In the driver's own process, with values in this form.
    Here(Form),
    /// In other processes.
    Elsewhere,
}

/// What the scheduler wants of executors and of what provides them, beside tasks. Every backend names each of them.
pub(crate) enum Order {
    /// An executor that asked to join may stay, or why it may not.
    AnswerRegistration {
        executor: ExecutorId,
        answer: Result<(), Refusal>,
    },
    AnswerHeartbeat {
        executor: ExecutorId,
        reply: HeartbeatReply,
    },
    /// Ask for those of these attempts that the executor has not begun.
    TakeBack {
        executor: ExecutorId,
        attempts: Vec<AttemptId>,
    },
    /// Bring the result of this attempt, which waits on its executor.
    FetchResult {
        attempt: AttemptId,
    },
    /// The result of this attempt, which waits on its executor, is not needed.
    DropResult {
        attempt: AttemptId,
    },
    /// Forget every block of an executor.
    ForgetBlocks {
        executor: ExecutorId,
    },
    /// Have so many executors of each profile in all.
    RequestExecutors {
        totals: Vec<(ProfileId, u32)>,
    },
    /// End these executors' processes.
    KillExecutors {
        executors: Vec<ExecutorId>,
    },
    /// Tell executors to drain and leave.
    DecommissionExecutors {
        executors: Vec<ExecutorId>,
    },
    /// Look up the racks of these hosts and report them.
    ResolveRacks {
        hosts: Vec<Host>,
    },
    /// Tell every executor to stop.
    StopExecutors,
    /// The application cannot go on.
    StopContext {
        reason: String,
    },
}

/// A way to run tasks. Nothing here decides anything, and nothing may wait: all of it is called in the scheduler's turn.
pub(crate) trait SchedulerBackend: Send + Sync {
    /// Sends tasks to their executors.
    fn launch(&self, launches: Vec<Launch>);

    /// Tells an executor to end an attempt.
    fn kill(&self, executor: ExecutorId, attempt: AttemptId, interrupt: bool, reason: String);

    /// No task of a stage attempt will be launched any more.
    fn forget_stage(&self, _set: StageAttemptId) {}

    /// Removes what executors in other processes store for something that is gone.
    fn remove(&self, _what: Stored) {}

    /// Does what else the scheduler wants of executors and of what provides them.
    fn perform(&self, order: Order);

    /// The application's id, if a cluster has given it one.
    fn app_id(&self) -> Option<AppId> {
        None
    }

    /// What an executor in another process has last said of a block.
    fn stored_at(&self, _executor: ExecutorId, _id: BlockId) -> Option<BlockUpdate> {
        None
    }

    /// Where the pages of an executor's worker are, if it has any.
    fn worker_page(&self, _executor: ExecutorId) -> Option<String> {
        None
    }

    /// Ends every executor.
    fn stop(&self);
}
