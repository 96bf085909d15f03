//! The partitioner of an operator over keys when the caller gives none.

use std::hash::Hash;

use crate::{
    partitioner::{AnyPartitioner, KeyPartitioner},
    rdd::RddHandle,
};

/// The partitioner for an operator over `parents`: the one with most partitions that a parent has, if it has enough of
/// them; else by hash, into as many partitions as are set or the largest parent has, and into one if that has none.
pub(crate) fn default_partitioner<K: Hash + 'static>(parents: &[&RddHandle]) -> KeyPartitioner<K> {
    let most = parents.iter().map(|parent| parent.partitions()).max().unwrap_or(1);
    let configured = parents.first().and_then(|parent| parent.driver().configured_parallelism());
    let default = configured.unwrap_or(most);
    let existing = parents.iter().filter_map(|parent| parent.partitioner());
    let existing = existing.filter(|partitioner| partitioner.num_partitions() > 0);
    let largest = existing.max_by_key(|partitioner| partitioner.num_partitions());
    // Enough means within one order of magnitude of the largest parent, or at least the default.
    let enough = |partitions: u32| {
        f64::from(most).log10() - f64::from(partitions).log10() < 1.0 || default <= partitions
    };
    let kept = largest.filter(|partitioner| enough(partitioner.num_partitions()));
    kept.and_then(AnyPartitioner::for_keys).unwrap_or_else(|| KeyPartitioner::hash(default.max(1)))
}
