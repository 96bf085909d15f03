//! Whole jobs while executors die at random: they end, and with the right results.
//!
//! A small cluster is played here: tasks run for a while, map outputs and cached blocks live at executors, and a
//! reader whose input is gone fails to fetch it. So a task succeeds only if everything it reads is there, and the
//! results are right if each position gets one.

use std::collections::{BTreeMap, BTreeSet};

use firesteel_scheduler::{BlockUpdate, Effect, Event, SchedulerConfig, TaskDescription, TaskStatus};
use firesteel_types::{
    Dependency, ExecutorId, FetchFailure, JobId, PartitionId, RddId, RddNode, Rng, ShuffleId, TaskFailure,
};

use crate::harness::{
    Effects, World, derived, map, map_outcome, millis, one_to_one, persisted, shuffle_dependency, shuffled,
    source,
};

/// A map output as the cluster has it.
type Outputs = BTreeMap<(ShuffleId, PartitionId), ExecutorId>;

struct Cluster {
    world: World,
    rng: Rng,
    nodes: BTreeMap<RddId, RddNode>,
    /// What each stage attempt computes: its last RDD and the shuffle it writes.
    stages: BTreeMap<String, (RddId, Option<ShuffleId>)>,
    running: BTreeMap<u64, TaskDescription>,
    outputs: Outputs,
    cached: BTreeSet<(RddId, PartitionId, ExecutorId)>,
    alive: BTreeSet<u32>,
    next_executor: u32,
    replication: usize,
    /// How many more executors may die.
    deaths_left: u32,
    /// Positions that got their result.
    delivered: BTreeSet<u32>,
    ended: bool,
    error: Option<String>,
    fetch_failures: u32,
}

impl Cluster {
    fn new(seed: u64, nodes: Vec<RddNode>, replication: usize, deaths: u32) -> Self {
        let mut world = World::with(SchedulerConfig { seed, ..SchedulerConfig::default() });
        world.rdds(nodes.iter().cloned());
        let mut cluster = Self {
            world,
            rng: Rng::new(seed),
            nodes: nodes.into_iter().map(|node| (node.id, node)).collect(),
            stages: BTreeMap::new(),
            running: BTreeMap::new(),
            outputs: BTreeMap::new(),
            cached: BTreeSet::new(),
            alive: BTreeSet::new(),
            next_executor: 0,
            replication,
            deaths_left: deaths,
            delivered: BTreeSet::new(),
            ended: false,
            error: None,
            fetch_failures: 0,
        };
        for _ in 0..4 {
            cluster.start_executor();
        }
        cluster
    }

    fn start_executor(&mut self) {
        let id = self.next_executor;
        self.next_executor += 1;
        self.alive.insert(id);
        let effects = self.world.executor(id, &format!("h{}", id % 3), 2);
        self.perform(effects);
    }

    fn perform(&mut self, effects: Effects) {
        for effect in effects.0 {
            match effect {
                Effect::PrepareStage(stage) => {
                    let shuffle = match stage.kind {
                        firesteel_scheduler::StageTaskKind::ShuffleMap(shuffle) => Some(shuffle),
                        firesteel_scheduler::StageTaskKind::Result(_) => None,
                    };
                    self.stages.insert(stage.set.to_string(), (stage.rdd, shuffle));
                }
                Effect::LaunchTask(task) => {
                    assert!(self.alive.contains(&task.executor.0), "{} is dead", task.executor);
                    self.running.insert(task.attempt.0, *task);
                }
                Effect::KillTask { attempt, .. } if self.running.remove(&attempt.0).is_some() => {
                    let effects = self.world.fail(attempt.0, TaskFailure::killed("as told"));
                    self.perform(effects);
                }
                Effect::DeliverResult { position, .. } => {
                    assert!(self.delivered.insert(position), "position {position} is delivered once");
                }
                Effect::JobSucceeded { job: JobId(0), .. } => self.ended = true,
                Effect::JobFailed { error, .. } => self.error = Some(error.to_string()),
                _ => (),
            }
        }
    }

    /// The first map output that computing a partition would need and that is gone.
    fn missing_input(&mut self, rdd: RddId, partition: PartitionId, on: ExecutorId) -> Option<FetchFailure> {
        if self.cached.iter().any(|(cached, at, _)| (*cached, *at) == (rdd, partition)) {
            return None;
        }
        let node = self.nodes[&rdd].clone();
        for dependency in &node.dependencies {
            match dependency {
                Dependency::Narrow { parent, map } => {
                    for up in map.parents(partition) {
                        let missing = self.missing_input(*parent, up, on);
                        if missing.is_some() {
                            return missing;
                        }
                    }
                }
                Dependency::Shuffle(shuffle) => {
                    let maps = self.nodes[&shuffle.parent].partitions;
                    for map in (0..maps).map(PartitionId) {
                        let holder = self.outputs.get(&(shuffle.shuffle, map)).copied();
                        if !holder.is_some_and(|holder| self.alive.contains(&holder.0)) {
                            return Some(fetch_failure(shuffle.shuffle, map, holder));
                        }
                    }
                }
            }
        }
        if node.storage.is_persisted() {
            self.cache(rdd, partition, on);
        }
        None
    }

    fn cache(&mut self, rdd: RddId, partition: PartitionId, on: ExecutorId) {
        let others: Vec<_> =
            self.alive.iter().copied().map(ExecutorId).filter(|other| *other != on).collect();
        let holders = std::iter::once(on).chain(others).take(self.replication);
        for executor in holders.collect::<Vec<_>>() {
            self.cached.insert((rdd, partition, executor));
            let blocks = vec![BlockUpdate { rdd, partition, generation: 0, present: true }];
            let effects = self.world.send(Event::BlocksUpdated { executor, blocks });
            self.perform(effects);
        }
    }

    fn kill_executor(&mut self, id: u32) {
        self.alive.remove(&id);
        self.deaths_left -= 1;
        let there: Vec<_> =
            self.running.values().filter(|task| task.executor.0 == id).map(|task| task.attempt.0).collect();
        self.running.retain(|_, task| task.executor.0 != id);
        self.cached.retain(|(_, _, executor)| executor.0 != id);
        let effects = self.world.lose_with(id, firesteel_types::ExecutorLossReason::Killed);
        self.perform(effects);
        for attempt in there {
            let late = self.world.finish(attempt);
            assert_eq!(late.lines(), [format!("ignored: attempt-{attempt} is not running")]);
        }
        self.start_executor();
    }

    /// One task ends, or an executor dies, or time passes.
    fn step(&mut self) {
        self.world.now += millis(50);
        let effects = self.world.send(Event::Tick);
        self.perform(effects);
        if self.deaths_left > 0 && self.alive.len() > 1 && self.rng.below(6) == 0 {
            let at = self.rng.below(self.alive.len());
            let victim = *self.alive.iter().nth(at).expect("the index is below the length");
            return self.kill_executor(victim);
        }
        if self.running.is_empty() {
            return;
        }
        let at = self.rng.below(self.running.len());
        let task = self.running.values().nth(at).expect("the index is below the length").clone();
        self.running.remove(&task.attempt.0);
        let (rdd, shuffle) = self.stages[&task.set.to_string()];
        let effects = match (self.missing_input(rdd, task.partition, task.executor), shuffle) {
            (Some(failure), _) => {
                self.fetch_failures += 1;
                self.world.fail(task.attempt.0, TaskFailure::FetchFailed(failure))
            }
            (None, Some(shuffle)) => {
                self.outputs.insert((shuffle, task.partition), task.executor);
                let reducers = self.reducers(shuffle);
                let outcome = map_outcome(&vec![10; reducers], None);
                self.world.status(task.attempt.0, TaskStatus::Finished(outcome))
            }
            (None, None) => self.world.finish(task.attempt.0),
        };
        self.perform(effects);
    }

    fn reducers(&self, shuffle: ShuffleId) -> usize {
        let mut all = self.nodes.values().flat_map(|node| &node.dependencies);
        let found = all.find_map(|dependency| match dependency {
            Dependency::Shuffle(found) if found.shuffle == shuffle => Some(found.reducers as usize),
            Dependency::Shuffle(_) | Dependency::Narrow { .. } => None,
        });
        found.expect("the shuffle is in the lineage")
    }

    /// Runs a job to its end. How many fetches failed on the way.
    fn run(mut self, rdd: u32, partitions: u32) -> u32 {
        let effects = self.world.submit(rdd);
        self.perform(effects);
        for _ in 0..20_000 {
            if self.ended && self.running.is_empty() {
                break;
            }
            self.step();
        }
        assert_eq!(self.error, None);
        assert!(self.ended, "the job ends");
        assert_eq!(self.delivered, (0..partitions).collect(), "every position has its result");
        self.world.assert_quiescent();
        self.fetch_failures
    }
}

fn fetch_failure(shuffle: ShuffleId, map: PartitionId, holder: Option<ExecutorId>) -> FetchFailure {
    FetchFailure {
        shuffle,
        location: holder.map(|holder| (holder, format!("h{}", holder.0 % 3).as_str().into())),
        map_partition: holder.map(|_| map),
        map_attempt: None,
        reduce_partition: PartitionId(0),
        message: "gone".to_owned(),
    }
}

/// Few enough deaths that no stage fails four times in a row.
const DEATHS: u32 = 3;

/// Behaviours: DAG-044.
#[test]
fn jobs_finish_while_executors_die_in_map_and_reduce() {
    let mut fetch_failures = 0;
    for seed in 0..200 {
        let nodes =
            vec![source(0, 6), map(1, 6, 0), shuffled(2, 4, 0, 1), shuffled(3, 3, 1, 2), map(4, 3, 3)];
        fetch_failures += Cluster::new(seed, nodes, 1, DEATHS).run(4, 3);
    }
    assert!(fetch_failures > 200, "the deaths hurt: {fetch_failures}");
}

/// Behaviours: DAG-044.
#[test]
fn jobs_finish_while_executors_with_cached_blocks_die() {
    let mut fetch_failures = [0; 2];
    for replication in [1, 2] {
        for seed in 0..100 {
            let nodes = vec![
                source(0, 4),
                persisted(shuffled(1, 4, 0, 0)),
                shuffled(2, 3, 1, 1),
                persisted(map(3, 3, 2)),
                derived(4, 3, vec![one_to_one(3), shuffle_dependency(2, 1, 3)]),
            ];
            fetch_failures[replication - 1] += Cluster::new(seed, nodes, replication, DEATHS).run(4, 3);
        }
    }
    assert!(fetch_failures[1] > 50, "the deaths hurt: {fetch_failures:?}");
    assert!(fetch_failures[1] < fetch_failures[0], "second copies of blocks help: {fetch_failures:?}");
}

/// Behaviours: DAG-044.
#[test]
fn one_executor_is_enough() {
    for seed in 0..50 {
        let nodes = vec![source(0, 3), shuffled(1, 3, 0, 0)];
        let mut cluster = Cluster::new(seed, nodes, 1, 0);
        for id in 1..4 {
            cluster.alive.remove(&id);
            cluster.world.lose(id);
        }
        cluster.run(1, 3);
    }
}
