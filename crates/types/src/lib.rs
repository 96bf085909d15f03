//! The nouns that every Firesteel crate shares.
//!
//! Plain data only: ids, time, resources, locality, the ways a task can fail, the events a listener sees.
//! Nothing here decides anything, does I/O or reads a clock. Everything can be serialized, because all of it
//! crosses a process boundary or is written to the journal sooner or later.

mod cluster_ids;
mod date;
mod failure;
mod host;
mod ids;
mod lineage;
mod listener;
mod locality;
mod master_url;
mod metrics;
mod properties;
mod resources;
mod rng;
mod storage;
mod time;

pub mod settings;

pub use cluster_ids::{AppId, DriverId, ExecutorKey, WorkerId, is_plain_name};
pub use failure::{ExecutorLossReason, FetchFailure, TaskEndReason, TaskFailure};
pub use host::Host;
pub use ids::{
    AccumulatorId, AttemptId, AttemptNumber, ExecutorId, JobId, PartitionId, ProfileId, RddId, ShuffleId,
    StageAttemptId, StageId, TaskIndex,
};
pub use lineage::{
    Dependency, Determinism, NarrowMap, ParentPartitions, PreferredLocations, RddNode, ShuffleDependency,
};
pub use listener::{Accumulable, ExclusionScope, JobOutcome, ListenerEvent, StageInfo, TaskInfo};
pub use locality::{Locality, TaskLocation};
pub use master_url::{LocalCores, MasterUrl, MasterUrlError, MasterUrlProblem};
pub use metrics::TaskMetrics;
pub use properties::Properties;
pub use resources::{
    AmountError, Cpus, ExecutorRequest, ProfileError, ResourceAssignment, ResourceName, ResourceProfile,
    Share, TaskResourceRequest,
};
pub use rng::Rng;
pub use storage::{StorageLevel, UnknownStorageLevel};
pub use time::Timestamp;
