//! Operators over one RDD that move rows between partitions.

use anyhow::Result;
use firesteel::prelude::*;

use super::Built;
use crate::{
    case::Op,
    functions::{digest, paired, reduced},
    kind::{Kind, Row},
};

/// The RDD behind an operator.
pub(super) fn build<K: Kind>(op: &Op, parent: &Built<K>) -> Result<BoxRdd<Row<K>>> {
    let rdd = &parent.rdd;
    Ok(match op {
        Op::Coalesce { partitions } => rdd.coalesce(*partitions).boxed(),
        Op::RandomSplits { seed } => {
            let splits = rdd.random_split(&[1.0, 2.0, 0.0, 1.0], *seed);
            let all = splits.into_iter().map(|split| split.boxed()).reduce(|all, split| all.union(&split).boxed());
            all.unwrap_or_else(|| rdd.clone())
        }
        Op::PartitionBy { partitions } => rdd.partition_by(*partitions).boxed(),
        Op::Repartition { partitions } => rdd.repartition(*partitions).boxed(),
        Op::Distinct { partitions } => rdd.distinct_into(*partitions).boxed(),
        Op::GroupByKey { partitions } => {
            let groups = rdd.group_by_key_into(*partitions).with(parent.model.known.orders_values());
            let digests = groups.map(|is_ordered, (key, group)| {
                let len = group.len();
                let codes: Vec<u64> = group.into_iter().map(|value| K::value_code(&value)).collect();
                assert_eq!(codes.len(), len, "a group has as many values as it says");
                (key, K::value(digest(*is_ordered, codes.into_iter()) & K::VALUE_BITS))
            });
            digests.boxed()
        }
        Op::GroupBy { partitions } => {
            let groups = rdd.group_by_into(*partitions, |row: &Row<K>| row.0.clone());
            let groups = groups.with(parent.model.known.orders_values());
            let digests = groups.map(|is_ordered, (key, group)| {
                let codes = group.iter().map(|(_, value)| K::value_code(value));
                (key, K::value(digest(*is_ordered, codes) & K::VALUE_BITS))
            });
            digests.boxed()
        }
        Op::SortByKey { partitions, descending } => rdd.sort_by_key_into(order(*descending), *partitions)?.boxed(),
        Op::SortByRow { partitions, descending } => {
            rdd.sort_by_into(|row: &Row<K>| row.clone(), order(*descending), *partitions)?.boxed()
        }
        Op::SortWithinPartitions { partitions } => {
            let sorted = rdd.repartition_and_sort_within_partitions(*partitions);
            let checked = sorted.map_partitions(|rows| {
                let mut last = None;
                Rows::new(rows.inspect(move |(key, _)| {
                    let before = last.replace(K::key_code(key));
                    assert!(before <= last, "a sorted partition is out of order");
                }))
            });
            checked.boxed()
        }
        Op::FilterByRange { from, to, partitions } => {
            let sorted = rdd.sort_by_key_into(Order::Ascending, *partitions)?;
            sorted.filter_by_range(K::key(from & K::KEY_BITS)..=K::key(to & K::KEY_BITS)).boxed()
        }
        _ => combined::<K>(op, rdd),
    })
}

fn combined<K: Kind>(op: &Op, rdd: &BoxRdd<Row<K>>) -> BoxRdd<Row<K>> {
    match op {
        Op::ReduceByKey { partitions } => rdd.reduce_by_key_into(*partitions, reduced_values::<K>).boxed(),
        Op::FoldByKey { partitions } => {
            rdd.fold_by_key_into(*partitions, K::value(0), reduced_values::<K>).boxed()
        }
        Op::MapReduce { partitions } => {
            let emitted = rdd.map_reduce_into(
                *partitions,
                |row: &Row<K>, emit| emit.pair(&row.0, row.1.clone()),
                reduced_values::<K>,
            );
            emitted.boxed()
        }
        Op::AggregateByKey { partitions } => {
            let sums = rdd.aggregate_by_key_into(
                *partitions,
                (0, 0),
                |sum, value| summed(sum, (K::value_code(&value), 1)),
                summed,
            );
            sums.map(|(key, (sum, count))| (key, K::value(paired(sum & K::VALUE_BITS, count) & K::VALUE_BITS))).boxed()
        }
        Op::CombineByKey { partitions } => {
            let sums = rdd.combine_by_key_into(
                *partitions,
                |value| (K::value_code(&value), 1),
                |sum, value| summed(sum, (K::value_code(&value), 1)),
                summed,
            );
            sums.map(|(key, (sum, count))| (key, K::value(paired(sum & K::VALUE_BITS, count) & K::VALUE_BITS))).boxed()
        }
        _ => rdd.clone(),
    }
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
