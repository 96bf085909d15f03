//! The registered RDDs and the walks over them.
//!
//! Every walk uses a work list and a set of visited RDDs, so a lineage thousands deep or with exponentially many
//! paths costs what it has nodes.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use firesteel_types::{
    Dependency, Determinism, NarrowMap, PreferredLocations, ProfileId, RddId, RddNode, ShuffleDependency,
    ShuffleId,
};

use crate::effect::Ignored;

/// Every RDD that the application can still reach.
#[derive(Debug, Default)]
pub(crate) struct Lineage {
    rdds: IndexMap<RddId, RddNode, FxBuildHasher>,
}

/// What is known so far about RDDs, so that a question about many of them looks at each RDD once.
pub(crate) type Answers<T> = IndexMap<RddId, T, FxBuildHasher>;

/// What one stage consists of: RDDs joined by narrow dependencies, and the shuffles they read.
#[derive(Debug, Default)]
pub(crate) struct StageShape {
    pub(crate) rdds: Vec<RddId>,
    /// Direct shuffle parents, each once, in the order in which they are met.
    pub(crate) shuffles: Vec<ShuffleDependency>,
    pub(crate) profiles: BTreeSet<ProfileId>,
    pub(crate) barrier: bool,
}

/// Everything that is computed from the same rows.
#[derive(Debug, Default)]
pub(crate) struct Behind {
    pub(crate) rdds: BTreeSet<RddId>,
    /// The shuffles that are written from one of the RDDs.
    pub(crate) shuffles: BTreeSet<ShuffleId>,
}

impl Lineage {
    pub(crate) fn get(&self, rdd: RddId) -> Option<&RddNode> {
        self.rdds.get(&rdd)
    }

    /// Takes in new RDDs and changes of known ones: all of them, or none when one is malformed.
    pub(crate) fn register(&mut self, nodes: Vec<RddNode>) -> Result<(), Ignored> {
        let batch: BTreeMap<RddId, &RddNode> = nodes.iter().map(|node| (node.id, node)).collect();
        for node in &nodes {
            self.check_node(node, &batch).map_err(|why| Ignored::BadRdd { rdd: node.id, why })?;
        }
        self.check_cycles(&batch)?;
        for node in nodes {
            self.rdds.insert(node.id, node);
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, rdd: RddId) {
        self.rdds.swap_remove(&rdd);
    }

    fn check_node(&self, node: &RddNode, batch: &BTreeMap<RddId, &RddNode>) -> Result<(), String> {
        let parent = |id: RddId| batch.get(&id).copied().or_else(|| self.get(id));
        if let PreferredLocations::PerPartition(places) = &node.preferred
            && places.len() != node.partitions as usize
        {
            return Err(format!(
                "it has {} partitions and preferred places for {}",
                node.partitions,
                places.len()
            ));
        }
        if let Some(known) = self.get(node.id)
            && known.partitions != node.partitions
        {
            return Err(format!(
                "it had {} partitions before and has {} now",
                known.partitions, node.partitions
            ));
        }
        for dependency in &node.dependencies {
            let Some(parent) = parent(dependency.parent()) else {
                return Err(format!("its parent {} is not registered", dependency.parent()));
            };
            if let Dependency::Narrow { map: NarrowMap::OneToOne, .. } = dependency
                && node.partitions > parent.partitions
            {
                return Err(format!("{} has only {} partitions", parent.id, parent.partitions));
            }
        }
        Ok(())
    }

    /// Known RDDs cannot depend on new ones, so a cycle stays within the batch unless the batch gives a known RDD a
    /// parent that it did not have.
    fn check_cycles(&self, batch: &BTreeMap<RddId, &RddNode>) -> Result<(), Ignored> {
        let has_parent =
            |node: &RddNode, parent: RddId| node.dependencies.iter().any(|dep| dep.parent() == parent);
        let is_rewired = |node: &&RddNode| {
            self.get(node.id)
                .is_some_and(|known| node.dependencies.iter().any(|dep| !has_parent(known, dep.parent())))
        };
        let follow_known = batch.values().any(is_rewired);
        let mut finished = BTreeSet::new();
        for start in batch.keys() {
            let mut on_path = BTreeSet::new();
            let mut work = vec![(*start, 0)];
            while let Some((rdd, next)) = work.pop() {
                if next == 0 && (finished.contains(&rdd) || !on_path.insert(rdd)) {
                    continue;
                }
                let node = batch.get(&rdd).copied().or_else(|| self.get(rdd).filter(|_| follow_known));
                let Some(dependency) = node.and_then(|node| node.dependencies.get(next)) else {
                    on_path.remove(&rdd);
                    finished.insert(rdd);
                    continue;
                };
                work.push((rdd, next + 1));
                let parent = dependency.parent();
                if on_path.contains(&parent) {
                    return Err(Ignored::BadRdd { rdd: parent, why: "it depends on itself".to_owned() });
                }
                work.push((parent, 0));
            }
        }
        Ok(())
    }

    /// The stage that ends with `rdd`: along narrow dependencies, up to the first shuffle on each path.
    pub(crate) fn stage_of(&self, rdd: RddId) -> Result<StageShape, RddId> {
        let mut shape = StageShape::default();
        let mut visited: IndexSet<RddId, FxBuildHasher> = IndexSet::default();
        visited.insert(rdd);
        let mut read: IndexSet<ShuffleId, FxBuildHasher> = IndexSet::default();
        let mut next = 0;
        while let Some(id) = visited.get_index(next).copied() {
            next += 1;
            let node = self.get(id).ok_or(id)?;
            shape.barrier |= node.barrier;
            shape.profiles.extend(node.profile);
            for dependency in &node.dependencies {
                match dependency {
                    Dependency::Narrow { parent, .. } => {
                        visited.insert(*parent);
                    }
                    Dependency::Shuffle(shuffle) => {
                        if read.insert(shuffle.shuffle) {
                            shape.shuffles.push(shuffle.clone());
                        }
                    }
                }
            }
        }
        shape.rdds = visited.into_iter().collect();
        Ok(shape)
    }

    /// Whether the RDD is computed in a barrier stage: it or an RDD before it in its stage opens one. `known` holds
    /// the answers so far.
    pub(crate) fn is_barrier(&self, rdd: RddId, known: &mut Answers<bool>) -> bool {
        self.answer(rdd, known, |node, known| {
            let from_parent = |dependency: &Dependency| match dependency {
                Dependency::Narrow { parent, .. } => known.get(parent).is_some_and(|barrier| *barrier),
                Dependency::Shuffle(_) => false,
            };
            node.barrier || node.dependencies.iter().any(from_parent)
        })
    }

    /// The dependency of `rdd` on `shuffle`.
    pub(crate) fn shuffle_of(&self, rdd: RddId, shuffle: ShuffleId) -> Option<&ShuffleDependency> {
        self.get(rdd)?.dependencies.iter().find_map(|dependency| match dependency {
            Dependency::Shuffle(found) if found.shuffle == shuffle => Some(found),
            Dependency::Shuffle(_) | Dependency::Narrow { .. } => None,
        })
    }

    /// Everything that reads `shuffle`, directly or not. A checkpoint reads nothing but its files.
    pub(crate) fn behind_shuffle(&self, shuffle: ShuffleId) -> Behind {
        self.behind(|dependency| match dependency {
            Dependency::Shuffle(read) => read.shuffle == shuffle,
            Dependency::Narrow { .. } => false,
        })
    }

    /// Everything that is computed from `rdd`, directly or not, without itself.
    pub(crate) fn behind_rdd(&self, rdd: RddId) -> Behind {
        self.behind(|dependency| dependency.parent() == rdd)
    }

    /// Everything with a dependency that `begins` it, and what is computed from that. Costs what there are RDDs.
    fn behind(&self, begins: impl Fn(&Dependency) -> bool) -> Behind {
        let mut known = Answers::default();
        let is_behind = |node: &RddNode, known: &Answers<bool>| {
            let follows = |dependency: &Dependency| {
                begins(dependency) || known.get(&dependency.parent()).is_some_and(|is_behind| *is_behind)
            };
            !node.checkpointed && node.dependencies.iter().any(follows)
        };
        let mut behind = Behind::default();
        for rdd in self.rdds.keys() {
            if self.answer(*rdd, &mut known, is_behind) {
                behind.rdds.insert(*rdd);
            }
        }
        for dependency in self.rdds.values().flat_map(|node| &node.dependencies) {
            if let Dependency::Shuffle(written) = dependency
                && behind.rdds.contains(&written.parent)
            {
                behind.shuffles.insert(written.shuffle);
            }
        }
        behind
    }

    /// What a second run of the RDD may give. `known` holds the answers so far.
    pub(crate) fn determinism(&self, rdd: RddId, known: &mut Answers<Determinism>) -> Determinism {
        self.answer(rdd, known, determinism_of)
    }

    /// Answers a question about an RDD that follows from the answers of its parents, each RDD once.
    fn answer<T: Copy + Default>(
        &self,
        rdd: RddId,
        known: &mut Answers<T>,
        answer: impl Fn(&RddNode, &Answers<T>) -> T,
    ) -> T {
        let mut work = vec![(rdd, 0)];
        while let Some((id, next)) = work.pop() {
            let Some(node) = self.get(id).filter(|_| !known.contains_key(&id)) else { continue };
            if let Some(dependency) = node.dependencies.get(next) {
                work.push((id, next + 1));
                work.push((dependency.parent(), 0));
            } else {
                let answered = answer(node, known);
                known.insert(id, answered);
            }
        }
        known.get(&rdd).copied().unwrap_or_default()
    }
}

/// What a second run of one RDD may give, when its inputs' answers are known.
fn determinism_of(node: &RddNode, inputs: &Answers<Determinism>) -> Determinism {
    if node.checkpointed {
        return Determinism::Determinate;
    }
    if let Some(own) = node.determinism {
        return own;
    }
    let of_dependency = |dependency: &Dependency| {
        let parent = inputs.get(&dependency.parent()).copied().unwrap_or_default();
        match dependency {
            Dependency::Shuffle(_) if parent == Determinism::Indeterminate => Determinism::Indeterminate,
            Dependency::Shuffle(shuffle) if shuffle.ordered => Determinism::Determinate,
            Dependency::Shuffle(_) => Determinism::Unordered,
            Dependency::Narrow { .. } => parent,
        }
    };
    let inputs = node.dependencies.iter().map(of_dependency).max().unwrap_or(Determinism::Determinate);
    match inputs {
        Determinism::Unordered if node.order_sensitive => Determinism::Indeterminate,
        Determinism::Determinate | Determinism::Unordered | Determinism::Indeterminate => inputs,
    }
}

#[cfg(test)]
mod tests {
    use firesteel_types::StorageLevel;

    use super::*;

    fn read(id: u32, parent: u32, ordered: bool) -> RddNode {
        let shuffle = ShuffleDependency::new(ShuffleId(id), RddId(parent), 2);
        let shuffle = Dependency::Shuffle(ShuffleDependency { ordered, ..shuffle });
        RddNode::derived(RddId(id), 2, vec![shuffle])
    }

    fn mapped(id: u32, parent: u32) -> RddNode {
        RddNode::derived(RddId(id), 2, vec![Dependency::one_to_one(RddId(parent))])
    }

    fn sampled(id: u32, parent: u32) -> RddNode {
        RddNode { order_sensitive: true, ..mapped(id, parent) }
    }

    /// The determinism of the RDDs 0, 1, … in order.
    fn levels(nodes: &[RddNode]) -> Vec<Determinism> {
        let mut lineage = Lineage::default();
        lineage.register(nodes.to_vec()).expect("the lineage is valid");
        let mut known = Answers::default();
        nodes.iter().map(|node| lineage.determinism(node.id, &mut known)).collect()
    }

    /// Behaviours: DAG-049.
    #[test]
    fn a_shuffle_without_order_makes_its_reader_unordered_and_what_depends_on_order_indeterminate() {
        use Determinism::{Determinate, Indeterminate, Unordered};
        let source = RddNode::source(RddId(0), 2);
        let round_robin = RddNode { order_sensitive: true, ..read(2, 1, false) };

        assert_eq!(
            levels(&[source.clone(), read(1, 0, false), mapped(2, 1), sampled(3, 2), mapped(4, 3)]),
            [Determinate, Unordered, Unordered, Indeterminate, Indeterminate]
        );
        assert_eq!(levels(&[source.clone(), read(1, 0, true), sampled(2, 1)]), [Determinate; 3]);
        assert_eq!(levels(&[source.clone(), sampled(1, 0)]), [Determinate; 2], "its input is ordered");
        assert_eq!(levels(&[source, read(1, 0, false), round_robin])[2], Indeterminate);
    }

    /// Behaviours: DAG-049.
    #[test]
    fn an_indeterminate_input_makes_everything_after_it_indeterminate() {
        use Determinism::Indeterminate;
        let source = RddNode { determinism: Some(Indeterminate), ..RddNode::source(RddId(0), 2) };

        assert_eq!(levels(&[source, read(1, 0, true), mapped(2, 1), read(3, 2, false)]), [Indeterminate; 4]);
    }

    /// Behaviours: DAG-049.
    #[test]
    fn the_worst_input_decides() {
        use Determinism::{Determinate, Indeterminate, Unordered};
        let source = RddNode::source(RddId(0), 2);
        let joined = |id: u32, parents: [u32; 2]| {
            let dependencies = parents.map(|parent| Dependency::one_to_one(RddId(parent))).to_vec();
            RddNode::derived(RddId(id), 2, dependencies)
        };

        assert_eq!(
            levels(&[source, read(1, 0, false), joined(2, [0, 1]), sampled(3, 2), joined(4, [3, 0])]),
            [Determinate, Unordered, Unordered, Indeterminate, Indeterminate]
        );
    }

    /// A local checkpoint is a way to store an RDD, so it has no mark of its own.
    ///
    /// Behaviours: DAG-049.
    #[test]
    fn a_reliable_checkpoint_makes_an_rdd_determinate_and_a_local_one_does_not() {
        use Determinism::{Determinate, Indeterminate, Unordered};
        let chain = |third: RddNode| {
            levels(&[RddNode::source(RddId(0), 2), read(1, 0, false), third, read(3, 2, false)])
        };
        let reliable = RddNode { checkpointed: true, ..sampled(2, 1) };
        let local = RddNode { storage: StorageLevel::MEMORY_ONLY, ..sampled(2, 1) };

        assert_eq!(chain(reliable), [Determinate, Unordered, Determinate, Unordered]);
        assert_eq!(chain(local), [Determinate, Unordered, Indeterminate, Indeterminate]);
    }
}
