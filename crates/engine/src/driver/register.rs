//! Telling the scheduler about a lineage.

use hashbrown::HashSet;

use firesteel_types::{PartitionId, RddId, RddNode, ShuffleId};

use super::{Parent, RddHandle};
use crate::{ship::ShipError, task::TaskData};

/// The nodes that the scheduler has not heard of, parents before children, marked as told.
///
/// A registered RDD has registered parents, and a change of it is told at once; so the walk stops there and costs what
/// is new. The caller makes sure that the nodes reach the scheduler before any other walk begins.
pub(crate) fn unregistered(rdd: &RddHandle) -> Vec<RddNode> {
    let mut nodes = Vec::new();
    let mut stack = vec![(rdd.clone(), false)];
    while let Some((handle, parents_done)) = stack.pop() {
        if handle.is_known() {
            continue;
        }
        if parents_done {
            handle.mark_known();
            nodes.push(handle.node());
        } else {
            let parents = handle.parents();
            stack.push((handle, true));
            stack.extend(parents.iter().map(|parent| (parent.handle().clone(), false)));
        }
    }
    nodes
}

/// Calls `visit` with every RDD that a job on `rdd` may compute, nearest first; `visit` tells whether to go on behind
/// it.
pub(crate) fn walk(rdd: &RddHandle, mut visit: impl FnMut(&RddHandle) -> bool) {
    let mut seen = HashSet::new();
    let mut pending = std::collections::VecDeque::from([rdd.clone()]);
    while let Some(handle) = pending.pop_front() {
        if seen.insert(handle.id()) && visit(&handle) {
            pending.extend(handle.parents().iter().map(Parent::handle).cloned());
        }
    }
}

/// The name of an RDD that a job on `rdd` computes.
pub(crate) fn name_of(rdd: &RddHandle, wanted: RddId) -> Option<String> {
    let mut name = None;
    walk(rdd, |handle| {
        if handle.id() == wanted {
            name = Some(handle.name().to_string());
        }
        name.is_none()
    });
    name
}

/// The shuffles that the tasks of a stage read whose last RDD is `rdd`.
pub(crate) fn shuffles_read(rdd: &RddHandle) -> Vec<ShuffleId> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut pending = vec![rdd.clone()];
    while let Some(handle) = pending.pop() {
        if !seen.insert(handle.id()) {
            continue;
        }
        for parent in handle.parents() {
            match parent {
                Parent::Narrow(parent, _) => pending.push(parent),
                Parent::Shuffle(shuffle) => found.push(shuffle.id()),
            }
        }
    }
    found
}

/// The data that travels with the task of one partition: what the sources behind it, up to the next shuffle, hold for
/// the partitions that it needs.
pub(crate) fn partition_data(rdd: &RddHandle, partition: PartitionId) -> Result<TaskData, ShipError> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut pending = vec![(rdd.clone(), partition)];
    while let Some((handle, partition)) = pending.pop() {
        if !seen.insert((handle.id(), partition)) {
            continue;
        }
        if let Some(data) = handle.partition_data() {
            found.push((handle.id(), partition.0, data(partition.0)?.into()));
        }
        for parent in handle.parents() {
            if let Parent::Narrow(parent, map) = parent {
                pending.extend(map.parents(partition).map(|needed| (parent.clone(), needed)));
            }
        }
    }
    Ok(found)
}
