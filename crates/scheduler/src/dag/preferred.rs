//! Where the tasks of a stage would rather run.

use std::collections::BTreeSet;

use firesteel_types::{Dependency, PartitionId, PreferredLocations, RddId, RddNode, TaskLocation};

use super::scheduler::DagScheduler;
use crate::{shared::Shared, task::Task};

impl DagScheduler {
    /// The preferred places of each task, or nothing at all when no task has any.
    pub(super) fn preferred_of_tasks(
        &self,
        cx: &Shared,
        rdd: RddId,
        tasks: &[Task],
    ) -> Result<Vec<Vec<TaskLocation>>, String> {
        if !self.may_have_preferences(cx, rdd) {
            return Ok(Vec::new());
        }
        let mut preferred = Vec::with_capacity(tasks.len());
        let mut visited = BTreeSet::new();
        for task in tasks {
            visited.clear();
            preferred.push(self.preferred_of(cx, rdd, task.partition, &mut visited)?);
        }
        Ok(if preferred.iter().all(Vec::is_empty) { Vec::new() } else { preferred })
    }

    /// Looks at each RDD of the stage once, so that stages without any preference are not walked task by task.
    fn may_have_preferences(&self, cx: &Shared, rdd: RddId) -> bool {
        let rdds = self.lineage.stage_of(rdd).map(|shape| shape.rdds).unwrap_or_default();
        rdds.into_iter().filter_map(|id| self.lineage.get(id)).any(|node| {
            node.preferred != PreferredLocations::None
                || matches!(node.dependencies.as_slice(), [Dependency::Shuffle(_)])
                || (node.storage.is_persisted() && cx.blocks.has_any(node.id))
        })
    }

    /// Cached copies first, then the RDD's own wish, then those of the first narrow parent partition with any.
    ///
    /// Recursion is as deep as the stage is long, so it is done with a work list; the first answer wins.
    fn preferred_of(
        &self,
        cx: &Shared,
        rdd: RddId,
        partition: PartitionId,
        visited: &mut BTreeSet<(RddId, PartitionId)>,
    ) -> Result<Vec<TaskLocation>, String> {
        let mut work = vec![(rdd, partition)];
        while let Some((rdd, partition)) = work.pop() {
            let Some(node) = self.lineage.get(rdd).filter(|_| visited.insert((rdd, partition))) else {
                continue;
            };
            let own = self.own_preference(cx, node, partition)?;
            if !own.is_empty() {
                return Ok(own);
            }
            let narrow = node.dependencies.iter().filter_map(|dependency| match dependency {
                Dependency::Narrow { parent, map } => Some((*parent, map)),
                Dependency::Shuffle(_) => None,
            });
            let before = work.len();
            work.extend(narrow.flat_map(|(parent, map)| map.parents(partition).map(move |up| (parent, up))));
            work[before..].reverse();
        }
        Ok(Vec::new())
    }

    /// A failed wish counts only where it is asked for: not for a partition that is cached.
    fn own_preference(
        &self,
        cx: &Shared,
        node: &RddNode,
        partition: PartitionId,
    ) -> Result<Vec<TaskLocation>, String> {
        if node.storage.is_persisted() {
            let holders = cx.blocks.holders(node.id, partition).iter();
            let cached: Vec<_> = holders
                .filter_map(|executor| {
                    let host = cx.executors.host_name(*executor)?.clone();
                    Some(TaskLocation::Executor { host, executor: *executor })
                })
                .collect();
            if !cached.is_empty() {
                return Ok(cached);
            }
        }
        match &node.preferred {
            PreferredLocations::None => (),
            PreferredLocations::PerPartition(places) => {
                let wished = places.get(partition.index()).cloned().unwrap_or_default();
                if !wished.is_empty() {
                    return Ok(wished);
                }
            }
            PreferredLocations::Failed(message) => return Err(message.clone()),
        }
        Ok(match node.dependencies.as_slice() {
            [Dependency::Shuffle(shuffle)] => {
                let reducers = cx.map_outputs.shape(shuffle.shuffle).map_or(0, |(_, reducers)| reducers);
                let is_read = partition.0 < reducers;
                let hosts = is_read.then(|| cx.map_outputs.preferred_hosts(shuffle.shuffle, partition.0));
                hosts.into_iter().flatten().map(TaskLocation::Host).collect()
            }
            _ => Vec::new(),
        })
    }
}
