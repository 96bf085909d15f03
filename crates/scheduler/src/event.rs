//! Everything that can happen to the scheduler.

use serde::{Deserialize, Serialize};

use firesteel_types::{
    AttemptId, AttemptNumber, Cpus, ExecutorId, ExecutorLossReason, Host, JobId, PartitionId, ProfileId,
    Properties, RddId, RddNode, ResourceName, ResourceProfile, ShuffleId, StageAttemptId, StageId,
    TaskFailure, TaskMetrics,
};
use std::{collections::BTreeMap, sync::Arc};

use crate::{barrier_sync::SyncRequest, map_output::BlockSizes};

/// One input of the scheduler. With the time it was taken, it decides everything that follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum Event {
    // What the application asks for.
    /// RDDs were made or changed (persisted, checkpointed). Parents come before or with their children.
    RddsRegistered(Vec<RddNode>),
    /// Nothing can reach these RDDs any more.
    RddsDropped(Vec<RddId>),
    /// A profile was made; the runtime chose no id, the effect tells it.
    ProfileRegistered { profile: ResourceProfile },
    /// An action wants results of some partitions of an RDD.
    JobSubmitted(JobSpec),
    /// Only the map side of a shuffle is wanted, with its size statistics.
    MapStageSubmitted { job: JobId, rdd: RddId, shuffle: ShuffleId, properties: Properties },
    /// Jobs shall be cancelled.
    CancelRequested { what: Cancel, reason: Option<String> },
    /// One attempt shall be killed; the task is tried again.
    TaskKillRequested { attempt: AttemptId, interrupt: bool, reason: String },
    /// The code that takes a job's results failed.
    ResultHandlerFailed { job: JobId, message: String },
    /// No handle reaches a shuffle any more.
    ShuffleDropped { shuffle: ShuffleId },
    /// The application is over.
    ContextStopped,
    /// The driver's loop met an error it does not know.
    LoopFailed { message: String },

    // What the runtime reports about what it was told to do.
    /// A stage's operators cannot be serialized.
    StageNotSerializable { set: StageAttemptId, message: String },
    /// A launched task was not sent.
    TaskNotSent { attempt: AttemptId, why: NotSent },
    /// A launched task was sent, and it is large.
    LargeTaskSent { attempt: AttemptId, size_bytes: u64 },
    /// The fetch of an indirect result ended.
    ResultFetched { attempt: AttemptId, outcome: FetchedResult },
    /// Racks of hosts became known; `None` is a host without one.
    RacksResolved(Vec<(Host, Option<String>)>),

    // What executors and their managers report.
    /// An executor wants to join.
    ExecutorRegistered(ExecutorSpec),
    /// An executor is ready for tasks.
    ExecutorLaunched { executor: ExecutorId },
    /// An executor reports on one of its attempts.
    StatusUpdate { executor: ExecutorId, attempt: AttemptId, status: TaskStatus },
    /// An executor was asked for attempts that it was sent ahead of a free slot, and returns these: it has not begun
    /// them and will not. Those that it does not name go on.
    TasksReturned { executor: ExecutorId, attempts: Vec<AttemptId> },
    /// An executor is alive, and these are the figures of its running attempts.
    Heartbeat { executor: ExecutorId, block_manager_known: bool, running: Vec<(AttemptId, TaskMetrics)> },
    /// Contact with an executor was lost; why is not known yet.
    ExecutorDisconnected { executor: ExecutorId },
    /// An executor is gone.
    ExecutorLost { executor: ExecutorId, reason: ExecutorLossReason },
    /// A worker is gone, with every shuffle file on its host.
    WorkerRemoved { host: Host, message: String },
    /// The application asks for more executors, or fewer.
    ScalingRequested(Scaling),
    /// Cached blocks appeared at or went from an executor.
    BlocksUpdated { executor: ExecutorId, blocks: Vec<BlockUpdate> },
    /// A shuffle block moved (decommission).
    MapOutputMoved { shuffle: ShuffleId, map_attempt: AttemptId, executor: ExecutorId, host: Host },
    /// The cluster manager has given up.
    ClusterFailed { message: String },

    // What tasks ask of the driver.
    /// An attempt wants to commit its output.
    CommitRequested { set: StageAttemptId, partition: PartitionId, number: AttemptNumber },
    /// A barrier task waits for the others.
    BarrierRequested(SyncRequest),

    /// Something waits for offers, or the clock reached the deadline.
    Tick,
}

/// Which jobs are to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cancel {
    /// This one.
    Job(JobId),
    /// Those of a group.
    Group {
        /// The group.
        group: String,
        /// Whether jobs that the group submits later are to end too.
        future: bool,
    },
    /// Those with a tag.
    Tag(String),
    /// Those that use a stage.
    Stage(StageId),
    /// Every one.
    All,
}

/// A wish about the executors of the application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scaling {
    /// More executors of the default profile.
    Add(i32),
    /// This many executors of each profile in all.
    Total(BTreeMap<ProfileId, i32>),
    /// These executors should go.
    Kill {
        /// Which.
        executors: Vec<ExecutorId>,
        /// Whether fewer are wanted from now on; else others come in their place.
        adjust_target: bool,
        /// Whether their end counts against the tasks they run.
        count_failures: bool,
        /// Whether they go even if they run tasks.
        force: bool,
    },
    /// These executors should go and others come in their place.
    Replace(Vec<ExecutorId>),
    /// These executors should drain and leave.
    Decommission {
        /// Which.
        executors: Vec<ExecutorId>,
        /// Their host, when all of it leaves.
        worker_host: Option<Host>,
        /// Whether fewer are wanted from now on.
        adjust_target: bool,
        /// Whether the executor itself said so, and need not be told.
        by_executor: bool,
    },
}

/// What a job computes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobSpec {
    /// Its id, larger than that of every job before it.
    pub job: JobId,
    /// The RDD whose partitions are wanted.
    pub rdd: RddId,
    /// Which partitions; the position in this list is the place of the result.
    pub partitions: Partitions,
    /// Properties of the submitting thread at this moment.
    pub properties: Properties,
    /// What earlier jobs of the same action have handed out, if it runs several.
    pub rows_seen: Option<RowsSeen>,
}

/// The run of an RDD whose rows the caller of an action has in part. Rows of another one do not go with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowsSeen {
    /// The RDD.
    pub rdd: RddId,
    /// Its generation when they were handed out, from [`Effect::JobSucceeded`](crate::Effect::JobSucceeded).
    pub generation: u32,
}

/// The partitions that a job wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Partitions {
    /// Every one, in order.
    All,
    /// These, in this order.
    Listed(Arc<[PartitionId]>),
}

/// An executor as it registers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorSpec {
    /// Its id.
    pub executor: ExecutorId,
    /// The host it runs on.
    pub host: Host,
    /// Where its tasks can be reached, for barrier stages.
    pub address: Arc<str>,
    /// Its cores.
    pub cpus: Cpus,
    /// Addresses of its custom resources.
    pub resources: BTreeMap<ResourceName, Vec<Arc<str>>>,
    /// The profile it was started for.
    pub profile: ProfileId,
}

/// How an attempt is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskStatus {
    /// It began.
    Running,
    /// It ended with a result.
    Finished(TaskOutcome),
    /// It ended without one.
    Failed {
        /// Why.
        failure: TaskFailure,
        /// What it did until then.
        metrics: TaskMetrics,
        /// Whether the report carries accumulator updates.
        accumulators: bool,
    },
}

/// What a finished attempt reports. The result itself stays with the runtime.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskOutcome {
    /// Where the result is.
    pub result: ResultPlace,
    /// How large it is.
    pub size_bytes: u64,
    /// The shuffle output it wrote, if it was a map task.
    pub map_output: Option<MapOutput>,
    /// What it did.
    pub metrics: TaskMetrics,
    /// Whether the report carries accumulator updates.
    pub accumulators: bool,
}

/// Where the result of a finished attempt is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResultPlace {
    /// In the report.
    #[default]
    Direct,
    /// In a block of the executor.
    Indirect,
    /// Nowhere: it was larger than the driver takes.
    Dropped,
}

/// The blocks that a map task wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapOutput {
    /// Size of the block of each reducer.
    pub sizes: BlockSizes,
    /// Checksum of the content, independent of its order.
    pub checksum: Option<u64>,
}

/// Why the runtime did not send a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum NotSent {
    /// It cannot be serialized.
    NotSerializable { message: String },
    /// It is larger than a message may be.
    TooLarge { size_bytes: u64 },
}

/// How the fetch of an indirect result ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum FetchedResult {
    /// The driver has it.
    Fetched,
    /// The block is gone.
    Lost,
    /// It cannot be decoded.
    Unreadable { message: String },
}

/// One cached block that appeared or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockUpdate {
    /// The RDD.
    pub rdd: RddId,
    /// Its partition.
    pub partition: PartitionId,
    /// The generation of the RDD that it was stored under.
    pub generation: u32,
    /// Whether the executor has it now.
    pub present: bool,
}
