//! That settings reach the scheduler, and what each master changes.

use std::time::Duration;

use firesteel_scheduler::{ConfigError, Scheduler};
use firesteel_types::Cpus;

use super::*;
use crate::conf::tests::TempFile;

fn conf(lines: &str) -> Conf {
    let lines = lines.to_owned();
    Conf::from_lookup(move |variable| (variable == "FIRESTEEL_SETTINGS").then(|| lines.clone().into()))
        .unwrap()
}

fn config(master: &str, lines: &str) -> SchedulerConfig {
    conf(lines).scheduler_config(&master.parse().unwrap()).unwrap()
}

const CLUSTER: &str = "firesteel://h1:7077";

/// What a cluster has by default and the scheduler by itself has not.
fn cluster_defaults() -> SchedulerConfig {
    let keep_ahead = KeepAhead { max_per_slot: 32, longest_task: Duration::from_millis(4) };
    SchedulerConfig { shuffle_service: true, keep_ahead, ..SchedulerConfig::default() }
}

#[test]
fn the_defaults_are_the_schedulers_own() {
    assert_eq!(config(CLUSTER, ""), cluster_defaults());
}

const TASKS_AND_STAGES: &str = "
    firesteel.scheduler.seed 7
    firesteel.shuffle.service.enabled false
    firesteel.task.cpus 0.5
    firesteel.executor.cores 3
    firesteel.executor.memory 2g
    firesteel.scheduler.resource.profileMergeConflicts true
    firesteel.task.maxFailures 5
    firesteel.driver.maxResultSize 2g
    firesteel.rpc.message.maxSize 64
    firesteel.stage.maxConsecutiveAttempts 6
    firesteel.stage.maxAttempts 8
    firesteel.stage.ignoreDecommissionFetchFailure false
    firesteel.files.fetchFailure.unRegisterOutputOnHost true
    firesteel.locality.wait.process 1s
    firesteel.locality.wait.node 2s
    firesteel.locality.wait.rack 4s
    firesteel.scheduler.keepAhead.maxPerSlot 10
    firesteel.scheduler.keepAhead.longestTask 11
    firesteel.scheduler.numCancelledJobGroupsToTrack 9";

#[test]
fn settings_of_tasks_and_stages_reach_the_scheduler() {
    let executor = ExecutorRequest { cores: Some(3), memory_mib: 2048, ..ExecutorRequest::default() };
    let default = SchedulerConfig::default();
    let expected = SchedulerConfig {
        seed: 7,
        default_profile: ResourceProfile {
            executor: Some(executor),
            ..ResourceProfile::default_profile(Cpus::nanos(500_000_000))
        },
        merge_profiles: true,
        tasks: TaskConfig {
            failures_max: 5,
            result_bytes_max: 2 << 30,
            message_bytes_max: 64 << 20,
            ..default.tasks
        },
        stages: StageConfig {
            consecutive_attempts_max: 6,
            attempts_max: 8,
            ignore_decommission_fetch_failures: false,
            unregister_host_on_fetch_failure: true,
            ..default.stages
        },
        locality: LocalityConfig {
            process: Duration::from_secs(1),
            node: Duration::from_secs(2),
            rack: Duration::from_secs(4),
            racks: false,
        },
        keep_ahead: KeepAhead { max_per_slot: 10, longest_task: Duration::from_millis(11) },
        map_outputs: MapOutputConfig { max_message_bytes: 64 << 20, ..default.map_outputs },
        cancelled_groups_max: 9,
        ..default
    };

    assert_eq!(config(CLUSTER, TASKS_AND_STAGES), expected);
}

const EXECUTORS: &str = "
    firesteel.scheduler.barrier.maxConcurrentTasksCheck.interval 1
    firesteel.scheduler.barrier.maxConcurrentTasksCheck.maxFailures 2
    firesteel.barrier.sync.timeout 3
    firesteel.scheduler.revive.interval 4
    firesteel.starvation.timeout 5s
    firesteel.cores.max 6
    firesteel.scheduler.minRegisteredResourcesRatio 0.8
    firesteel.scheduler.maxRegisteredResourcesWaitingTime 7s
    firesteel.default.parallelism 8
    firesteel.executor.decommission.forceKillTimeout 9
    firesteel.scheduler.maxRetainedRemovedDecommissionExecutors 10
    firesteel.scheduler.maxRetainedUnknownDecommissionExecutors 11
    firesteel.shuffle.mapOutput.minSizeForBroadcast 12k
    firesteel.shuffle.reduceLocality.enabled false
    firesteel.shuffle.mapOutput.parallelAggregationThreshold 13
    firesteel.executor.heartbeatInterval 14s
    firesteel.network.timeoutInterval 15s
    firesteel.network.timeout 16
    firesteel.storage.blockManagerHeartbeatTimeoutMs 17000
    firesteel.executor.heartbeat.maxFailures 18
    firesteel.scheduler.excludeOnFailure.unschedulableTaskSetTimeout 19";

#[test]
fn settings_of_executors_reach_the_scheduler() {
    let seconds = Duration::from_secs;
    let default = cluster_defaults();
    let expected = SchedulerConfig {
        barrier: BarrierConfig {
            check_interval: seconds(1),
            check_failures_max: 2,
            sync_timeout: seconds(3),
        },
        executors: ExecutorConfig {
            revive_interval: Duration::from_millis(4),
            starvation_interval: seconds(5),
            cores_max: Some(6),
            registered_ratio_permille: 800,
            registered_wait: seconds(7),
            default_parallelism: Some(8),
            decommission_force_kill: Some(seconds(9)),
            retained_decommissioned: 10,
            retained_unknown_decommissions: 11,
        },
        map_outputs: MapOutputConfig {
            min_broadcast_bytes: 12 << 10,
            reduce_locality: false,
            parallel_sum_blocks: 13,
            ..default.map_outputs
        },
        heartbeat: HeartbeatConfig {
            interval: seconds(14),
            check_interval: seconds(15),
            network_timeout: seconds(16),
            block_manager_timeout: Some(seconds(17)),
            max_failures: 18,
        },
        unschedulable_timeout: seconds(19),
        ..default
    };

    assert_eq!(config(CLUSTER, EXECUTORS), expected);
}

#[test]
fn settings_of_speculation_reach_the_scheduler_when_it_is_on() {
    let details = "
        firesteel.speculation.interval 1s
        firesteel.speculation.multiplier 1.5
        firesteel.speculation.quantile 0.75
        firesteel.speculation.minTaskRuntime 2s
        firesteel.speculation.task.duration.threshold 3s
        firesteel.speculation.efficiency.processRateMultiplier 0.5
        firesteel.speculation.efficiency.longRunTaskFactor 4";
    let with = |more: &str| config(CLUSTER, &format!("{details}\n{more}")).speculation;

    let expected = SpeculationConfig {
        interval: Duration::from_secs(1),
        quantile_permille: 750,
        multiplier_permille: 1_500,
        min_runtime: Duration::from_secs(2),
        duration_threshold: Some(Duration::from_secs(3)),
        efficiency: Some(EfficiencyConfig { process_rate_permille: 500, duration_factor_permille: 4_000 }),
    };
    assert_eq!(with(""), None);
    assert_eq!(with("firesteel.speculation true"), Some(expected.clone()));
    let inefficient = with("firesteel.speculation true\nfiresteel.speculation.efficiency.enabled false");
    assert_eq!(inefficient, Some(SpeculationConfig { efficiency: None, ..expected }));
    assert_eq!(config(CLUSTER, "firesteel.speculation true").speculation, Some(SpeculationConfig::default()));
}

/// Behaviours: EXCL-001.
#[test]
fn exclusion_is_off_unless_a_level_is_on() {
    let with = |lines: &str| config(CLUSTER, lines).exclusion;

    assert_eq!(with(""), None);
    assert_eq!(with("firesteel.excludeOnFailure.enabled true"), Some(ExclusionConfig::enabled()));
    assert_eq!(
        with("firesteel.excludeOnFailure.enabled true\nfiresteel.excludeOnFailure.application.enabled false"),
        Some(ExclusionConfig { task_and_stage: true, ..ExclusionConfig::default() })
    );
    assert_eq!(
        with("firesteel.excludeOnFailure.application.enabled true"),
        Some(ExclusionConfig { application: true, ..ExclusionConfig::default() })
    );
}

#[test]
fn settings_of_exclusion_reach_the_scheduler() {
    let lines = "
        firesteel.excludeOnFailure.enabled true
        firesteel.excludeOnFailure.task.maxTaskAttemptsPerExecutor 2
        firesteel.excludeOnFailure.task.maxTaskAttemptsPerNode 3
        firesteel.excludeOnFailure.stage.maxFailedTasksPerExecutor 4
        firesteel.excludeOnFailure.stage.maxFailedExecutorsPerNode 5
        firesteel.excludeOnFailure.application.maxFailedTasksPerExecutor 6
        firesteel.excludeOnFailure.application.maxFailedExecutorsPerNode 7
        firesteel.excludeOnFailure.timeout 8s
        firesteel.excludeOnFailure.killExcludedExecutors true
        firesteel.excludeOnFailure.killExcludedExecutors.decommission true
        firesteel.excludeOnFailure.application.fetchFailure.enabled true";

    let expected = ExclusionConfig {
        task_and_stage: true,
        application: true,
        task_attempts_per_executor: 2,
        task_attempts_per_node: 3,
        stage_failed_tasks_per_executor: 4,
        stage_failed_executors_per_node: 5,
        app_failed_tasks_per_executor: 6,
        app_failed_executors_per_node: 7,
        timeout: Duration::from_secs(8),
        kill: true,
        decommission: true,
        fetch_failure: true,
    };
    assert_eq!(config(CLUSTER, lines).exclusion, Some(expected));
}

/// Behaviours: TSI-020, BACK-017.
#[test]
fn a_local_master_says_how_often_a_task_is_tried() {
    let lines = "firesteel.task.maxFailures 7";

    for (master, local, failures_max) in [
        ("local", true, 1),
        ("local[4]", true, 1),
        ("local[*,3]", true, 3),
        ("local-cluster[2,1,512]", false, 7),
        (CLUSTER, false, 7),
    ] {
        let config = config(master, lines);
        assert_eq!((config.local, config.tasks.failures_max), (local, failures_max), "{master}");
    }
}

#[test]
fn local_mode_has_nothing_that_needs_a_second_executor() {
    let lines = "firesteel.speculation true\nfiresteel.excludeOnFailure.enabled true\n\
                 firesteel.shuffle.service.enabled true\nfiresteel.executor.cores 1\nfiresteel.task.cpus 2";

    let local = config("local[2]", lines);

    assert_eq!((local.speculation.clone(), local.exclusion.clone()), (None, None));
    assert!(!local.shuffle_service);
    assert_eq!(local.keep_ahead, KeepAhead::OFF);
    assert!(Scheduler::new(local).is_ok());
}

/// Behaviours: EXCL-013.
#[test]
fn settings_that_contradict_each_other_are_found_by_the_scheduler() {
    let lines = "firesteel.excludeOnFailure.enabled true\nfiresteel.task.maxFailures 2";

    let error = Scheduler::new(config(CLUSTER, lines)).err();

    assert!(matches!(error, Some(ConfigError::Exclusion(_))), "{error:?}");
}

#[test]
fn fair_scheduling_without_a_file_shares_within_the_default_pool() {
    let pools = config(CLUSTER, "firesteel.scheduler.mode fair").pools;

    let default = PoolDescription { mode: SchedulingMode::Fair, ..PoolDescription::new(DEFAULT_POOL) };
    assert_eq!(pools, PoolConfig { mode: SchedulingMode::Fair, pools: vec![default] });
}

/// Behaviours: POOL-006.
#[test]
fn fair_scheduling_takes_its_pools_from_the_allocation_file() {
    let file = TempFile::new("<allocations><pool name='etl'><weight>2</weight></pool></allocations>");
    let lines = |mode| {
        format!("firesteel.scheduler.mode {mode}\nfiresteel.scheduler.allocation.file {}", file.path())
    };

    let etl = PoolDescription { weight: 2, ..PoolDescription::new("etl") };
    assert_eq!(
        config(CLUSTER, &lines("FAIR")).pools,
        PoolConfig { mode: SchedulingMode::Fair, pools: vec![etl] }
    );
    assert_eq!(config(CLUSTER, &lines("FIFO")).pools, PoolConfig::default());
}

/// Behaviours: POOL-008.
#[test]
fn an_allocation_file_that_cannot_be_used_is_an_error_that_names_it() {
    let no_xml = TempFile::new("pools: etl");
    let message = |path: &str| {
        let lines = format!("firesteel.scheduler.mode FAIR\nfiresteel.scheduler.allocation.file {path}");
        conf(&lines).scheduler_config(&MasterUrl::LOCAL).unwrap_err().to_string()
    };

    assert_eq!(
        message("/nowhere/pools.xml"),
        "cannot read `/nowhere/pools.xml`, the file that firesteel.scheduler.allocation.file names"
    );
    assert!(message(no_xml.path()).starts_with(&format!("`{}` does not describe pools", no_xml.path())));
}

/// Behaviours: POOL-008.
#[test]
fn an_unsupported_scheduler_mode_is_refused() {
    let error = Conf::new().set(settings::SCHEDULER_MODE, "NONE").unwrap_err();

    assert_eq!(
        error.to_string(),
        "setting `firesteel.scheduler.mode` cannot be `NONE`: it must be FIFO or FAIR"
    );
}
