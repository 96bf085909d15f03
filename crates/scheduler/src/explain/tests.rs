//! The reasons are sound: a task whose reasons are all removed is launched, and one of whose reasons one is left is
//! not. Checked on random states, by changing the state itself.

use std::{collections::BTreeMap, time::Duration};

use firesteel_types::{
    Cpus, Dependency, ExecutorId, ExecutorLossReason, JobId,
    Locality::{Any, Node, Process, Rack},
    PartitionId, PreferredLocations, ProfileId, Properties, RddId, RddNode, Rng, ShuffleDependency,
    ShuffleId, StageId, TaskFailure, TaskLocation, TaskMetrics, Timestamp,
};

use super::{Explanation, NotReady, Passed, WaitReason, Waiting};
use crate::{
    Effect, Event, ExecutorSpec, JobSpec, Partitions, PoolConfig, Scaling, Scheduler, SchedulerConfig,
    TaskOutcome, TaskStatus, exclusion::ExclusionConfig, pool::SchedulingMode, resources::ExecutorResources,
};

/// Cores for every task there is.
const PLENTY: u32 = 10_000;

/// A scheduler in some state, reached through events that can be sent again to reach it again.
struct World {
    scheduler: Scheduler,
    now: Timestamp,
    history: Vec<(Timestamp, Event)>,
    config: SchedulerConfig,
}

impl World {
    fn new(config: SchedulerConfig) -> Self {
        let scheduler = Scheduler::new(config.clone()).unwrap();
        Self { scheduler, now: Timestamp::from_secs(1), history: Vec::new(), config }
    }

    fn send(&mut self, event: Event) -> Vec<Effect> {
        self.history.push((self.now, event.clone()));
        self.scheduler.handle(self.now, event)
    }

    /// The same state once more.
    fn fork(&self) -> Self {
        let mut scheduler = Scheduler::new(self.config.clone()).unwrap();
        for (now, event) in &self.history {
            scheduler.handle(*now, event.clone());
        }
        Self { scheduler, now: self.now, history: self.history.clone(), config: self.config.clone() }
    }

    fn executor(&mut self, id: u32, cores: u32) {
        let executor = ExecutorId(id);
        self.send(Event::ExecutorRegistered(ExecutorSpec {
            executor,
            host: format!("h{}", id / 2).into(),
            address: "".into(),
            cpus: Cpus::cores(cores),
            resources: BTreeMap::new(),
            profile: ProfileId::DEFAULT,
        }));
    }

    fn submit(&mut self, job: u32, rdd: RddNode, pool: &str) {
        let (id, properties) = (rdd.id, Properties::default().with(Properties::POOL, pool));
        self.send(Event::RddsRegistered(vec![rdd]));
        let (job, partitions) = (JobId(job), Partitions::All);
        self.send(Event::JobSubmitted(JobSpec { job, rdd: id, partitions, properties, rows_seen: None }));
    }

    /// Every task that waits, with why.
    fn waiting(&self) -> Vec<(StageId, PartitionId, Waiting)> {
        let mut found = Vec::new();
        for (id, stage) in &self.scheduler.dag.stages {
            for partition in (0..stage.latest.tasks).map(PartitionId) {
                if let Explanation::Waiting(why) = self.scheduler.explain(*id, partition) {
                    found.push((*id, partition, why));
                }
            }
        }
        found
    }

    /// Removes one reason to wait, by any means. What is busy gets `room` free cores.
    fn remove(&mut self, stage: StageId, nearest: ExecutorId, reason: &WaitReason, room: u32) {
        let executors = &mut self.scheduler.cx.executors;
        match reason {
            WaitReason::Cpus { .. } | WaitReason::Behind { .. } | WaitReason::Resource { .. } => {
                let free = ExecutorResources::new(Cpus::cores(room), BTreeMap::new());
                executors.replace_resources(nearest, free);
            }
            WaitReason::ExecutorNotReady(NotReady::Starting) => {
                executors.update(nearest, |executor| executor.launched = true);
                self.scheduler.tasks.recompute_levels(&self.scheduler.cx);
            }
            WaitReason::ExecutorNotReady(NotReady::Disconnected) => {
                executors.update(nearest, |executor| executor.loss_pending = false);
            }
            WaitReason::ExecutorNotReady(NotReady::Draining) => {
                executors.update(nearest, |executor| executor.going.decommission = None);
            }
            WaitReason::ExecutorNotReady(NotReady::BeingKilled) => {
                executors.update(nearest, |executor| executor.going.kill = None);
            }
            WaitReason::LocalityWait { left, .. } | WaitReason::ExcludedForApplication { left } => {
                self.now += *left + Duration::from_micros(1);
            }
            WaitReason::ExcludedForStage | WaitReason::ExcludedForTask => {
                let config = self.config.exclusion.clone().expect("exclusions come only when they are on");
                for key in self.scheduler.tasks.sets_of(stage) {
                    self.scheduler.tasks.set_mut(key).forget_exclusions(&config);
                }
            }
            WaitReason::ParentStages { .. }
            | WaitReason::StageRetry { .. }
            | WaitReason::NoExecutor
            | WaitReason::OtherProfile
            | WaitReason::BarrierSlots { .. } => panic!("{reason:?} does not occur in these worlds"),
        }
    }

    /// Whether an offer of everything launches the task now, and where.
    fn launches_now(&mut self, stage: StageId, partition: PartitionId) -> Option<ExecutorId> {
        self.scheduler.tasks.revive = true;
        let effects = self.scheduler.handle(self.now, Event::Tick);
        effects.iter().find_map(|effect| match effect {
            Effect::LaunchTask(task) if task.set.stage == stage && task.partition == partition => {
                Some(task.executor)
            }
            _ => None,
        })
    }
}

/// A world with a few executors in any state, a few jobs, some with preferences, and some failures.
fn random_world(rng: &mut Rng) -> World {
    let mode = if rng.below(2) == 0 { SchedulingMode::Fifo } else { SchedulingMode::Fair };
    let config = SchedulerConfig {
        seed: rng.next_u64(),
        pools: PoolConfig { mode, pools: Vec::new() },
        exclusion: (rng.below(2) == 0).then(ExclusionConfig::enabled),
        ..SchedulerConfig::default()
    };
    let mut world = World::new(config);
    let executors = 1 + rng.below(5) as u32;
    for id in 0..executors {
        world.executor(id, 1 + rng.below(2) as u32);
        if rng.below(5) > 0 {
            world.send(Event::ExecutorLaunched { executor: ExecutorId(id) });
        }
    }
    for job in 0..=rng.below(3) as u32 {
        let partitions = 1 + rng.below(6) as u32;
        let mut rdd = RddNode::source(RddId(job), partitions);
        if rng.below(2) == 0 {
            let place = |_| random_places(rng, executors);
            rdd.preferred = PreferredLocations::PerPartition((0..partitions).map(place).collect());
        }
        world.submit(job, rdd, ["a", "b"][rng.below(2)]);
        world.now += Duration::from_millis(rng.below(2000) as u64);
    }
    for _ in 0..rng.below(6) {
        random_step(&mut world, rng, executors);
    }
    world
}

fn random_places(rng: &mut Rng, executors: u32) -> Vec<TaskLocation> {
    (0..rng.below(3))
        .map(|_| {
            let id = rng.below(executors as usize + 1) as u32;
            let host = format!("h{}", id / 2);
            match rng.below(3) {
                0 => TaskLocation::Host(host.as_str().into()),
                1 => TaskLocation::HostCache(host.as_str().into()),
                _ => TaskLocation::Executor { host: host.as_str().into(), executor: ExecutorId(id) },
            }
        })
        .collect()
}

fn random_step(world: &mut World, rng: &mut Rng, executors: u32) {
    let executor = ExecutorId(rng.below(executors as usize) as u32);
    let running: Vec<_> = world.scheduler.tasks.running.values().map(|running| running.info).collect();
    let any = (!running.is_empty()).then(|| running[rng.below(running.len())]);
    world.now += Duration::from_millis(rng.below(1500) as u64);
    match (rng.below(7), any) {
        (0 | 1, Some(info)) => {
            let status = TaskStatus::Finished(TaskOutcome::default());
            world.send(Event::StatusUpdate { executor: info.executor, attempt: info.attempt, status });
        }
        (2, Some(info)) => {
            let (failure, metrics) = (TaskFailure::panicked("boom"), TaskMetrics::default());
            let status = TaskStatus::Failed { failure, metrics, accumulators: false };
            world.send(Event::StatusUpdate { executor: info.executor, attempt: info.attempt, status });
        }
        (3, _) => drop(world.send(Event::ExecutorDisconnected { executor })),
        (4, _) => {
            let (executors, worker_host) = (vec![executor], None);
            let scaling =
                Scaling::Decommission { executors, worker_host, adjust_target: false, by_executor: false };
            world.send(Event::ScalingRequested(scaling));
        }
        (5, _) => {
            let reason = ExecutorLossReason::process_lost("gone");
            world.send(Event::ExecutorLost { executor, reason });
        }
        _ => drop(world.send(Event::Tick)),
    }
}

/// Whether time alone removes the reason.
fn is_wait(reason: &WaitReason) -> bool {
    matches!(reason, WaitReason::LocalityWait { .. } | WaitReason::ExcludedForApplication { .. })
}

#[test]
fn a_task_is_launched_when_its_reasons_are_removed_and_not_before() {
    let mut checked = 0;
    for seed in 0..400 {
        let world = random_world(&mut Rng::new(seed));
        for (stage, partition, why) in world.waiting() {
            let Some(nearest) = why.nearest else { continue };

            let mut all_removed = world.fork();
            let (waits, others): (Vec<_>, Vec<_>) = why.reasons.iter().partition(|reason| is_wait(reason));
            for reason in others {
                all_removed.remove(stage, nearest, reason, PLENTY);
            }
            // Room that appears is offered when it appears, and a wait begins with the first offer that is refused.
            let mut launched = all_removed.launches_now(stage, partition);
            for reason in waits {
                all_removed.remove(stage, nearest, reason, PLENTY);
                launched = launched.or_else(|| all_removed.launches_now(stage, partition));
            }
            // Another task of the set that may run nowhere any more ends the job instead.
            let is_aborted = !all_removed.scheduler.dag.stages.contains_key(&stage);
            assert!(
                launched.is_some() || is_aborted,
                "seed {seed}: {stage} {partition} still waits without {why:?}"
            );

            for left in why.reasons.iter().filter(|reason| !matches!(reason, WaitReason::Behind { .. })) {
                let mut one_left = world.fork();
                // A wait for a better level lasts while tasks wait for that level, so they must not all find room.
                let room = if matches!(left, WaitReason::LocalityWait { .. }) { 1 } else { PLENTY };
                for reason in why.reasons.iter().filter(|reason| *reason != left) {
                    // Room for all is made by removing either of these, so neither can be left alone.
                    let makes_room = matches!(reason, WaitReason::Behind { .. } | WaitReason::Cpus { .. });
                    if !(makes_room && matches!(left, WaitReason::Cpus { .. })) {
                        one_left.remove(stage, nearest, reason, room);
                    }
                }
                let launched = one_left.launches_now(stage, partition);
                assert_ne!(
                    launched,
                    Some(nearest),
                    "seed {seed}: {stage} {partition} does not need {left:?} of {why:?}"
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 1000, "the worlds are varied enough: {checked}");
}

#[test]
fn a_running_task_tells_its_level_and_what_was_passed_over() {
    let mut world = World::new(SchedulerConfig::default());
    world.executor(0, 1);
    world.send(Event::ExecutorLaunched { executor: ExecutorId(0) });
    world.executor(2, 1);
    world.send(Event::ExecutorLaunched { executor: ExecutorId(2) });
    let mut rdd = RddNode::source(RddId(0), 2);
    let place = TaskLocation::Executor { host: "h0".into(), executor: ExecutorId(0) };
    rdd.preferred = PreferredLocations::PerPartition(vec![vec![place.clone()], vec![place]].into());
    world.submit(0, rdd, "default");

    let waits = world.scheduler.explain(StageId(0), PartitionId(1));
    world.now += Duration::from_secs(6);
    world.send(Event::Tick);
    let runs = world.scheduler.explain(StageId(0), PartitionId(1));

    let Explanation::Waiting(waits) = waits else { panic!("{waits:?}") };
    let left = Duration::from_secs(6);
    let wait = WaitReason::LocalityWait { allowed: Process, needed: Any, left };
    let busy = WaitReason::Cpus { needed: Cpus::ONE, free: Cpus::ZERO, running: 1 };
    assert_eq!(
        waits,
        Waiting { nearest: Some(ExecutorId(0)), reasons: vec![busy], elsewhere: vec![(wait, 1)] }
    );
    let Explanation::Running(runs) = runs else { panic!("{runs:?}") };
    assert_eq!((runs[0].level, runs[0].executor, runs[0].offers), (Any, ExecutorId(2), 1));
    assert_eq!(
        runs[0].passed,
        [(Process, Passed::WaitedOut), (Node, Passed::WaitedOut), (Rack, Passed::NoPreference)]
    );
}

#[test]
fn a_stage_that_is_not_submitted_tells_what_it_waits_for() {
    let mut world = World::new(SchedulerConfig::default());
    let reads = ShuffleDependency::new(ShuffleId(0), RddId(0), 1);
    let reducer = RddNode::derived(RddId(1), 1, vec![Dependency::Shuffle(reads)]);
    world.send(Event::RddsRegistered(vec![RddNode::source(RddId(0), 1)]));
    world.submit(0, reducer, "default");

    let map = world.scheduler.explain(StageId(0), PartitionId(0));
    let reduce = world.scheduler.explain(StageId(1), PartitionId(0));
    let unknown = world.scheduler.explain(StageId(7), PartitionId(0));

    let waits = |reason| {
        Explanation::Waiting(Waiting { nearest: None, reasons: vec![reason], elsewhere: Vec::new() })
    };
    assert_eq!(map, waits(WaitReason::NoExecutor));
    assert_eq!(reduce, waits(WaitReason::ParentStages { stages: vec![StageId(0)] }));
    assert_eq!(unknown, Explanation::NotActive);
}
