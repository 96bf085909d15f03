//! Map outputs: stages start when their input is there, and nothing is looked for where nothing can be.

use std::collections::{BTreeMap, BTreeSet};

use firesteel_scheduler::{Scheduler, StageTaskKind};
use firesteel_types::{Dependency, Determinism, PartitionId, RddId, ShuffleDependency, StageAttemptId};

use super::Judge;

impl Judge {
    /// The shuffles that the tasks of a stage read, which end at RDDs that are cached as a whole.
    pub fn inputs_of(&self, scheduler: &Scheduler, rdd: RddId) -> Vec<ShuffleDependency> {
        let mut visited = BTreeSet::from([rdd]);
        let mut work = vec![rdd];
        let mut inputs = Vec::new();
        while let Some(id) = work.pop() {
            let Some(node) = self.rdds.get(&id) else { continue };
            let is_cached = |partition| !scheduler.cached_at(id, PartitionId(partition)).is_empty();
            if node.storage.is_persisted() && (0..node.partitions).all(is_cached) {
                continue;
            }
            for dependency in &node.dependencies {
                match dependency {
                    Dependency::Narrow { parent, .. } if visited.insert(*parent) => work.push(*parent),
                    Dependency::Narrow { .. } => (),
                    Dependency::Shuffle(shuffle) => inputs.push(shuffle.clone()),
                }
            }
        }
        inputs
    }

    /// How many maps a shuffle has.
    pub fn maps_of(&self, shuffle: &ShuffleDependency) -> u32 {
        self.rdds.get(&shuffle.parent).map_or(0, |node| node.partitions)
    }

    /// A stage attempt that began and launched in this call has all of its input.
    pub(super) fn check_inputs(&self, scheduler: &Scheduler) {
        if self.batch.events > 1 {
            return; // A later event of the call may have taken some of it away again.
        }
        let launched: BTreeSet<StageAttemptId> =
            self.batch.launched.iter().map(|attempt| self.attempts[attempt].task.set).collect();
        for id in self.batch.prepared.iter().filter(|id| launched.contains(id)) {
            for input in self.inputs_of(scheduler, self.sets[id].launch.rdd) {
                for map in (0..self.maps_of(&input)).map(PartitionId) {
                    let output = scheduler.map_outputs().output(input.shuffle, map);
                    let output =
                        output.unwrap_or_else(|| panic!("{id} starts with {map} of {}", input.shuffle));
                    let writer = &self.attempts[&output.attempt];
                    let is_its_writer = writer.task.partition == map
                        && self.sets[&writer.task.set].launch.kind
                            == StageTaskKind::ShuffleMap(input.shuffle);
                    assert!(is_its_writer, "{} wrote {map} of {}", output.attempt, input.shuffle);
                    assert!(writer.had_result, "{} finished {map} of {}", output.attempt, input.shuffle);
                }
            }
        }
    }

    /// No map output is said to be on an executor whose files went with it.
    pub(super) fn check_output_places(&self, scheduler: &Scheduler) {
        if self.config.shuffle_service || self.config.reliable_shuffle {
            return;
        }
        for executor in self.gone.difference(&self.slandered) {
            let there = scheduler.map_outputs().outputs_on(*executor);
            assert_eq!(there, 0, "{executor} is gone with its map outputs");
        }
    }

    /// All outputs of an indeterminate shuffle are of one run: two runs of its maps deal their rows differently, and what
    /// reads some of each gets rows twice and others not at all.
    pub(super) fn check_runs(&mut self, scheduler: &Scheduler) {
        let determinism = self.determinism();
        for dependency in self.rdds.values().flat_map(|node| &node.dependencies) {
            let Dependency::Shuffle(shuffle) = dependency else { continue };
            if determinism.get(&shuffle.parent) != Some(&Determinism::Indeterminate)
                || shuffle.roll_back_on_mismatch
            {
                // It may be repaired from now on, also if it is indeterminate again later.
                self.repairable.insert(shuffle.shuffle);
            }
            if self.repairable.contains(&shuffle.shuffle) {
                continue;
            }
            let outputs = (0..self.maps_of(shuffle)).filter_map(|map| {
                scheduler.map_outputs().output(shuffle.shuffle, PartitionId(map)).map(|output| output.attempt)
            });
            let runs: BTreeSet<_> = outputs.map(|attempt| self.attempts[&attempt].task.set).collect();
            assert!(runs.len() <= 1, "the outputs of {} are of one run: {runs:?}", shuffle.shuffle);
        }
    }

    /// Whether a stage of this RDD can be rolled back: it reads what may come out otherwise, directly or not.
    pub(super) fn may_roll_back(&self, rdd: RddId) -> bool {
        let is_compared = |dependency: &Dependency| match dependency {
            Dependency::Shuffle(shuffle) => shuffle.roll_back_on_mismatch,
            Dependency::Narrow { .. } => false,
        };
        self.determinism().get(&rdd) == Some(&Determinism::Indeterminate)
            || self.rdds.values().flat_map(|node| &node.dependencies).any(is_compared)
    }

    /// What a second run of each RDD may give.
    fn determinism(&self) -> BTreeMap<RddId, Determinism> {
        let mut known: BTreeMap<RddId, Determinism> = BTreeMap::new();
        // Parents have lower ids.
        for (id, node) in &self.rdds {
            let of_dependency = |dependency: &Dependency| {
                let parent = known.get(&dependency.parent()).copied().unwrap_or_default();
                match dependency {
                    Dependency::Shuffle(_) if parent == Determinism::Indeterminate => parent,
                    Dependency::Shuffle(shuffle) if shuffle.ordered => Determinism::Determinate,
                    Dependency::Shuffle(_) => Determinism::Unordered,
                    Dependency::Narrow { .. } => parent,
                }
            };
            let inputs = node.dependencies.iter().map(of_dependency).max().unwrap_or_default();
            let is_sensitive = node.order_sensitive && inputs == Determinism::Unordered;
            let own =
                node.determinism.unwrap_or(if is_sensitive { Determinism::Indeterminate } else { inputs });
            known.insert(*id, if node.checkpointed { Determinism::Determinate } else { own });
        }
        known
    }
}
