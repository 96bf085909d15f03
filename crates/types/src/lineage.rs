//! A lineage as plain data: what the scheduler sees of an application's RDDs.

use std::{ops::Range, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{PartitionId, ProfileId, RddId, ShuffleId, StorageLevel, TaskLocation};

/// One RDD, without its types and functions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RddNode {
    /// Its id.
    pub id: RddId,
    /// What made it, for people: `map at src/main.rs:12`.
    pub name: Arc<str>,
    /// How many partitions it has.
    pub partitions: u32,
    /// What it is computed from.
    pub dependencies: Vec<Dependency>,
    /// Where its own partitions would rather be computed.
    pub preferred: PreferredLocations,
    /// How computed partitions are kept.
    pub storage: StorageLevel,
    /// Whether the RDD opens a barrier stage.
    pub barrier: bool,
    /// The resource profile asked for, if not the default one.
    pub profile: Option<ProfileId>,
    /// Whether the same rows in another order would give other rows (sampling, round-robin).
    pub order_sensitive: bool,
    /// What the source itself promises about a second run, when it differs from what its inputs imply.
    pub determinism: Option<Determinism>,
    /// Whether its content is in reliable storage, so that a second run reads the very same bytes.
    pub checkpointed: bool,
}

impl RddNode {
    /// A plain source with `partitions` partitions and no dependencies.
    pub fn source(id: RddId, partitions: u32) -> Self {
        Self {
            id,
            name: Arc::from(""),
            partitions,
            dependencies: Vec::new(),
            preferred: PreferredLocations::None,
            storage: StorageLevel::NONE,
            barrier: false,
            profile: None,
            order_sensitive: false,
            determinism: None,
            checkpointed: false,
        }
    }

    /// An RDD computed from `dependencies`.
    pub fn derived(id: RddId, partitions: u32, dependencies: Vec<Dependency>) -> Self {
        Self { dependencies, ..Self::source(id, partitions) }
    }
}

/// Where the partitions of an RDD would rather be computed, as declared by the RDD itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PreferredLocations {
    /// No preference.
    None,
    /// One list per partition.
    PerPartition(Arc<[Vec<TaskLocation>]>),
    /// The application's own function failed with this message.
    Failed(String),
}

/// What an RDD is computed from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dependency {
    /// Each partition needs a few known partitions of the parent; both run in one stage.
    Narrow {
        /// The parent.
        parent: RddId,
        /// Which of its partitions.
        map: NarrowMap,
    },
    /// Each partition may need rows of every partition of the parent: the cut between two stages.
    Shuffle(ShuffleDependency),
}

impl Dependency {
    /// Partition *i* comes from the parent's partition *i*.
    pub const fn one_to_one(parent: RddId) -> Self {
        Self::Narrow { parent, map: NarrowMap::OneToOne }
    }

    /// The parent of either kind.
    pub const fn parent(&self) -> RddId {
        match self {
            Self::Narrow { parent, .. } => *parent,
            Self::Shuffle(shuffle) => shuffle.parent,
        }
    }
}

/// The cut between two stages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShuffleDependency {
    /// The shuffle.
    pub shuffle: ShuffleId,
    /// The RDD whose rows are shuffled: one map task for each of its partitions.
    pub parent: RddId,
    /// How many reduce partitions the rows are dealt into.
    pub reducers: u32,
    /// Whether readers get their rows aggregated and in key order, so that a second run gives the same order.
    pub ordered: bool,
    /// Whether a rerun that gives other bytes discards everything computed from the old ones.
    pub roll_back_on_mismatch: bool,
}

impl ShuffleDependency {
    /// A shuffle of `parent` into `reducers` partitions, in no particular order.
    pub const fn new(shuffle: ShuffleId, parent: RddId, reducers: u32) -> Self {
        Self { shuffle, parent, reducers, ordered: false, roll_back_on_mismatch: false }
    }
}

/// Which partitions of its parent a partition needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NarrowMap {
    /// The one of the same number.
    OneToOne,
    /// Partitions `child_start..child_start + len` come from `parent_start..parent_start + len` (union).
    Range {
        /// First partition of the parent.
        parent_start: u32,
        /// First partition of the child.
        child_start: u32,
        /// How many.
        len: u32,
    },
    /// Partition *i* needs *i* / n (left side of a cartesian product with n partitions on the right).
    Divide(u32),
    /// Partition *i* needs *i* mod n (right side of a cartesian product).
    Modulo(u32),
    /// Partition *i* needs a run of neighbours (coalesce without locality).
    Runs(Arc<[Range<u32>]>),
    /// Partition *i* needs these (coalesce by locality, pruning).
    Listed(Arc<[Vec<u32>]>),
}

impl NarrowMap {
    /// The parent's partitions that `child` needs, in order.
    pub fn parents(&self, child: PartitionId) -> ParentPartitions<'_> {
        // The parent of a child that does not exist may be out of range too.
        let one = |partition: u32| ParentPartitions::Run(partition..partition.saturating_add(1));
        match self {
            Self::OneToOne => one(child.0),
            Self::Range { parent_start, child_start, len } => match child.0.checked_sub(*child_start) {
                Some(offset) if offset < *len => one(parent_start.saturating_add(offset)),
                Some(_) | None => ParentPartitions::Run(0..0),
            },
            Self::Divide(n) => one(child.0 / (*n).max(1)),
            Self::Modulo(n) => one(child.0 % (*n).max(1)),
            Self::Runs(runs) => ParentPartitions::Run(runs.get(child.index()).cloned().unwrap_or(0..0)),
            Self::Listed(lists) => {
                ParentPartitions::Listed(lists.get(child.index()).map_or(&[][..], Vec::as_slice).iter())
            }
        }
    }
}

/// The partitions of a parent that one partition needs. Made by [`NarrowMap::parents`].
#[derive(Clone, Debug)]
pub enum ParentPartitions<'a> {
    /// Neighbours.
    Run(Range<u32>),
    /// Any.
    Listed(std::slice::Iter<'a, u32>),
}

impl Iterator for ParentPartitions<'_> {
    type Item = PartitionId;

    fn next(&mut self) -> Option<PartitionId> {
        match self {
            Self::Run(run) => run.next().map(PartitionId),
            Self::Listed(list) => list.next().copied().map(PartitionId),
        }
    }
}

/// What a second run of the same computation may give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Determinism {
    /// The same rows in the same order.
    #[default]
    Determinate,
    /// The same rows in another order.
    Unordered,
    /// Other rows.
    Indeterminate,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parents(map: &NarrowMap, child: u32) -> Vec<u32> {
        map.parents(PartitionId(child)).map(|partition| partition.0).collect()
    }

    #[test]
    fn each_kind_of_narrow_dependency_finds_its_parent_partitions() {
        let range = NarrowMap::Range { parent_start: 0, child_start: 3, len: 2 };

        assert_eq!(parents(&NarrowMap::OneToOne, 4), [4]);
        assert_eq!(parents(&range, 4), [1]);
        assert_eq!(parents(&range, 2), [0; 0]);
        assert_eq!(parents(&range, 5), [0; 0]);
        assert_eq!(parents(&NarrowMap::Divide(3), 7), [2]);
        assert_eq!(parents(&NarrowMap::Modulo(3), 7), [1]);
        assert_eq!(parents(&NarrowMap::Runs(Arc::from([0..3, 3..5])), 1), [3, 4]);
        assert_eq!(parents(&NarrowMap::Listed(Arc::from([vec![5, 1]])), 0), [5, 1]);
        assert_eq!(parents(&NarrowMap::Listed(Arc::from([vec![5, 1]])), 9), [0; 0]);
    }
}
