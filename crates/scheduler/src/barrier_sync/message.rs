//! What goes into the barrier coordinator and what comes out.
//!
//! Plain data: [`BarrierEvent`] in, [`BarrierEffect`] out. Nothing here decides anything.

use std::{sync::Arc, time::Duration};

use firesteel_types::{AttemptId, PartitionId, StageAttemptId};
use serde::{Deserialize, Serialize};

/// What the coordinator is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum BarrierEvent {
    /// A barrier stage attempt begins; its tasks have the partitions below `tasks`.
    StageStarted { set: StageAttemptId, tasks: u32 },
    /// A task called and waits for its reply.
    SyncRequested(SyncRequest),
    /// An attempt was told to end, whether or not it waits.
    TaskKilled { set: StageAttemptId, partition: PartitionId, attempt: AttemptId },
    /// A stage attempt is over.
    StageCompleted { set: StageAttemptId },
    /// Nothing but the time changed.
    Tick,
}

/// One task's call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncRequest {
    /// The task's stage attempt.
    pub set: StageAttemptId,
    /// The task's partition.
    pub partition: PartitionId,
    /// The attempt that calls.
    pub attempt: AttemptId,
    /// How many syncs the attempt has passed before.
    pub epoch: u32,
    /// What it called.
    pub call: SyncCall,
}

/// The kinds of global sync.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum SyncCall {
    /// Wait for all.
    Barrier,
    /// Wait for all tasks, and get the messages of all.
    AllGather { message: Arc<str> },
}

/// What must be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum BarrierEffect {
    /// Answer a task that called.
    Reply { set: StageAttemptId, attempt: AttemptId, reply: SyncReply },
    /// Nothing: the event came late or twice.
    Ignored { set: StageAttemptId, reason: IgnoredBarrierEvent },
}

/// The end of a task's wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum SyncReply {
    /// Every task called `barrier`.
    Released,
    /// Every task called `all_gather`; the messages are in the order of the partitions.
    Gathered { messages: Arc<[Arc<str>]> },
    /// The call fails.
    Failed(SyncFailure),
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum SyncFailure {
    /// Some tasks called `barrier` and others `all_gather`.
    #[error(
        "the tasks of {set} called both barrier and all_gather in sync {epoch}: call the same in all of them"
    )]
    MixedCalls { set: StageAttemptId, epoch: u32 },
    /// Some tasks did not call.
    #[error(
        "only {arrived} of the {tasks} tasks of {set} came to sync {epoch} within {timeout:?}: make the same number \
         of calls in all of them"
    )]
    TimedOut { set: StageAttemptId, epoch: u32, arrived: u32, tasks: u32, timeout: Duration },
    /// An earlier sync of the stage attempt failed, so none can succeed any more.
    #[error("an earlier sync of {set} failed")]
    EarlierSyncFailed { set: StageAttemptId },
    /// The task is not where the others are; it may be left over from an earlier attempt.
    #[error("{set} is at sync {current}, not at {asked}: the task may not have been properly killed")]
    WrongEpoch { set: StageAttemptId, asked: u32, current: u32 },
    /// The task was killed.
    #[error("the task was killed")]
    Killed,
    /// The stage attempt is over, or never began.
    #[error("{set} is not running")]
    StageNotRunning { set: StageAttemptId },
    /// The stage attempt has no task for the partition.
    #[error("{set} has no task for {partition}")]
    UnknownPartition { set: StageAttemptId, partition: PartitionId },
    /// Another attempt of the same task waits already.
    #[error("{holder} waits for {partition} of {set} already")]
    PartitionTaken { set: StageAttemptId, partition: PartitionId, holder: AttemptId },
}

/// Why an event had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IgnoredBarrierEvent {
    /// The stage attempt is over, or is no barrier stage.
    StageNotRunning,
    /// The same attempt made the same call before and waits; one reply answers both.
    AlreadyWaiting,
}
