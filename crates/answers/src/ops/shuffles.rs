//! Operators over one RDD that move rows between partitions.

use anyhow::Result;
use firesteel::prelude::*;

use super::{Built, groups};
use crate::{
    case::Shuffle,
    functions::{digest, paired, reduced},
    kind::{Kind, Row},
};

/// The RDD behind an operator.
pub(super) fn build<K: Kind>(op: Shuffle, partitions: u32, parent: &Built<K>) -> Result<BoxRdd<Row<K>>> {
    let rdd = &parent.rdd;
    Ok(match op {
        Shuffle::PartitionBy => rdd.partition_by(partitions).boxed(),
        Shuffle::Repartition => rdd.repartition(partitions).boxed(),
        Shuffle::Distinct => rdd.distinct_into(partitions).boxed(),
        Shuffle::GroupByKey { reading } => groups::build::<K>(reading, partitions, parent),
        Shuffle::GroupBy => {
            let groups = rdd.group_by_into(partitions, |row: &Row<K>| row.0.clone());
            let groups = groups.with(parent.model.known.orders_values());
            let digests = groups.map(|is_ordered, (key, group)| {
                let codes = group.iter().map(|(_, value)| K::value_code(value));
                (key, K::value(digest(*is_ordered, codes) & K::VALUE_BITS))
            });
            digests.boxed()
        }
        Shuffle::SortByKey { descending } => rdd.sort_by_key_into(order(descending), partitions)?.boxed(),
        Shuffle::SortByRow { descending } => {
            rdd.sort_by_into(|row: &Row<K>| row.clone(), order(descending), partitions)?.boxed()
        }
        Shuffle::SortWithinPartitions => {
            let sorted = rdd.repartition_and_sort_within_partitions(partitions);
            let checked = sorted.map_partitions(|rows| {
                let mut last = None;
                Rows::new(rows.inspect(move |(key, _)| {
                    let before = last.replace(K::key_code(key));
                    assert!(before <= last, "a sorted partition is out of order");
                }))
            });
            checked.boxed()
        }
        Shuffle::FilterByRange { from, to } => {
            let sorted = rdd.sort_by_key_into(Order::Ascending, partitions)?;
            sorted.filter_by_range(K::key(from & K::KEY_BITS)..=K::key(to & K::KEY_BITS)).boxed()
        }
        Shuffle::ReduceByKey => rdd.reduce_by_key_into(partitions, reduced_values::<K>).boxed(),
        Shuffle::FoldByKey => rdd.fold_by_key_into(partitions, K::value(0), reduced_values::<K>).boxed(),
        Shuffle::MapReduce => {
            let emitted = rdd.map_reduce_into(
                partitions,
                |row: &Row<K>, emit| emit.pair(&row.0, row.1.clone()),
                reduced_values::<K>,
            );
            emitted.boxed()
        }
        Shuffle::AggregateByKey => {
            let add = |sum, value| summed(sum, (K::value_code(&value), 1));
            let sums = rdd.aggregate_by_key_into(partitions, (0, 0), add, summed);
            sums.map(|(key, sum)| (key, sum_value::<K>(sum))).boxed()
        }
        Shuffle::CombineByKey => {
            let first = |value| (K::value_code(&value), 1);
            let add = |sum, value| summed(sum, (K::value_code(&value), 1));
            let sums = rdd.combine_by_key_into(partitions, first, add, summed);
            sums.map(|(key, sum)| (key, sum_value::<K>(sum))).boxed()
        }
    })
}

/// The value that stands for a sum and a count.
fn sum_value<K: Kind>((sum, count): (u64, u64)) -> K::Value {
    K::value(paired(sum & K::VALUE_BITS, count) & K::VALUE_BITS)
}

fn order(is_descending: bool) -> Order {
    if is_descending { Order::Descending } else { Order::Ascending }
}

fn reduced_values<K: Kind>(one: K::Value, two: K::Value) -> K::Value {
    K::value(reduced(K::value_code(&one), K::value_code(&two)) & K::VALUE_BITS)
}

fn summed(one: (u64, u64), two: (u64, u64)) -> (u64, u64) {
    (reduced(one.0, two.0), one.1 + two.1)
}
