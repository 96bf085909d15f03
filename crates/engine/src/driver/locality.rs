//! Where partitions would rather be computed, as far as the lineage tells before any job.

use std::collections::BTreeSet;

use firesteel_types::{PartitionId, PreferredLocations, TaskLocation};

use super::{Parent, RddHandle};

impl RddHandle {
    /// The places that a partition prefers: its own, else those of the first partition behind it in the same stage that
    /// has any.
    ///
    /// The scheduler finds the place of a task the same way and knows cached partitions and shuffle outputs besides;
    /// this is for operators that choose what to put together.
    ///
    /// ```
    /// # use firesteel::{PartitionId, PreferredLocations, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let places = PreferredLocations::PerPartition([vec!["host-1".into()], vec!["host-2".into()]].into());
    /// let source = ctx.new_rdd("source", 2).preferred(places).build();
    /// assert_eq!(source.derive("mine").build().preferred_places(PartitionId(1)), ["host-2".into()]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
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
