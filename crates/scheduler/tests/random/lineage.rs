//! Random lineages: up to thirty RDDs joined by every kind of dependency.

use std::sync::Arc;

use firesteel_types::{
    Dependency, Determinism, ExecutorId, NarrowMap, PreferredLocations, ProfileId, RddId, RddNode,
    ShuffleDependency, ShuffleId, StorageLevel, TaskLocation,
};

use crate::case::{Case, Dice, Feature, Flavour};

/// The most partitions an RDD has.
const PARTITIONS_MAX: u32 = 8;

/// The ways an RDD can be made.
#[derive(Clone, Copy)]
enum Kind {
    Source,
    Map,
    Prune,
    Union,
    Cartesian,
    Coalesce,
    Shuffle,
    Join,
    ShuffleAndNarrow,
    SameShuffle,
}

/// The RDDs of a case, parents before children.
pub fn lineage(case: &Case) -> Vec<RddNode> {
    let mut nodes: Vec<RddNode> = Vec::new();
    let count = (case.dice(20).between(1, 30) as usize).min(case.rdds_max);
    for id in 0..count as u32 {
        // Each RDD has dice of its own, so that a shorter lineage is the beginning of a longer one.
        let mut dice = case.dice(1000 + u64::from(id));
        let node = node(case, RddId(id), &nodes, &mut dice);
        nodes.push(decorate(case, node, &mut dice));
    }
    nodes
}

fn node(case: &Case, id: RddId, before: &[RddNode], dice: &mut Dice) -> RddNode {
    let kind = dice.weighted(&[
        (15, Kind::Source),
        (20, Kind::Map),
        (6, Kind::Prune),
        (10, Kind::Union),
        (6, Kind::Cartesian),
        (8, Kind::Coalesce),
        (35, Kind::Shuffle),
        (15, Kind::Join),
        (8, Kind::ShuffleAndNarrow),
        (6, Kind::SameShuffle),
    ]);
    let Some(first) = parent(before, dice) else { return source(case, id, dice) };
    let second = parent(before, dice).unwrap_or(first);
    match kind {
        Kind::Source => source(case, id, dice),
        Kind::Map => RddNode::derived(id, first.partitions, vec![Dependency::one_to_one(first.id)]),
        Kind::Prune => prune(id, first, dice),
        Kind::Union => union(id, first, second),
        Kind::Cartesian => cartesian(id, first, second),
        Kind::Coalesce => coalesce(id, first, dice),
        Kind::Shuffle => {
            let reducers = dice.between(1, 4);
            RddNode::derived(id, reducers, vec![shuffle(id, 0, first, reducers, dice)])
        }
        Kind::Join => {
            let reducers = dice.between(1, 4);
            let sides = vec![shuffle(id, 0, first, reducers, dice), shuffle(id, 1, second, reducers, dice)];
            RddNode::derived(id, reducers, sides)
        }
        Kind::ShuffleAndNarrow => {
            let side = shuffle(id, 0, second, first.partitions, dice);
            RddNode::derived(id, first.partitions, vec![Dependency::one_to_one(first.id), side])
        }
        Kind::SameShuffle => same_shuffle(case, id, before, dice),
    }
}

/// Mostly a recent RDD, so that lineages become deep.
fn parent<'a>(before: &'a [RddNode], dice: &mut Dice) -> Option<&'a RddNode> {
    let recent = if dice.chance(70) { before.len().saturating_sub(4) } else { 0 };
    dice.pick(&before[recent..])
}

fn source(case: &Case, id: RddId, dice: &mut Dice) -> RddNode {
    let is_empty = case.has(Feature::EmptyRdds) && dice.chance(20);
    // Only where many tasks wait are some of them sent ahead.
    let most = match (case.has(Feature::KeepAhead), case.flavour) {
        (false, _) => 4,
        (true, Flavour::Queues) => 60,
        (true, _) => 16,
    };
    RddNode::source(id, if is_empty { 0 } else { dice.between(1, most) })
}

/// Some of the parent's partitions, in any order.
fn prune(id: RddId, parent: &RddNode, dice: &mut Dice) -> RddNode {
    let mut kept = Vec::new();
    for partition in 0..parent.partitions {
        if dice.chance(70) {
            kept.insert(dice.below(kept.len() + 1), vec![partition]);
        }
    }
    let (partitions, map) = (kept.len() as u32, NarrowMap::Listed(kept.into()));
    RddNode::derived(id, partitions, vec![Dependency::Narrow { parent: parent.id, map }])
}

fn union(id: RddId, first: &RddNode, second: &RddNode) -> RddNode {
    let mut start = 0;
    let mut dependencies = Vec::new();
    for parent in [first, second] {
        let len = parent.partitions.min(PARTITIONS_MAX - start);
        let map = NarrowMap::Range { parent_start: 0, child_start: start, len };
        dependencies.push(Dependency::Narrow { parent: parent.id, map });
        start += len;
    }
    RddNode::derived(id, start, dependencies)
}

fn cartesian(id: RddId, left: &RddNode, right: &RddNode) -> RddNode {
    let partitions = left.partitions * right.partitions;
    if partitions > PARTITIONS_MAX {
        return union(id, left, right);
    }
    let sides =
        [(left.id, NarrowMap::Divide(right.partitions)), (right.id, NarrowMap::Modulo(right.partitions))];
    let dependencies = sides.map(|(parent, map)| Dependency::Narrow { parent, map });
    RddNode::derived(id, partitions, dependencies.into())
}

fn coalesce(id: RddId, parent: &RddNode, dice: &mut Dice) -> RddNode {
    let partitions = dice.between(1, parent.partitions.max(1));
    let edge = |at: u32| at * parent.partitions / partitions;
    let map = if dice.chance(50) {
        NarrowMap::Runs((0..partitions).map(|at| edge(at)..edge(at + 1)).collect())
    } else {
        NarrowMap::Listed((0..partitions).map(|at| (edge(at)..edge(at + 1)).rev().collect()).collect())
    };
    RddNode::derived(id, partitions, vec![Dependency::Narrow { parent: parent.id, map }])
}

/// The `side`-th shuffle that RDD `id` reads. Its id follows from that of the RDD.
fn shuffle(id: RddId, side: u32, parent: &RddNode, reducers: u32, dice: &mut Dice) -> Dependency {
    let mut shuffle = ShuffleDependency::new(ShuffleId(id.0 * 2 + side), parent.id, reducers);
    shuffle.ordered = dice.chance(20);
    shuffle.roll_back_on_mismatch = dice.chance(20);
    Dependency::Shuffle(shuffle)
}

/// A second reader of a shuffle that another RDD reads.
fn same_shuffle(case: &Case, id: RddId, before: &[RddNode], dice: &mut Dice) -> RddNode {
    let shuffles: Vec<_> = before
        .iter()
        .flat_map(|node| &node.dependencies)
        .filter_map(|dependency| match dependency {
            Dependency::Shuffle(shuffle) => Some(shuffle),
            Dependency::Narrow { .. } => None,
        })
        .collect();
    match dice.pick(&shuffles) {
        Some(shuffle) => {
            RddNode::derived(id, shuffle.reducers, vec![Dependency::Shuffle((*shuffle).clone())])
        }
        None => source(case, id, dice),
    }
}

/// What an RDD has beside its dependencies.
fn decorate(case: &Case, mut node: RddNode, dice: &mut Dice) -> RddNode {
    let reads_shuffle = node.dependencies.iter().any(|dep| matches!(dep, Dependency::Shuffle(_)));
    let mut rolls = |feature: Feature, percent: usize| dice.chance(percent) && case.has(feature);
    let cached = rolls(Feature::Cached, 30);
    let barrier = rolls(Feature::Barrier, 25);
    let indeterminate = rolls(Feature::Indeterminate, 15);
    node.order_sensitive = rolls(Feature::Indeterminate, 20);
    let preferred = rolls(Feature::Preferred, if reads_shuffle { 10 } else { 50 });
    let profile = rolls(Feature::Profiles, 25);
    if cached {
        node.storage = StorageLevel::MEMORY_ONLY;
    }
    node.barrier = barrier;
    node.determinism = indeterminate.then_some(Determinism::Indeterminate);
    node.profile = profile.then_some(ProfileId(1));
    if preferred {
        node.preferred = if dice.chance(2) {
            PreferredLocations::Failed("no such file".to_owned())
        } else {
            PreferredLocations::PerPartition((0..node.partitions).map(|_| places(dice)).collect())
        };
    }
    node
}

fn places(dice: &mut Dice) -> Vec<TaskLocation> {
    let count = dice.below(3);
    (0..count)
        .map(|_| {
            let host = host(dice.between(0, 4));
            match dice.below(4) {
                0 => TaskLocation::Executor { host, executor: ExecutorId(dice.between(0, 4)) },
                1 => TaskLocation::HostCache(host),
                _ => TaskLocation::Host(host),
            }
        })
        .collect()
}

/// The name of one of the few hosts.
pub fn host(number: u32) -> firesteel_types::Host {
    format!("h{number}").into()
}

/// The RDD with a cut lineage, as after a checkpoint.
pub fn checkpointed(node: &RddNode) -> RddNode {
    RddNode { dependencies: Vec::new(), checkpointed: true, name: Arc::clone(&node.name), ..node.clone() }
}
