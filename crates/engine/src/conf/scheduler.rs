//! What the settings mean for the scheduler.

use std::path::Path;

use firesteel_scheduler::{
    BarrierConfig, EfficiencyConfig, ExecutorConfig, KeepAhead, LocalityConfig, PoolConfig, SchedulerConfig,
    SpeculationConfig, StageConfig, TaskConfig,
    exclusion::ExclusionConfig,
    heartbeat::HeartbeatConfig,
    map_output::MapOutputConfig,
    pool::{DEFAULT_POOL, PoolDescription, SchedulingMode},
};
use firesteel_types::{
    ExecutorRequest, MasterUrl, ResourceProfile,
    settings::{self, SchedulerMode},
};

use super::{error::ConfError, pools, values::Conf};

impl Conf {
    /// The scheduler's configuration for an application that runs at `master`.
    ///
    /// In local mode a task is tried as often as the master URL sets, once unless it is `local[N,attempts]`, and what
    /// needs more than one executor is off: speculation, exclusion, the shuffle service, tasks sent ahead. With FAIR scheduling the
    /// allocation file is read. Settings that contradict each other are found by
    /// [`Scheduler::new`](firesteel_scheduler::Scheduler::new).
    pub(crate) fn scheduler_config(&self, master: &MasterUrl) -> Result<SchedulerConfig, ConfError> {
        let (local, failures_max) = match master {
            MasterUrl::Local { attempts, .. } => (true, *attempts),
            MasterUrl::LocalCluster { .. } | MasterUrl::Cluster { .. } => {
                (false, self.get(settings::TASK_MAX_FAILURES))
            }
        };
        Ok(SchedulerConfig {
            seed: self.get(settings::SCHEDULER_SEED).into(),
            local,
            shuffle_service: !local && self.get(settings::SHUFFLE_SERVICE_ENABLED),
            default_profile: self.default_profile(local),
            merge_profiles: self.get(settings::SCHEDULER_RESOURCE_PROFILE_MERGE_CONFLICTS),
            pools: self.pools()?,
            tasks: TaskConfig {
                failures_max,
                result_bytes_max: self.get(settings::DRIVER_MAX_RESULT_SIZE),
                message_bytes_max: self.get(settings::RPC_MESSAGE_MAX_SIZE),
                ..TaskConfig::default()
            },
            stages: self.stages(),
            locality: self.locality(),
            keep_ahead: if local { KeepAhead::OFF } else { self.keep_ahead() },
            speculation: self.speculation().filter(|_| !local),
            exclusion: self.exclusion().filter(|_| !local),
            unschedulable_timeout: self.get(settings::EXCLUDE_ON_FAILURE_UNSCHEDULABLE_TIMEOUT),
            barrier: self.barrier(),
            executors: self.executors(),
            map_outputs: self.map_outputs(),
            heartbeat: self.heartbeat(),
            cancelled_groups_max: as_size(self.get(settings::SCHEDULER_NUM_CANCELLED_JOB_GROUPS_TO_TRACK)),
            ..SchedulerConfig::default()
        })
    }

    fn default_profile(&self, local: bool) -> ResourceProfile {
        let profile = ResourceProfile::default_profile(self.get(settings::TASK_CPUS));
        if local {
            return profile; // The one executor is the driver, and has what the driver has.
        }
        let executor = ExecutorRequest {
            cores: self.get(settings::EXECUTOR_CORES),
            memory_mib: self.get(settings::EXECUTOR_MEMORY) >> 20,
            ..ExecutorRequest::default()
        };
        ResourceProfile { executor: Some(executor), ..profile }
    }

    fn pools(&self) -> Result<PoolConfig, ConfError> {
        let mode = match self.get(settings::SCHEDULER_MODE) {
            SchedulerMode::Fifo => return Ok(PoolConfig::default()),
            SchedulerMode::Fair => SchedulingMode::Fair,
        };
        let pools = match self.get(settings::SCHEDULER_ALLOCATION_FILE) {
            Some(path) => pools::read(Path::new(&path))?,
            // Without a file the jobs of the one pool share like the pools of a file would, as in Spark.
            None => vec![PoolDescription { mode, ..PoolDescription::new(DEFAULT_POOL) }],
        };
        Ok(PoolConfig { mode, pools })
    }

    fn stages(&self) -> StageConfig {
        let default = StageConfig::default();
        StageConfig {
            consecutive_attempts_max: self.get(settings::STAGE_MAX_CONSECUTIVE_ATTEMPTS),
            attempts_max: self.get(settings::STAGE_MAX_ATTEMPTS).unwrap_or(default.attempts_max),
            ignore_decommission_fetch_failures: self.get(settings::STAGE_IGNORE_DECOMMISSION_FETCH_FAILURE),
            unregister_host_on_fetch_failure: self
                .get(settings::FILES_FETCH_FAILURE_UNREGISTER_OUTPUT_ON_HOST),
            ..default
        }
    }

    fn locality(&self) -> LocalityConfig {
        LocalityConfig {
            process: self.get(settings::LOCALITY_WAIT_PROCESS),
            node: self.get(settings::LOCALITY_WAIT_NODE),
            rack: self.get(settings::LOCALITY_WAIT_RACK),
            ..LocalityConfig::default()
        }
    }

    fn keep_ahead(&self) -> KeepAhead {
        KeepAhead {
            max_per_slot: self.get(settings::SCHEDULER_KEEP_AHEAD_MAX_PER_SLOT),
            longest_task: self.get(settings::SCHEDULER_KEEP_AHEAD_LONGEST_TASK),
        }
    }

    fn speculation(&self) -> Option<SpeculationConfig> {
        let efficiency = EfficiencyConfig {
            process_rate_permille: self.get(settings::SPECULATION_EFFICIENCY_PROCESS_RATE_MULTIPLIER).0,
            duration_factor_permille: self.get(settings::SPECULATION_EFFICIENCY_LONG_RUN_TASK_FACTOR).0,
        };
        self.get(settings::SPECULATION).then(|| SpeculationConfig {
            interval: self.get(settings::SPECULATION_INTERVAL),
            quantile_permille: self.get(settings::SPECULATION_QUANTILE).0,
            multiplier_permille: self.get(settings::SPECULATION_MULTIPLIER).0,
            min_runtime: self.get(settings::SPECULATION_MIN_TASK_RUNTIME),
            duration_threshold: self.get(settings::SPECULATION_TASK_DURATION_THRESHOLD),
            efficiency: self.get(settings::SPECULATION_EFFICIENCY_ENABLED).then_some(efficiency),
        })
    }

    fn exclusion(&self) -> Option<ExclusionConfig> {
        let config = ExclusionConfig {
            task_and_stage: self.get(settings::EXCLUDE_ON_FAILURE_TASK_AND_STAGE_ENABLED),
            application: self.get(settings::EXCLUDE_ON_FAILURE_APPLICATION_ENABLED),
            task_attempts_per_executor: self.get(settings::EXCLUDE_ON_FAILURE_TASK_MAX_ATTEMPTS_PER_EXECUTOR),
            task_attempts_per_node: self.get(settings::EXCLUDE_ON_FAILURE_TASK_MAX_ATTEMPTS_PER_NODE),
            stage_failed_tasks_per_executor: self
                .get(settings::EXCLUDE_ON_FAILURE_STAGE_MAX_FAILED_TASKS_PER_EXECUTOR),
            stage_failed_executors_per_node: self
                .get(settings::EXCLUDE_ON_FAILURE_STAGE_MAX_FAILED_EXECUTORS_PER_NODE),
            app_failed_tasks_per_executor: self
                .get(settings::EXCLUDE_ON_FAILURE_APPLICATION_MAX_FAILED_TASKS_PER_EXECUTOR),
            app_failed_executors_per_node: self
                .get(settings::EXCLUDE_ON_FAILURE_APPLICATION_MAX_FAILED_EXECUTORS_PER_NODE),
            timeout: self.get(settings::EXCLUDE_ON_FAILURE_TIMEOUT),
            kill: self.get(settings::EXCLUDE_ON_FAILURE_KILL),
            decommission: self.get(settings::EXCLUDE_ON_FAILURE_KILL_DECOMMISSION),
            fetch_failure: self.get(settings::EXCLUDE_ON_FAILURE_APPLICATION_FETCH_FAILURE_ENABLED),
        };
        (config.task_and_stage || config.application).then_some(config)
    }

    fn barrier(&self) -> BarrierConfig {
        BarrierConfig {
            check_interval: self.get(settings::BARRIER_CHECK_INTERVAL),
            check_failures_max: self.get(settings::BARRIER_CHECK_MAX_FAILURES),
            sync_timeout: self.get(settings::BARRIER_SYNC_TIMEOUT),
        }
    }

    fn executors(&self) -> ExecutorConfig {
        ExecutorConfig {
            revive_interval: self.get(settings::SCHEDULER_REVIVE_INTERVAL),
            starvation_interval: self.get(settings::STARVATION_TIMEOUT),
            cores_max: self.get(settings::CORES_MAX),
            registered_ratio_permille: self.get(settings::SCHEDULER_MIN_REGISTERED_RESOURCES_RATIO).0,
            registered_wait: self.get(settings::SCHEDULER_MAX_REGISTERED_RESOURCES_WAITING_TIME),
            default_parallelism: self.get(settings::DEFAULT_PARALLELISM),
            decommission_force_kill: self.get(settings::EXECUTOR_DECOMMISSION_FORCE_KILL_TIMEOUT),
            retained_decommissioned: as_size(self.get(settings::MAX_RETAINED_REMOVED_DECOMMISSION_EXECUTORS)),
            retained_unknown_decommissions: as_size(
                self.get(settings::MAX_RETAINED_UNKNOWN_DECOMMISSION_EXECUTORS),
            ),
        }
    }

    fn map_outputs(&self) -> MapOutputConfig {
        MapOutputConfig {
            min_broadcast_bytes: self.get(settings::SHUFFLE_MAP_OUTPUT_MIN_SIZE_FOR_BROADCAST),
            max_message_bytes: self.get(settings::RPC_MESSAGE_MAX_SIZE),
            reduce_locality: self.get(settings::SHUFFLE_REDUCE_LOCALITY_ENABLED),
            parallel_sum_blocks: self.get(settings::SHUFFLE_MAP_OUTPUT_PARALLEL_AGGREGATION_THRESHOLD).into(),
        }
    }

    pub(crate) fn heartbeat(&self) -> HeartbeatConfig {
        HeartbeatConfig {
            interval: self.get(settings::EXECUTOR_HEARTBEAT_INTERVAL),
            check_interval: self.get(settings::NETWORK_TIMEOUT_INTERVAL),
            network_timeout: self.get(settings::NETWORK_TIMEOUT),
            block_manager_timeout: self.get(settings::STORAGE_BLOCK_MANAGER_HEARTBEAT_TIMEOUT),
            max_failures: self.get(settings::EXECUTOR_HEARTBEAT_MAX_FAILURES),
        }
    }
}

/// A setting's 32 bits as a size in memory, which has as many at least.
const fn as_size(count: u32) -> usize {
    count as usize
}

#[cfg(test)]
mod tests;
