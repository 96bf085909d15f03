//! Everything the scheduler can want done.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use firesteel_types::{
    AttemptId, AttemptNumber, Cpus, ExecutorId, Host, JobId, ListenerEvent, Locality, PartitionId,
    ProfileError, ProfileId, Properties, RddId, ResourceAssignment, ShuffleId, StageAttemptId, StageId,
    TaskFailure, TaskIndex,
};

use crate::{barrier_sync::SyncReply, commit::CommitDecision, heartbeat::HeartbeatReply};

/// One thing to do, in the order given. Plain data: performing it is the runtime's part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum Effect {
    /// Tell the listeners.
    Post(ListenerEvent),
    /// Get a stage attempt's operators ready: tasks of it follow.
    PrepareStage(Box<StageLaunch>),
    /// Send a task to its executor.
    LaunchTask(Box<TaskDescription>),
    /// Tell an executor to end an attempt.
    KillTask { executor: ExecutorId, attempt: AttemptId, interrupt: bool, reason: String },
    /// Ask an executor to return those of these attempts that it has not begun. They were sent ahead of a free slot.
    TakeBackTasks { executor: ExecutorId, attempts: Vec<AttemptId> },
    /// No task of this attempt will be launched and none is running: what was prepared for it can go.
    ForgetStage { set: StageAttemptId },
    /// Fetch the result of this attempt from its executor.
    FetchResult { attempt: AttemptId },
    /// Remove the block that holds the result of this attempt; the result is not needed.
    DropResultBlock { attempt: AttemptId },
    /// Give the result of `attempt` to the job's caller, as the result at `position`. A result that is not
    /// handed out in the effects of the event that brought it can be dropped.
    DeliverResult { job: JobId, position: u32, attempt: AttemptId },
    /// Give the byte totals per reduce partition to the caller of a map-stage job.
    DeliverStatistics { job: JobId, bytes_by_reducer: Vec<u64> },
    /// Every result of a job was delivered. Its RDD has this generation: it counts the runs that made other rows.
    JobSucceeded { job: JobId, generation: u32 },
    /// A job ended without all of its results.
    JobFailed { job: JobId, error: JobError },
    /// Merge the accumulator updates that came with this attempt's report.
    MergeAccumulators { attempt: AttemptId, which: AccumulatorScope },
    /// The answer to an attempt that wants to commit.
    AnswerCommit {
        set: StageAttemptId,
        partition: PartitionId,
        number: AttemptNumber,
        decision: CommitDecision,
    },
    /// The answer to a barrier task that waits.
    AnswerBarrier { set: StageAttemptId, attempt: AttemptId, reply: SyncReply },
    /// The answer to a heartbeat.
    AnswerHeartbeat { executor: ExecutorId, reply: HeartbeatReply },
    /// The id of the profile that was just registered, or why it was not.
    ProfileAnswer(Result<ProfileId, String>),
    /// The executor may stay, or why it may not.
    AnswerRegistration { executor: ExecutorId, answer: Result<(), Refusal> },
    /// End these executors' processes.
    KillExecutors { executors: Vec<ExecutorId>, force: bool },
    /// Tell executors to drain and leave.
    DecommissionExecutors { executors: Vec<ExecutorId> },
    /// Ask the cluster manager for this many executors of each profile in all.
    RequestExecutors { totals: Vec<(ProfileId, u32)> },
    /// Forget every block of an executor.
    RemoveBlockManager { executor: ExecutorId },
    /// Remove what is stored anywhere of these RDDs under an earlier generation than the one given: it was made from
    /// rows that do not come again. Their storage level stays.
    RemoveStaleBlocks { rdds: Vec<(RddId, u32)> },
    /// Look up the racks of these hosts and report them.
    ResolveRacks { hosts: Vec<Host> },
    /// The jobs that a cancellation by tag hit.
    TagCancelled { tag: String, jobs: Vec<JobId> },
    /// Whether a request to kill one attempt found it.
    TaskKillAnswer { attempt: AttemptId, found: bool },
    /// Tell every executor to stop.
    StopExecutors,
    /// Stop the application's context: it cannot go on.
    StopContext { reason: String },
    /// Tell the user.
    Warn(Warning),
    /// The event changed nothing, for this reason.
    Ignored(Ignored),
}

/// A stage attempt whose tasks are about to be launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageLaunch {
    /// The attempt.
    pub set: StageAttemptId,
    /// Its last RDD.
    pub rdd: RddId,
    /// What its tasks do with it.
    pub kind: StageTaskKind,
    /// How many tasks the attempt has.
    pub tasks: u32,
    /// How many partitions its last RDD has.
    pub partitions: u32,
    /// The profile of its tasks.
    pub profile: ProfileId,
    /// Properties of the job it runs for.
    pub properties: Properties,
    /// The generations under which its tasks look up and store blocks of RDDs, where they are not 0.
    pub generations: Arc<[(RddId, u32)]>,
}

/// What the tasks of a stage do with its last RDD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StageTaskKind {
    /// Write it to a shuffle.
    ShuffleMap(ShuffleId),
    /// Apply the job's function to it.
    Result(JobId),
}

/// One launch of one task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskDescription {
    /// The attempt.
    pub attempt: AttemptId,
    /// The stage attempt it belongs to.
    pub set: StageAttemptId,
    /// Its place in the set.
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
    /// Whether it is sent ahead of a free slot: it begins on its executor when an attempt that was sent before it
    /// ends, in the order of sending.
    pub ahead: bool,
    /// Cpus it takes.
    pub cpus: Cpus,
    /// Addresses of custom resources it takes.
    pub resources: ResourceAssignment,
    /// The map output tracker's epoch when its set was made.
    pub epoch: u64,
    /// The addresses of all tasks of a barrier stage, by partition.
    pub barrier: Option<Arc<[Arc<str>]>>,
}

/// Which of the updates of an attempt count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccumulatorScope {
    /// All of them: the attempt succeeded.
    All,
    /// Those marked to count on failure.
    CountedOnFailure,
}

/// Why a job failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum JobError {
    /// A stage it needs cannot be completed.
    #[error("job aborted due to stage failure: {reason}")]
    StageFailed { stage: StageId, reason: String, cause: Option<TaskFailure> },
    /// The job was cancelled.
    #[error("{job} cancelled: {reason}")]
    Cancelled { job: JobId, reason: String },
    /// It was submitted after its group was cancelled for good.
    #[error("{job} cancelled: its group `{group}` was cancelled, future jobs too")]
    GroupCancelled { job: JobId, group: String },
    /// The code that takes its results failed.
    #[error("the result handler failed: {message}")]
    ResultHandler { message: String },
    /// It cannot be run at all.
    #[error(transparent)]
    Rejected(#[from] JobRejection),
}

/// Why a job cannot be run as it was submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum JobRejection {
    /// No such RDD is registered.
    #[error("{rdd} is not registered")]
    UnknownRdd { rdd: RddId },
    /// The shuffle is not one of the RDD's dependencies.
    #[error("{rdd} has no dependency on {shuffle}")]
    UnknownShuffle { rdd: RddId, shuffle: ShuffleId },
    /// The partition does not exist.
    #[error("{partition} does not exist: {rdd} has {partitions} partitions")]
    NoSuchPartition { rdd: RddId, partition: PartitionId, partitions: u32 },
    /// There is nothing to write a shuffle from.
    #[error("cannot run a map stage over {rdd}: it has no partitions")]
    EmptyMapStage { rdd: RddId },
    /// The shuffle was registered with another shape.
    #[error("{shuffle} was registered with other numbers of partitions")]
    ShuffleChanged { shuffle: ShuffleId },
    /// Its job id is taken.
    #[error("{job} was submitted before")]
    DuplicateJob { job: JobId },
    /// An action of several jobs would mix two runs.
    #[error(
        "a map stage with indeterminate output ran again after an earlier job of this action, which has handed out rows of \
         {rdd} already; make the rows the same in each run (checkpoint before the repartition) and try again"
    )]
    RowsChanged { rdd: RddId },
    /// Two profiles meet, or one is unknown.
    #[error("{message}")]
    Profile { message: String },
    /// The RDD chain cannot be a barrier stage.
    #[error(
        "{rdd} cannot be part of a barrier stage: every RDD of it needs the same number of partitions as tasks \
         and at most one barrier parent; use a shuffle or compute all partitions"
    )]
    BarrierChain { rdd: RddId },
    /// Barrier stages need a fixed number of executors.
    #[error("barrier stages do not work with dynamic allocation; turn it off")]
    BarrierWithDynamicAllocation,
    /// The barrier stage never fits.
    #[error(
        "a barrier stage needs {needed} slots at once, and there are only {slots}; add executors or use fewer \
         partitions"
    )]
    BarrierSlots { needed: u32, slots: u32 },
    /// The context is stopped.
    #[error("the context is stopped")]
    Stopped,
}

impl From<ProfileError> for JobRejection {
    fn from(error: ProfileError) -> Self {
        Self::Profile { message: error.to_string() }
    }
}

/// Why an executor may not join.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum Refusal {
    /// The id is taken.
    #[error("{executor} is registered already")]
    Duplicate { executor: ExecutorId },
    /// Its host is excluded.
    #[error("{host} is excluded because tasks failed there")]
    HostExcluded { host: Host },
    /// The context is stopped.
    #[error("the context is stopped")]
    Stopped,
}

/// Something the user should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum Warning {
    /// Tasks wait, and nothing has ever been launched.
    #[error("no executor has taken a task yet; check that executors are registered and large enough")]
    NoResourcesAccepted,
    /// A task is so large that sending it takes longer than it should.
    #[error("a task of {set} is {size_bytes} bytes; broadcast what it carries")]
    LargeTask { set: StageAttemptId, size_bytes: u64 },
    /// A map stage gave other bytes than before where the same were promised.
    #[error("{partition} of {shuffle} gave other content when it ran again")]
    ChecksumMismatch { shuffle: ShuffleId, partition: PartitionId },
    /// A barrier stage waits for slots.
    #[error("{job} waits for {needed} slots for its barrier stage; there are {slots}")]
    BarrierSlots { job: JobId, needed: u32, slots: u32 },
}

/// Why an event changed nothing. Late and repeated reports are ordinary; each has its name here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum Ignored {
    /// The attempt is unknown, or was written off.
    #[error("{attempt} is not running")]
    UnknownAttempt { attempt: AttemptId },
    /// The report comes from an executor that does not run the attempt.
    #[error("{attempt} does not run on {executor}")]
    WrongExecutor { attempt: AttemptId, executor: ExecutorId },
    /// The attempt got a slot when it was sent, or has begun since, so that it cannot be returned.
    #[error("{attempt} does not wait on its executor")]
    NotAhead { attempt: AttemptId },
    /// The executor is unknown.
    #[error("{executor} is not registered")]
    UnknownExecutor { executor: ExecutorId },
    /// The executor is written off, and only why it went is not known yet.
    #[error("contact with {executor} was lost")]
    ContactLost { executor: ExecutorId },
    /// The job is unknown, or over.
    #[error("{job} is not active")]
    UnknownJob { job: JobId },
    /// The stage is unknown, or over.
    #[error("{stage} is not active")]
    UnknownStage { stage: StageId },
    /// The stage attempt is unknown, or over.
    #[error("{set} is not active")]
    UnknownTaskSet { set: StageAttemptId },
    /// The shuffle is unknown.
    #[error("{shuffle} is not registered")]
    UnknownShuffle { shuffle: ShuffleId },
    /// The profile is not registered.
    #[error("{profile} is not registered")]
    UnknownProfile { profile: ProfileId },
    /// Its fetch failure was reported by an older attempt of the stage.
    #[error("{set} is not the latest attempt of its stage")]
    OldAttempt { set: StageAttemptId },
    /// The backend cannot end tasks.
    #[error("the backend cannot kill tasks")]
    CannotKill,
    /// An RDD node contradicts the lineage.
    #[error("{rdd} is malformed: {why}")]
    BadRdd { rdd: RddId, why: String },
    /// A negative number of executors.
    #[error("{count} is not a number of executors")]
    BadExecutorCount { count: i32 },
    /// The context is stopped.
    #[error("the context is stopped")]
    Stopped,
}
