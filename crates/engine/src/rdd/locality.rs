//! Where partitions would rather be computed, as far as the lineage says before any job.

use std::collections::BTreeSet;

use firesteel_types::{PartitionId, PreferredLocations, TaskLocation};

use super::{Parent, RddHandle};

impl RddHandle {
    /// The places that a partition prefers: its own, else those of the first partition behind it in the same stage that
    /// has any.
    ///
    /// The scheduler finds the place of a task the same way and knows cached partitions and shuffle outputs besides;
    /// this is for operators that choose what to put together.
    pub fn preferred_places(&self, partition: PartitionId) -> Vec<TaskLocation> {
        let mut visited = BTreeSet::new();
        let mut work = vec![(self.clone(), partition)];
        while let Some((rdd, partition)) = work.pop() {
            if !rdd.is_located() || !visited.insert((rdd.id(), partition)) {
                continue;
            }
            if let PreferredLocations::PerPartition(places) = rdd.preferred()
                && let Some(own) = places.get(partition.index()).filter(|own| !own.is_empty())
            {
                return own.clone();
            }
            let before = work.len();
            for parent in rdd.parents() {
                if let Parent::Narrow(parent, map) = parent {
                    work.extend(map.parents(partition).map(|needed| (parent.clone(), needed)));
                }
            }
            work[before..].reverse();
        }
        Vec::new()
    }
}
