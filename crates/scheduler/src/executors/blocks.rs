//! Where the partitions of persisted RDDs are cached.
//!
//! What is stored of an RDD behind an indeterminate shuffle must be of one run of it. So everything stored of an RDD has
//! a *generation*, which is a part of the block's name. When rows behind an RDD do not come again, its generation is
//! counted up ([`BlockLocations::discard`]). A stage attempt is told the generations of its RDDs when it is submitted,
//! and its tasks look up and store blocks of these only; every attempt that was submitted before and could be mixed with
//! the new rows is ended or ignored by the rollback. A task of such an attempt may go on and store rows, of whichever
//! run, at any time: they have a name that no later task asks for, and a report of them is told apart from one that
//! counts. Orders to remove blocks free memory and decide nothing, so it does not matter when they arrive.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use firesteel_types::{ExecutorId, PartitionId, RddId};

use crate::event::BlockUpdate;

/// The location part of Spark's block manager master.
///
/// It is part of the scheduler's state, kept up to date by events, so unlike Spark's there is no copy of it that
/// could be stale and no question that has to wait for an answer.
#[derive(Debug, Default)]
pub(crate) struct BlockLocations {
    rdds: IndexMap<RddId, CachedRdd, FxBuildHasher>,
    /// The generations that are not 0, of RDDs that are cached or not.
    generations: IndexMap<RddId, u32, FxBuildHasher>,
}

/// What a report of a block was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reported {
    /// It is of the RDD's generation.
    Current,
    /// It is of another generation: nothing may read it.
    Stale,
}

#[derive(Debug, Default)]
struct CachedRdd {
    /// Executors that hold each partition, in the order in which they got it.
    holders: Vec<Vec<ExecutorId>>,
    /// Partitions with at least one holder.
    cached: u32,
}

impl BlockLocations {
    /// One block appeared at or went from an executor. Only blocks of the present generation count.
    pub(crate) fn update(&mut self, executor: ExecutorId, block: BlockUpdate) -> Reported {
        if block.generation != self.generation(block.rdd) {
            return Reported::Stale;
        }
        if block.present {
            let rdd = self.rdds.entry(block.rdd).or_default();
            if rdd.holders.len() <= block.partition.index() {
                rdd.holders.resize_with(block.partition.index() + 1, Vec::new);
            }
            let holders = &mut rdd.holders[block.partition.index()];
            if !holders.contains(&executor) {
                rdd.cached += u32::from(holders.is_empty());
                holders.push(executor);
            }
        } else if let Some(rdd) = self.rdds.get_mut(&block.rdd) {
            rdd.remove(block.partition.index(), executor);
        }
        Reported::Current
    }

    /// How often what was stored of an RDD was discarded.
    pub(crate) fn generation(&self, rdd: RddId) -> u32 {
        self.generations.get(&rdd).copied().unwrap_or(0)
    }

    /// The generations of these RDDs, where they are not 0.
    pub(crate) fn generations(&self, rdds: &[RddId]) -> Vec<(RddId, u32)> {
        if self.generations.is_empty() {
            return Vec::new();
        }
        rdds.iter().filter_map(|rdd| Some((*rdd, *self.generations.get(rdd)?))).collect()
    }

    /// What is stored of an RDD does not fit to what will be: it counts no more, wherever it is. The new generation.
    pub(crate) fn discard(&mut self, rdd: RddId) -> u32 {
        self.rdds.swap_remove(&rdd);
        let generation = self.generations.entry(rdd).or_default();
        *generation += 1;
        *generation
    }

    /// Everything an executor held is gone.
    pub(crate) fn remove_executor(&mut self, executor: ExecutorId) {
        for rdd in self.rdds.values_mut() {
            for partition in 0..rdd.holders.len() {
                rdd.remove(partition, executor);
            }
        }
        self.rdds.retain(|_, rdd| rdd.cached > 0);
    }

    /// Nothing can reach the RDD any more.
    pub(crate) fn remove_rdd(&mut self, rdd: RddId) {
        self.rdds.swap_remove(&rdd);
        self.generations.swap_remove(&rdd);
    }

    /// Every RDD of which something is cached, in the order of ids, with the holders of its partitions.
    pub(crate) fn rdds(&self) -> Vec<(RddId, &[Vec<ExecutorId>])> {
        let cached = self.rdds.iter().filter(|(_, rdd)| rdd.cached > 0);
        let mut rdds: Vec<_> = cached.map(|(id, rdd)| (*id, rdd.holders.as_slice())).collect();
        rdds.sort_unstable_by_key(|(id, _)| *id);
        rdds
    }

    /// Who holds one partition.
    pub(crate) fn holders(&self, rdd: RddId, partition: PartitionId) -> &[ExecutorId] {
        self.rdds.get(&rdd).and_then(|rdd| rdd.holders.get(partition.index())).map_or(&[], Vec::as_slice)
    }

    /// Whether any partition of the RDD is cached.
    pub(crate) fn has_any(&self, rdd: RddId) -> bool {
        self.rdds.get(&rdd).is_some_and(|rdd| rdd.cached > 0)
    }

    /// Whether all of the RDD's `partitions` are cached.
    pub(crate) fn has_all(&self, rdd: RddId, partitions: u32) -> bool {
        self.rdds.get(&rdd).map_or(0, |rdd| rdd.cached) >= partitions
    }
}

impl CachedRdd {
    fn remove(&mut self, partition: usize, executor: ExecutorId) {
        let Some(holders) = self.holders.get_mut(partition) else { return };
        let before = holders.len();
        holders.retain(|holder| *holder != executor);
        self.cached -= u32::from(before > 0 && holders.is_empty());
    }
}
