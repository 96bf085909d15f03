//! The adaptor of `coalesce`.

use std::sync::Arc;

use firesteel_types::{NarrowMap, PartitionId, PreferredLocations, TaskLocation};

use crate::{
    rdd::{Parent, PartitionValues, Rdd, RddHandle},
    ship::Ship,
    task::TaskContext,
};
use firesteel_stats::{
    CoalesceError, DEFAULT_BALANCE_SLACK, PartitionGroup, group_by_locality, group_neighbours,
};

/// An [`Rdd`] with fewer partitions than its parent, each made of some of them. Made by
/// [`coalesce`](crate::Transform::coalesce).
///
/// A narrow dependency: no row moves, and one task computes all partitions of a group, one after another.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Coalesced<R> {
    parent: R,
    handle: RddHandle,
    groups: PartitionValues<Vec<u32>>,
}

crate::rdd::debug_as_handle!(impl[R] Coalesced<R>);

crate::ship!(impl[R: Ship] Coalesced<R> { parent, handle, groups });

impl<R: Rdd> Coalesced<R> {
    #[track_caller]
    pub(super) fn new(parent: &R, partitions: u32) -> Self {
        let before = parent.handle();
        let grouped = if before.is_located() {
            by_locality(before, partitions)
        } else {
            neighbours(before, partitions)
        };
        let (groups, map, preferred, error) = match grouped {
            Ok((groups, map, preferred)) => (groups, map, preferred, None),
            Err(error) => (Vec::new(), NarrowMap::Runs(Arc::from([])), PreferredLocations::None, Some(error)),
        };
        let builder = before.derive_into("coalesce", groups.len() as u32);
        let builder = builder.parents(vec![Parent::Narrow(before.clone(), map)]).preferred(preferred);
        let builder = if let Some(error) = error { builder.invalid(error) } else { builder };
        let groups = PartitionValues::new(groups);
        Self { parent: parent.clone(), handle: builder.partition_data(groups.data()).build(), groups }
    }
}

type Grouped = Result<(Vec<Vec<u32>>, NarrowMap, PreferredLocations), CoalesceError>;

fn neighbours(parent: &RddHandle, groups: u32) -> Grouped {
    let runs = group_neighbours(parent.partitions(), groups)?;
    let groups = runs.iter().map(|run| run.clone().collect()).collect();
    Ok((groups, NarrowMap::Runs(runs.into()), PreferredLocations::None))
}

fn by_locality(parent: &RddHandle, groups: u32) -> Grouped {
    let hosts =
        |partition| parent.preferred_places(partition).iter().map(|place| place.host().clone()).collect();
    let hosts: Vec<_> = (0..parent.partitions()).map(PartitionId).map(hosts).collect();
    // The same groups each time: a seed would only tell which of two equally good ones is taken.
    let groups = group_by_locality(&hosts, groups, DEFAULT_BALANCE_SLACK, 0)?;
    let place = |group: &PartitionGroup| group.host.iter().cloned().map(TaskLocation::Host).collect();
    let preferred = PreferredLocations::PerPartition(groups.iter().map(place).collect::<Arc<[_]>>());
    let groups: Vec<Vec<u32>> = groups.into_iter().map(|group| group.partitions).collect();
    Ok((groups.clone(), NarrowMap::Listed(groups.into()), preferred))
}

impl<R: Rdd> Rdd for Coalesced<R> {
    type Item = R::Item;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = R::Item> + 'a {
        let group = self.groups.get(&self.handle, partition, task);
        group.iter().flat_map(move |&partition| self.parent.compute(PartitionId(partition), task))
    }
}
