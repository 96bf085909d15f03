//! Cached partitions: those of an RDD behind an indeterminate shuffle are of one run.

use std::collections::{BTreeMap, BTreeSet};

use firesteel_scheduler::{BlockUpdate, Scheduler};
use firesteel_types::{
    Dependency, ExecutorId, PartitionId, RddId, ShuffleDependency, ShuffleId, StageAttemptId,
};

use super::Judge;

/// What tasks store, and where it was said to be.
#[derive(Debug, Default)]
pub struct Stored {
    /// The run of each shuffle that tasks read when they stored partitions of an RDD under a generation.
    runs: BTreeMap<(RddId, u32, ShuffleId), StageAttemptId>,
    /// The blocks that executors said they have.
    reported: BTreeSet<(RddId, u32, PartitionId, ExecutorId)>,
    /// RDDs that were dropped. Here they may come back, which no application can do.
    dropped: BTreeSet<RddId>,
}

impl Stored {
    pub(super) fn hear_blocks(&mut self, executor: ExecutorId, blocks: &[BlockUpdate]) {
        for block in blocks {
            let stored = (block.rdd, block.generation, block.partition, executor);
            if block.present {
                self.reported.insert(stored);
            } else {
                self.reported.remove(&stored);
            }
        }
    }

    pub(super) fn hear_dropped(&mut self, rdds: &[RddId]) {
        self.dropped.extend(rdds);
    }
}

impl Judge {
    /// Nothing is read from the cache that is of another generation than what tasks would store now, and all that is stored
    /// under one generation is of one run.
    pub(super) fn check_stored(&mut self, scheduler: &Scheduler) {
        for (node, holders) in scheduler.cached_rdds() {
            let generation = scheduler.generation(node.id);
            for (partition, executor) in
                (0..).zip(holders).flat_map(|(at, all)| all.iter().map(move |e| (at, *e)))
            {
                let stored = (node.id, generation, PartitionId(partition), executor);
                assert!(self.stored.reported.contains(&stored), "{executor} said that it has {stored:?}");
            }
        }
        if self.batch.events > 1 {
            return; // A later event of the call may have changed what the first ones saw.
        }
        for id in self.batch.prepared.clone() {
            let launch = self.sets[&id].launch.clone();
            for rdd in self.rdds_of_stage(launch.rdd) {
                let told = launch.generations.iter().find(|(of, _)| *of == rdd);
                let generation = told.map_or(0, |(_, generation)| *generation);
                self.check_one_run(scheduler, rdd, generation);
            }
        }
    }

    /// Tasks begin that store `rdd` under `generation`: they read what those read that stored it before.
    fn check_one_run(&mut self, scheduler: &Scheduler, rdd: RddId, generation: u32) {
        for shuffle in self.shuffles_behind(rdd) {
            if self.repairable.contains(&shuffle.shuffle)
                || !scheduler.map_outputs().is_complete(shuffle.shuffle)
                || self.maps_of(&shuffle) == 0
            {
                continue;
            }
            let Some(output) = scheduler.map_outputs().output(shuffle.shuffle, PartitionId(0)) else {
                continue;
            };
            let run = self.attempts[&output.attempt].task.set;
            let before = *self.stored.runs.entry((rdd, generation, shuffle.shuffle)).or_insert(run);
            assert_eq!(before, run, "{rdd} is stored under {generation} from one run of {}", shuffle.shuffle);
        }
    }

    /// The RDDs that tasks of a stage compute.
    fn rdds_of_stage(&self, last: RddId) -> BTreeSet<RddId> {
        let mut found = BTreeSet::from([last]);
        let mut work = vec![last];
        while let Some(node) = work.pop().and_then(|id| self.rdds.get(&id)) {
            for dependency in &node.dependencies {
                if let Dependency::Narrow { parent, .. } = dependency
                    && found.insert(*parent)
                {
                    work.push(*parent);
                }
            }
        }
        found
    }

    /// The shuffles that an RDD is computed from, directly or not; none where an RDD on the way was dropped.
    fn shuffles_behind(&self, rdd: RddId) -> Vec<ShuffleDependency> {
        let mut found = Vec::new();
        let mut visited = BTreeSet::from([rdd]);
        let mut work = vec![rdd];
        while let Some(node) = work.pop().and_then(|id| self.rdds.get(&id)) {
            if self.stored.dropped.contains(&node.id) {
                return Vec::new();
            }
            for dependency in &node.dependencies {
                if let Dependency::Shuffle(shuffle) = dependency {
                    found.push(shuffle.clone());
                }
                if visited.insert(dependency.parent()) {
                    work.push(dependency.parent());
                }
            }
        }
        found
    }
}
