//! What the scheduler can be told to do otherwise.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use firesteel_types::{Cpus, Locality, ResourceProfile};

use crate::{
    event::NotSent,
    exclusion::{ExclusionConfig, ExclusionConfigError},
    heartbeat::{HeartbeatConfig, HeartbeatConfigError},
    map_output::{MapOutputConfig, MapOutputError},
    pool::{PoolDescription, PoolError, SchedulingMode},
};

/// The settings of one application's scheduler. The defaults are Spark's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulerConfig {
    /// Seed of every random choice.
    pub seed: u64,
    /// Everything runs in the driver's process: no speculation, no waiting for executors.
    pub local: bool,
    /// Whether the backend can end running tasks.
    pub can_kill_tasks: bool,
    /// Whether executors are asked for and released as the load changes.
    pub dynamic_allocation: bool,
    /// Whether shuffle files outlive their executor.
    pub shuffle_service: bool,
    /// Whether shuffle files outlive every machine.
    pub reliable_shuffle: bool,
    /// The default resource profile.
    pub default_profile: ResourceProfile,
    /// Whether two profiles that meet in a stage are merged rather than refused.
    pub merge_profiles: bool,
    /// Order between task sets.
    pub pools: PoolConfig,
    /// Limits and sizes of tasks.
    pub tasks: TaskConfig,
    /// Retries of stages.
    pub stages: StageConfig,
    /// How long a better place is waited for.
    pub locality: LocalityConfig,
    /// Sending short tasks before a slot is free.
    pub keep_ahead: KeepAhead,
    /// Second copies of slow tasks; none when off.
    pub speculation: Option<SpeculationConfig>,
    /// Avoiding executors that fail; none when off.
    pub exclusion: Option<ExclusionConfig>,
    /// How long a set that is excluded everywhere is kept.
    pub unschedulable_timeout: Duration,
    /// Barrier stages.
    pub barrier: BarrierConfig,
    /// Registration, release and decommission of executors.
    pub executors: ExecutorConfig,
    /// Map output tracking.
    pub map_outputs: MapOutputConfig,
    /// Heartbeats of executors.
    pub heartbeat: HeartbeatConfig,
    /// How many cancelled job groups are remembered.
    pub cancelled_groups_max: usize,
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        Self {
            seed: 0,
            local: false,
            can_kill_tasks: true,
            dynamic_allocation: false,
            shuffle_service: false,
            reliable_shuffle: false,
            default_profile: ResourceProfile::default_profile(Cpus::ONE),
            merge_profiles: false,
            pools: PoolConfig::default(),
            tasks: TaskConfig::default(),
            stages: StageConfig::default(),
            locality: LocalityConfig::default(),
            keep_ahead: KeepAhead::OFF,
            speculation: None,
            exclusion: None,
            unschedulable_timeout: Duration::from_secs(120),
            barrier: BarrierConfig::default(),
            executors: ExecutorConfig::default(),
            map_outputs: MapOutputConfig::default(),
            heartbeat: HeartbeatConfig::default(),
            cancelled_groups_max: 1000,
        }
    }
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The exclusion settings contradict each other.
    #[error(transparent)]
    Exclusion(#[from] ExclusionConfigError),
    /// The heartbeat settings contradict each other.
    #[error(transparent)]
    Heartbeat(#[from] HeartbeatConfigError),
    /// The map output settings contradict each other.
    #[error(transparent)]
    MapOutputs(#[from] MapOutputError),
    /// The pools cannot be built.
    #[error(transparent)]
    Pools(#[from] PoolError),
    /// The default profile cannot be used.
    #[error("the default resource profile cannot be used")]
    Profile(#[source] firesteel_types::ProfileError),
}

/// The order in which task sets are offered resources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolConfig {
    /// FIFO or FAIR.
    pub mode: SchedulingMode,
    /// The pools known from the start.
    pub pools: Vec<PoolDescription>,
}

/// Limits and sizes of tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskConfig {
    /// Counted failures of one task that abort its set.
    pub failures_max: u32,
    /// Sum of result sizes of one set above which it is aborted; 0 is no limit.
    pub result_bytes_max: u64,
    /// Size of a task above which the user is warned once per set.
    pub warn_bytes: u64,
    /// Size of a task that cannot be sent.
    pub message_bytes_max: u64,
}

impl TaskConfig {
    /// Whether an encoded task of this size may be sent to an executor.
    pub const fn check_size(&self, size_bytes: u64) -> Result<(), NotSent> {
        if size_bytes < self.message_bytes_max { Ok(()) } else { Err(NotSent::TooLarge { size_bytes }) }
    }
}

impl Default for TaskConfig {
    fn default() -> Self {
        Self {
            failures_max: 4,
            result_bytes_max: 1 << 30,
            warn_bytes: 1000 << 10,
            message_bytes_max: 128 << 20,
        }
    }
}

/// Retries of stages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageConfig {
    /// Failed attempts in a row that abort the stage.
    pub consecutive_attempts_max: u32,
    /// Attempts in all that abort the stage.
    pub attempts_max: u32,
    /// How long after a failure the failed stages are submitted again.
    pub resubmit_delay: Duration,
    /// Whether fetch failures against a decommissioned executor are not counted.
    pub ignore_decommission_fetch_failures: bool,
    /// Whether a fetch failure discards every map output of its host, where the host may be lost.
    pub unregister_host_on_fetch_failure: bool,
}

impl Default for StageConfig {
    fn default() -> Self {
        Self {
            consecutive_attempts_max: 4,
            attempts_max: u32::MAX,
            resubmit_delay: Duration::from_millis(200),
            ignore_decommission_fetch_failures: true,
            unregister_host_on_fetch_failure: false,
        }
    }
}

/// How long a task set waits for a better place before it takes the next level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalityConfig {
    /// At process level.
    pub process: Duration,
    /// At node level.
    pub node: Duration,
    /// At rack level.
    pub rack: Duration,
    /// Whether hosts have racks that can be looked up.
    pub racks: bool,
}

impl LocalityConfig {
    /// The same wait at every level.
    pub const fn wait(wait: Duration) -> Self {
        Self { process: wait, node: wait, rack: wait, racks: false }
    }

    /// How long to wait at `level`.
    pub const fn at(&self, level: Locality) -> Duration {
        match level {
            Locality::Process => self.process,
            Locality::Node => self.node,
            Locality::Rack => self.rack,
            Locality::NoPref | Locality::Any => Duration::ZERO,
        }
    }
}

impl Default for LocalityConfig {
    fn default() -> Self {
        Self::wait(Duration::from_secs(3))
    }
}

/// How far executors are kept ahead of what they run, so that short tasks need not wait for a round trip each.
///
/// Spark has no equivalent. Off by default: the backend that runs the tasks must be able to queue them and to return
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeepAhead {
    /// The most tasks that wait on an executor for each of its slots; with 0 none is sent before a slot is free.
    pub max_per_slot: u32,
    /// Only tasks of sets whose tasks take no longer than this are sent before a slot is free.
    pub longest_task: Duration,
}

impl KeepAhead {
    /// No task is sent before a slot is free.
    pub const OFF: Self = Self { max_per_slot: 0, longest_task: Duration::ZERO };
}

/// When a running task gets a second copy. Fractions are in thousandths, so that no float decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeculationConfig {
    /// How often running tasks are looked at.
    pub interval: Duration,
    /// Share of tasks that must have succeeded, in thousandths.
    pub quantile_permille: u64,
    /// How many times the median a task must take, in thousandths.
    pub multiplier_permille: u64,
    /// The least run time of a task that gets a copy.
    pub min_runtime: Duration,
    /// A fixed run time that is enough when a set is small.
    pub duration_threshold: Option<Duration>,
    /// Whether tasks that process records fast enough are spared.
    pub efficiency: Option<EfficiencyConfig>,
}

/// Which slow tasks are spared because they process records fast enough.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EfficiencyConfig {
    /// A task is slow below this share of the average rate, in thousandths.
    pub process_rate_permille: u64,
    /// A task over the threshold this many times is slow regardless of its rate, in thousandths.
    pub duration_factor_permille: u64,
}

impl Default for SpeculationConfig {
    fn default() -> Self {
        Self {
            interval: Duration::from_millis(100),
            quantile_permille: 900,
            multiplier_permille: 3000,
            min_runtime: Duration::from_millis(100),
            duration_threshold: None,
            efficiency: Some(EfficiencyConfig { process_rate_permille: 750, duration_factor_permille: 2000 }),
        }
    }
}

/// Barrier stages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BarrierConfig {
    /// How often a job that does not fit is checked again.
    pub check_interval: Duration,
    /// Failed checks that are tolerated.
    pub check_failures_max: u32,
    /// How long tasks wait for each other.
    pub sync_timeout: Duration,
}

impl Default for BarrierConfig {
    fn default() -> Self {
        Self {
            check_interval: Duration::from_secs(15),
            check_failures_max: 40,
            sync_timeout: Duration::from_hours(365 * 24),
        }
    }
}

/// Registration, release and decommission of executors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorConfig {
    /// How often all executors are offered.
    pub revive_interval: Duration,
    /// How often the user is told that nothing was ever launched.
    pub starvation_interval: Duration,
    /// Cores the application is meant to have, where known.
    pub cores_max: Option<u32>,
    /// Share of those that must register before the first job, in thousandths.
    pub registered_ratio_permille: u64,
    /// How long to wait for them.
    pub registered_wait: Duration,
    /// Parallelism the user asked for.
    pub default_parallelism: Option<u32>,
    /// How long a decommissioning executor may take before it is killed.
    pub decommission_force_kill: Option<Duration>,
    /// Removed decommissioned executors that are remembered.
    pub retained_decommissioned: usize,
    /// Decommission requests for executors not yet registered that are remembered.
    pub retained_unknown_decommissions: usize,
}

impl Default for ExecutorConfig {
    fn default() -> Self {
        Self {
            revive_interval: Duration::from_secs(1),
            starvation_interval: Duration::from_secs(15),
            cores_max: None,
            registered_ratio_permille: 0,
            registered_wait: Duration::from_secs(30),
            default_parallelism: None,
            decommission_force_kill: None,
            retained_decommissioned: 0,
            retained_unknown_decommissions: 0,
        }
    }
}
