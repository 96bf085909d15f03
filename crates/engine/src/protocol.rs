//! Messages between a driver and its executors: [`ToDriver`] and [`ToExecutor`].
//!
//! An executor dials its driver, asks to join with [`ToDriver::Register`], and hears [`ToExecutor::Registered`] with
//! all settings, or why not. Then it reports its launch, and tasks come. Messages of one side arrive in order.
//! Everything that can come often comes many at a time: launches by the turn of the scheduler, reports by what ended
//! meanwhile.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use firesteel_net::{Address, LineConf};
use firesteel_scheduler::TaskDescription;
use firesteel_storage::block::{BlockId, BlockUpdate, Locations, Peer, Registration, Replicate};
use firesteel_types::{
    AppId, AttemptId, AttemptNumber, ExecutorId, Host, PartitionId, ProfileId, Properties, RddId,
    ResourceName, ShuffleId, StageAttemptId, TaskMetrics,
};

use crate::{
    build::Build,
    task::{Report, TaskData},
};

/// What a message may have beside the program and the rows, the result or the table that the limit of messages is for.
const MESSAGE_OVERHEAD: u64 = 1 << 20;

/// How lines between a driver and its executors behave, when messages may have so many bytes and a peer may be silent
/// for so long. Both ends have the same, since each sends keep-alives often enough for the timeout of both.
pub(crate) fn line_conf(message_max: u64, silence: Duration) -> LineConf {
    let max_message = message_max.saturating_add(MESSAGE_OVERHEAD);
    LineConf {
        max_message: usize::try_from(max_message).unwrap_or(usize::MAX),
        silence: Some(silence),
        ..LineConf::default()
    }
}

/// From an executor to its driver.
#[derive(Serialize, Deserialize)]
pub(crate) enum ToDriver {
    /// Asks to join. The first message.
    Register(Box<Joining>),
    /// Everything is ready for tasks.
    Launched,
    /// Attempts that are about to begin, told before they do: if they take the process along, it is their fault. Those
    /// that were sent ahead of a free slot begin without a word.
    Begun(Vec<AttemptId>),
    /// Attempts that ended.
    Reports(Vec<Report>),
    /// Attempts that were taken back before they began.
    TasksReturned(Vec<AttemptId>),
    /// It is alive, and these are the figures of what runs.
    Heartbeat { running: Vec<(AttemptId, TaskMetrics)> },
    /// Its block manager makes itself known.
    RegisterBlocks(Registration),
    /// Where its blocks are now.
    Blocks(Vec<BlockUpdate>),
    /// Wants to know something; the answer carries the same number.
    Ask { number: u64, question: Question },
    /// It was told by its machine to drain.
    Decommissioning,
}

/// An executor that asks to join.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Joining {
    pub(crate) executor: ExecutorId,
    pub(crate) host: Host,
    pub(crate) cores: u32,
    pub(crate) profile: ProfileId,
    pub(crate) resources: BTreeMap<ResourceName, Vec<Arc<str>>>,
    pub(crate) build: Build,
    /// Where its blocks are served.
    pub(crate) blocks: Address,
    /// Where its shuffle files are served, also when it is gone.
    pub(crate) shuffles: Address,
    /// Where the pages of its worker are.
    pub(crate) worker_page: Option<String>,
}

/// Something that an executor wants to know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Question {
    /// Whether an attempt may commit its output.
    Commit { set: StageAttemptId, partition: PartitionId, number: AttemptNumber },
    /// Where the outputs of a shuffle are.
    MapTable(ShuffleId),
    /// Who holds a block.
    Locations(BlockId),
    /// Who could hold copies of blocks.
    Peers,
}

/// The driver's answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    Commit(bool),
    /// The encoded table, or why there is none.
    MapTable {
        table: Result<Bytes, String>,
        addresses: Addresses,
    },
    Locations {
        locations: Locations,
        addresses: Addresses,
    },
    Peers {
        peers: Vec<Peer>,
        addresses: Addresses,
    },
}

/// Where executors serve blocks.
pub(crate) type Addresses = Vec<(ExecutorId, Address)>;

/// From the driver to an executor.
#[derive(Serialize, Deserialize)]
pub(crate) enum ToExecutor {
    /// It may stay.
    Registered(Box<Welcome>),
    /// It may not.
    Refused { reason: String },
    /// Tasks to run, in this order, and stages that were not sent before.
    Launch { stages: Vec<StageOrder>, tasks: Vec<TaskOrder> },
    /// Ends an attempt, whether it has begun or not.
    Kill { attempt: AttemptId, interrupt: bool, reason: String },
    /// Wants attempts back that have not begun.
    TakeBack(Vec<AttemptId>),
    /// No task of a stage attempt will come any more. Goes along with other messages.
    ForgetStage(StageAttemptId),
    /// Removes what is stored for something.
    Remove(Stored),
    /// The answer to a question.
    Answer { number: u64, answer: Answer },
    /// The answer to a heartbeat: whether the driver knows it as it is.
    HeartbeatAnswer { registered: bool },
    /// Makes a copy of a block elsewhere.
    Replicate(Replicate),
    /// Takes no more tasks, moves its blocks and leaves.
    Decommission,
    /// Ends the process.
    Stop { reason: String },
}

/// What an executor hears when it may stay.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Welcome {
    pub(crate) app: AppId,
    /// Every setting of the application, by key.
    pub(crate) conf: Vec<(String, String)>,
}

/// A stage whose tasks follow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StageOrder {
    pub(crate) set: StageAttemptId,
    /// Its operators in their shipped form.
    pub(crate) program: Bytes,
    pub(crate) partitions: u32,
    pub(crate) properties: Properties,
    /// The generations of the RDDs that its tasks store, where they are not 0.
    pub(crate) generations: Arc<[(RddId, u32)]>,
    pub(crate) inputs: StageInputs,
}

/// Where the outputs of shuffles are that a stage reads: what its tasks need not ask for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StageInputs {
    /// In which the tables were made.
    pub(crate) epoch: u64,
    /// Encoded.
    pub(crate) tables: Vec<(ShuffleId, Bytes)>,
    /// Where the files of all executors are served.
    pub(crate) addresses: Addresses,
}

/// One task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TaskOrder {
    pub(crate) task: Box<TaskDescription>,
    pub(crate) data: TaskData,
}

/// What executors store for something that can be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stored {
    /// The kept partitions of an RDD.
    Rdd(RddId),
    /// The partitions of an RDD that were stored before this generation.
    Stale { rdd: RddId, generation: u32 },
    /// The outputs of a shuffle.
    Shuffle(ShuffleId),
    /// The pieces and the value of a broadcast variable; they are fetched again unless it is destroyed.
    Broadcast { id: u64, destroyed: bool },
    /// The result of an attempt.
    Result(AttemptId),
}
