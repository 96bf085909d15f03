//! Every scheduling decision of Firesteel, as pure state machines.
//!
//! Each machine takes events and the time, changes its state and returns effects: plain data that whoever
//! drives it performs. Nothing here reads a clock, opens a socket or a file, starts a thread, logs, or walks a
//! map whose order is random; randomness comes from a seeded generator in the state. The same events at the
//! same times therefore give the same effects, byte for byte, on every machine.

mod config;
mod dag;
mod effect;
mod event;
mod executors;
mod scheduler;
mod shared;
mod task;

pub mod barrier_sync;
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
    BarrierConfig, ConfigError, EfficiencyConfig, ExecutorConfig, LocalityConfig, PoolConfig,
    SchedulerConfig, SpeculationConfig, StageConfig, TaskConfig,
};
pub use effect::{
    AccumulatorScope, Effect, Ignored, JobError, JobRejection, Refusal, StageLaunch, StageTaskKind,
    TaskDescription, Warning,
};
pub use event::{
    BlockUpdate, Cancel, Event, ExecutorSpec, FetchedResult, JobSpec, MapOutput, NotSent, Partitions,
    ResultPlace, Scaling, TaskOutcome, TaskStatus,
};
pub use explain::{Explanation, WaitReason};
pub use scheduler::{ExecutorStatus, JobStatus, Readiness, Scheduler, StageStatus};

/// README's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
