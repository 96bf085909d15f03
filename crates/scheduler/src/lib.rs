//! Every scheduling decision of Firesteel, as pure state machines.
//!
//! Each machine takes events and the time, changes its state and returns effects: plain data for the
//! runtime to perform. Nothing here reads a clock, opens a socket or a file, starts a thread, logs, or walks a
//! map whose order is random; randomness comes from a seeded generator in the state. The same events at the
//! same times therefore give the same effects, byte for byte, on every machine.
//!
//! ```
//! use firesteel_scheduler::{Event, Explanation, JobSpec, Partitions, Scheduler, SchedulerConfig, WaitReason};
//! use firesteel_types::{JobId, PartitionId, Properties, RddId, RddNode, StageId, Timestamp};
//!
//! let mut scheduler = Scheduler::new(SchedulerConfig::default())?;
//! let now = Timestamp::ZERO;
//! scheduler.handle(now, Event::RddsRegistered(vec![RddNode::source(RddId(0), 4)]));
//! scheduler.handle(now, Event::JobSubmitted(JobSpec {
//!     job: JobId(0),
//!     rdd: RddId(0),
//!     partitions: Partitions::All,
//!     properties: Properties::default(),
//!     rows_seen: None,
//! }));
//!
//! let Explanation::Waiting(why) = scheduler.explain(StageId(0), PartitionId(0)) else { unreachable!() };
//! assert_eq!(why.reasons[0], WaitReason::NoExecutor);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod dag;
mod effect;
mod event;
mod executors;
mod scheduler;
mod shared;
mod task;

pub mod barrier_sync;
pub mod client;
pub mod commit;
pub mod deploy;
pub mod exclusion;
pub mod explain;
pub mod heartbeat;
pub mod journal;
pub mod map_output;
pub mod master;
pub mod pool;
pub mod resources;
pub mod worker;

pub use config::{
    BarrierConfig, ConfigError, EfficiencyConfig, ExecutorConfig, KeepAhead, LocalityConfig, PoolConfig,
    SchedulerConfig, SpeculationConfig, StageConfig, TaskConfig,
};
pub use effect::{
    AccumulatorScope, Effect, Ignored, JobError, JobRejection, Refusal, StageLaunch, StageTaskKind,
    TaskDescription, Warning,
};
pub use event::{
    BlockUpdate, Cancel, Event, ExecutorSpec, FetchedResult, JobSpec, MapOutput, NotSent, Partitions,
    ResultPlace, RowsSeen, Scaling, TaskOutcome, TaskStatus,
};
pub use explain::{Explanation, WaitReason};
pub use scheduler::{ExecutorStatus, JobStatus, Readiness, Scheduler, StageStatus};
