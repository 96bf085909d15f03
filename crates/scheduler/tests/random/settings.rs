//! Random configurations.

use std::{collections::BTreeMap, time::Duration};

use firesteel_scheduler::{
    BarrierConfig, ExecutorConfig, KeepAhead, LocalityConfig, PoolConfig, SchedulerConfig, SpeculationConfig,
    StageConfig, TaskConfig,
    exclusion::ExclusionConfig,
    heartbeat::HeartbeatConfig,
    pool::{PoolDescription, SchedulingMode},
};
use firesteel_types::{Cpus, ExecutorRequest, ProfileId, ResourceName, ResourceProfile, Share};

use crate::case::{Case, Dice, Feature};

/// The name of the one custom resource.
pub const GPU: &str = "gpu";
/// Addresses of it that an executor has.
pub const GPUS: u32 = 2;

/// The scheduler's settings in a case.
pub fn settings(case: &Case) -> SchedulerConfig {
    let mut dice = case.dice(3);
    SchedulerConfig {
        seed: dice.next(),
        local: case.has(Feature::Local),
        can_kill_tasks: !case.has(Feature::CannotKill),
        dynamic_allocation: case.has(Feature::DynamicAllocation),
        shuffle_service: case.has(Feature::ShuffleService),
        reliable_shuffle: case.has(Feature::ReliableShuffle),
        default_profile: default_profile(case),
        merge_profiles: dice.chance(50),
        pools: pools(case),
        tasks: tasks(case),
        stages: stages(case),
        locality: locality(case),
        keep_ahead: keep_ahead(case),
        speculation: case.has(Feature::Speculation).then(|| speculation(&mut case.dice(4))),
        exclusion: case
            .has(Feature::Exclusion)
            .then(|| exclusion(&mut case.dice(5), tasks(case).failures_max)),
        unschedulable_timeout: Duration::from_secs(30),
        barrier: BarrierConfig {
            check_interval: Duration::from_secs(5),
            check_failures_max: 3,
            sync_timeout: Duration::from_secs(20),
        },
        executors: executors(case),
        heartbeat: heartbeat(case),
        cancelled_groups_max: 2,
        ..SchedulerConfig::default()
    }
}

fn default_profile(case: &Case) -> ResourceProfile {
    let odd = [Cpus::cores(2), Cpus::nanos(500_000_000)];
    let odd = case.dice(6).pick(&odd).filter(|_| case.has(Feature::OddCpus));
    let cpus = odd.copied().unwrap_or(Cpus::ONE);
    let mut profile = ResourceProfile::default_profile(cpus);
    if case.has(Feature::Gpus) {
        let share = *case.dice(7).pick(&[Share::one_of(2), Share::WHOLE]).expect("there are two");
        profile.task_resources.insert(GPU.into(), share);
        profile.executor = Some(ExecutorRequest { resources: gpus(GPUS), ..ExecutorRequest::default() });
    }
    profile
}

/// A profile beside the default one, in cases that have one.
pub fn second_profile(case: &Case) -> Option<ResourceProfile> {
    let full = ExecutorRequest { cores: Some(4), memory_mib: 512, resources: BTreeMap::new() };
    case.has(Feature::Profiles).then(|| ResourceProfile {
        id: ProfileId(0),
        executor: case.has(Feature::DynamicAllocation).then_some(full),
        task_cpus: Cpus::ONE,
        task_resources: BTreeMap::new(),
    })
}

fn gpus(count: u32) -> BTreeMap<ResourceName, u32> {
    BTreeMap::from([(GPU.into(), count)])
}

fn pools(case: &Case) -> PoolConfig {
    if !case.has(Feature::Fair) {
        return PoolConfig::default();
    }
    let fair =
        PoolDescription { mode: SchedulingMode::Fair, weight: 2, min_share: 1, ..PoolDescription::new("a") };
    PoolConfig { mode: SchedulingMode::Fair, pools: vec![fair, PoolDescription::new("b")] }
}

fn tasks(case: &Case) -> TaskConfig {
    if !case.has(Feature::TightLimits) {
        return TaskConfig::default();
    }
    let mut dice = case.dice(8);
    TaskConfig {
        failures_max: dice.between(1, 4),
        result_bytes_max: if dice.chance(30) { 3000 } else { 0 },
        warn_bytes: 100,
        message_bytes_max: 1000,
    }
}

fn stages(case: &Case) -> StageConfig {
    let mut dice = case.dice(9);
    let tight = case.has(Feature::TightLimits);
    StageConfig {
        consecutive_attempts_max: if tight { dice.between(1, 4) } else { 4 },
        attempts_max: if tight && dice.chance(30) { dice.between(1, 6) } else { u32::MAX },
        resubmit_delay: Duration::from_millis(200),
        ignore_decommission_fetch_failures: dice.chance(50),
        unregister_host_on_fetch_failure: case.has(Feature::HostLoss),
    }
}

fn locality(case: &Case) -> LocalityConfig {
    let wait = if case.has(Feature::NoLocalityWait) { Duration::ZERO } else { Duration::from_secs(3) };
    let node = Duration::from_millis(*case.dice(10).pick(&[0, 500, 3000]).expect("there are three"));
    LocalityConfig { node: wait.min(node), racks: case.has(Feature::Racks), ..LocalityConfig::wait(wait) }
}

fn keep_ahead(case: &Case) -> KeepAhead {
    if !case.has(Feature::KeepAhead) {
        return KeepAhead::OFF;
    }
    KeepAhead { max_per_slot: case.dice(12).between(1, 6), longest_task: Duration::from_millis(4) }
}

fn speculation(dice: &mut Dice) -> SpeculationConfig {
    SpeculationConfig {
        quantile_permille: if dice.chance(50) { 900 } else { 0 },
        multiplier_permille: if dice.chance(50) { 1500 } else { 0 },
        duration_threshold: dice.chance(50).then_some(Duration::from_secs(1)),
        ..SpeculationConfig::default()
    }
}

fn exclusion(dice: &mut Dice, failures_max: u32) -> ExclusionConfig {
    let has_levels = failures_max > 1;
    let fetch_failure = dice.chance(40);
    ExclusionConfig {
        task_and_stage: has_levels && dice.chance(80),
        application: has_levels && dice.chance(80),
        task_attempts_per_node: failures_max.saturating_sub(1).clamp(1, 2),
        stage_failed_tasks_per_executor: dice.between(1, 2),
        stage_failed_executors_per_node: dice.between(1, 2),
        app_failed_tasks_per_executor: dice.between(1, 2),
        app_failed_executors_per_node: dice.between(1, 2),
        timeout: Duration::from_secs(40),
        kill: dice.chance(40),
        decommission: dice.chance(40),
        fetch_failure,
        ..ExclusionConfig::default()
    }
}

fn executors(case: &Case) -> ExecutorConfig {
    if !case.has(Feature::Decommission) {
        return ExecutorConfig::default();
    }
    let mut dice = case.dice(11);
    ExecutorConfig {
        decommission_force_kill: dice.chance(60).then_some(Duration::from_secs(8)),
        retained_decommissioned: dice.below(3),
        retained_unknown_decommissions: dice.below(3),
        ..ExecutorConfig::default()
    }
}

fn heartbeat(case: &Case) -> HeartbeatConfig {
    if !case.has(Feature::ShortHeartbeats) {
        return HeartbeatConfig::default();
    }
    HeartbeatConfig {
        interval: Duration::from_secs(2),
        check_interval: Duration::from_secs(3),
        network_timeout: Duration::from_secs(6),
        ..HeartbeatConfig::default()
    }
}
