//! Spark's core engine in Rust: jobs written as closures over resilient distributed datasets.
//!
//! An application makes a [`Context`], RDDs from it, and values from those:
//!
//! ```
//! use firesteel::prelude::*;
//!
//! let ctx = Context::local(2)?;
//! let squares = ctx.range(0..10_u64).map(|x| x * x);
//! assert_eq!(squares.filter(|x| x % 2 == 0).sum()?, 120);
//! # Ok::<(), firesteel::Error>(())
//! ```
//!
//! - [`Rdd`] is the contract; [`Transform`] and its relatives ([`PairRdd`], [`JoinRdd`], [`OrderedPairRdd`],
//!   [`Rearrange`], [`SetRdd`]) make RDDs from RDDs; [`Actions`] and its relatives ([`FoldActions`], [`OrderActions`],
//!   [`CountActions`], [`NumericActions`], [`PairActions`], [`SaveRdd`]) run them. The [`prelude`] brings all of them.
//! - A closure must not capture: what it needs is brought with [`with`](Transform::with), also [`Broadcast`] variables
//!   and [`Accumulator`]s.
//! - Every job goes through the scheduler of `firesteel-scheduler`; the [`listener`]s hear what it decides.
//!
//! An application depends on this crate alone, and on serde where its own types travel: whatever a public item mentions
//! can be named through this crate.

#![warn(unnameable_types)]

#[cfg(panic = "abort")]
compile_error!(
    "firesteel needs unwinding to keep a failing task from ending the process: remove `panic = \"abort\"`"
);

mod accumulator;
mod action;
#[cfg(feature = "allocator")]
#[expect(unsafe_code, reason = "an allocator is an unsafe trait, and is set up by a call of its own")]
mod allocator;
mod backend;
mod broadcast;
mod build;
mod bury;
mod checkpoint;
mod conf;
mod contain;
mod context;
mod data;
mod driver;
mod either;
mod error;
mod executor;
#[cfg(test)]
mod fuzz;
mod job;
mod logging;
mod narrow;
mod pair;
mod partitioner;
pub mod prelude;
mod protocol;
mod rdd;
mod run_main;
mod security;
mod sent_files;
mod set;
#[doc(hidden)]
#[expect(unsafe_code, reason = "entry points and closures cross processes here and nowhere else")]
pub mod ship;
mod shuffle;
mod sink;
mod source;
mod spill;
mod task;
mod ui;

pub use accumulator::Accumulator;
pub use action::{
    Actions, CountActions, FoldActions, LocalRows, Number, NumericActions, OrderActions, PairActions,
    PartialResult,
};
#[cfg(feature = "allocator")]
pub use allocator::Allocator;
pub use broadcast::Broadcast;
pub use checkpoint::{CheckpointFile, Checkpointed};
pub use conf::{Conf, ConfError, Origin};
pub use context::{Context, ContextBuilder};
pub use data::Data;
pub use driver::ShuffleHandle;
pub use error::{Error, Result};
pub use firesteel_files::{Codec, IoError};
#[doc(inline)]
pub use firesteel_listener as listener;
pub use firesteel_macros::main;
pub use firesteel_scheduler::{ConfigError, JobError, JobRejection};
pub use firesteel_stats::{BoundedDouble, StatCounter, sampling::Replacement};
pub use firesteel_storage::memory::MemoryConfError;
pub use firesteel_types::settings;
pub use firesteel_types::{
    Accumulable, AccumulatorId, AmountError, AttemptId, AttemptNumber, Cpus, Determinism, ExclusionScope,
    ExecutorId, ExecutorLossReason, FetchFailure, Host, JobId, JobOutcome, ListenerEvent, LocalCores,
    Locality, MasterUrl, MasterUrlError, MasterUrlProblem, NarrowMap, ParentPartitions, PartitionId,
    PreferredLocations, ProfileId, Properties, RddId, ResourceAssignment, ResourceName, Rng, Share,
    ShuffleId, StageAttemptId, StageId, StageInfo, StorageLevel, TaskEndReason, TaskFailure, TaskIndex,
    TaskInfo, TaskLocation, TaskMetrics, Timestamp, UnknownStorageLevel,
};
pub use job::{JobHandle, JobProgress, JobState};
pub use logging::init_logging;
pub use narrow::{
    BoxRdd, Cartesian, Coalesced, Filter, FlatMap, Glom, Map, MapPartitions, Persisted, Pipe, PipeCommand,
    Pruned, Rows, Sample, Split, Transform, Union, UnionMany, With, Zip, ZipPartitions, ZipWithIndex,
    ZipWithUniqueId,
};
pub use pair::{
    Cogroup, Cogroup3, Cogroup4, Combined, Combiner, Distinct, Emit, FilterByRange, FlatMapValues, FullOuter,
    Group, GroupValues, Grouped, Inner, Join, JoinKind, JoinRdd, Keys, LeftOuter, MapValues, OrderedPairRdd,
    PairRdd, Partitioned, Rearrange, Repartitioned, RightOuter, SampleByKey, Sorted, SubtractByKey, Values,
};
pub use partitioner::{
    AnyPartitioner, HashPartitioner, KeyPartitioner, Order, Partitioner, RangePartitioner, TotalOrd,
};
pub use rdd::{HandleBuilder, Parent, Rdd, RddHandle};
pub use sent_files::sent_file;
pub use set::{Intersection, SetRdd, Subtract};
pub use ship::Ship;
pub use sink::SaveRdd;
pub use source::{
    BinaryRecords, Content, Empty, ObjectFile, Parallelize, Range, RangeNumber, TextFile, WholeFiles,
};

pub use task::{Accumulate, Collection, DoubleSum, LongSum, TaskContext};

/// Installs [`Allocator`], which counts what each task holds, as the program's global allocator.
///
/// For programs whose `main` is not made by [`#[firesteel::main]`](main), which installs it too: one line beside `main`.
///
/// ```
/// use firesteel::prelude::*;
///
/// firesteel::allocator!();
///
/// fn main() -> Result<()> {
///     let ctx = Context::local(2)?;
///     assert_eq!(ctx.range(0..10).count()?, 10);
///     Ok(())
/// }
/// ```
///
/// Without it the memory of tasks is what their operators estimate: rows of fixed size are measured well, and what rows own
/// beside that (texts, vectors) is not. A task may then hold more than its share before it spills.
#[cfg(feature = "allocator")]
#[macro_export]
macro_rules! allocator {
    () => {
        #[global_allocator]
        static FIRESTEEL_ALLOCATOR: $crate::Allocator = $crate::Allocator::new();
    };
}

/// The same in a build without the allocator: an error that names the feature.
#[cfg(not(feature = "allocator"))]
#[macro_export]
macro_rules! allocator {
    () => {
        ::core::compile_error!(
            "this firesteel is built without its allocator: turn its feature `allocator` on"
        );
    };
}

/// What a [`ConfigError`] holds: which settings of the scheduler contradict each other, and how.
pub mod config_errors {
    pub use firesteel_scheduler::{
        exclusion::ExclusionConfigError, heartbeat::HeartbeatConfigError, map_output::MapOutputError,
        pool::PoolError,
    };
    pub use firesteel_types::ProfileError;
}

/// What the macros and the command `firesteel` call; not for people.
#[doc(hidden)]
pub mod __private {
    pub use crate::run_main::run_main;

    #[cfg(feature = "allocator")]
    pub use crate::allocator as install_allocator;

    /// A build without the allocator has none to install.
    #[cfg(not(feature = "allocator"))]
    pub use crate::__no_allocator as install_allocator;
    pub use crate::security::of_conf as security;
}

#[doc(hidden)]
#[cfg(not(feature = "allocator"))]
#[macro_export]
macro_rules! __no_allocator {
    () => {};
}

// For the unit tests; programs install it themselves.
#[cfg(test)]
allocator!();

/// README's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
