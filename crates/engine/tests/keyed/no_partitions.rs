//! Rows that are to go into no partitions, and rows that come from none.

use firesteel::{HashPartitioner, Order, Partitioner, RangePartitioner, Replacement, prelude::*};
use serde::{Deserialize, Serialize};

use crate::support::each_backend;

#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct NoPartitions;

impl Partitioner<u32> for NoPartitions {
    fn num_partitions(&self) -> u32 {
        0
    }

    fn partition(&self, _: &u32) -> u32 {
        0
    }
}

type Run = fn(&Context) -> Result<u64>;

fn pairs(ctx: &Context) -> impl Rdd<Item = (u32, u32)> + use<> {
    ctx.range_into(0..20_u32, 3).map(|x| (x % 7, x))
}

/// Everything that takes a number of partitions, given 0, by the name that its error has.
const INTO_NONE: [(&str, Run); 35] = [
    ("parallelize", |ctx| ctx.parallelize_into(vec![1], 0).count()),
    ("range", |ctx| ctx.range_into(0..9, 0).count()),
    ("coalesce", |ctx| pairs(ctx).coalesce(0).count()),
    ("repartition", |ctx| pairs(ctx).repartition(0).count()),
    ("distinct", |ctx| pairs(ctx).distinct_into(0).count()),
    ("distinct", |ctx| pairs(ctx).partition_by(2).distinct_into(0).count()),
    ("group_by", |ctx| pairs(ctx).group_by_into(0, |pair| pair.1).count()),
    ("map_reduce", |ctx| {
        pairs(ctx).map_reduce_into(0, |pair, emit| emit.pair(&pair.0, 1_u32), |a, b| a + b).count()
    }),
    ("sort_by", |ctx| pairs(ctx).sort_by_into(|pair| pair.1, Order::Ascending, 0)?.count()),
    ("sort_by", |ctx| {
        pairs(ctx).with(1).sort_by_into(|one, pair| pair.1 + one, Order::Ascending, 0)?.count()
    }),
    ("sort_by_key", |ctx| pairs(ctx).sort_by_key_into(Order::Descending, 0)?.count()),
    ("RangePartitioner::sample", |ctx| {
        RangePartitioner::sample(&pairs(ctx), 0, Order::Ascending)
            .map(|ranges| u64::from(ranges.num_partitions()))
    }),
    ("repartition_and_sort_within_partitions", |ctx| {
        pairs(ctx).repartition_and_sort_within_partitions(0).count()
    }),
    ("partition_by", |ctx| pairs(ctx).partition_by(0).count()),
    ("partition_by", |ctx| pairs(ctx).partition_by(-1).count()),
    ("partition_by", |ctx| pairs(ctx).partition_by(0_usize).count()),
    ("partition_by", |ctx| pairs(ctx).partition_by(HashPartitioner::new(0)).count()),
    ("partition_by", |ctx| pairs(ctx).partition_by(KeyPartitioner::custom(NoPartitions)).count()),
    ("reduce_by_key", |ctx| pairs(ctx).reduce_by_key_into(0, |a, b| a + b).count()),
    ("fold_by_key", |ctx| pairs(ctx).fold_by_key_into(0, 0, |a, b| a + b).count()),
    ("aggregate_by_key", |ctx| {
        pairs(ctx).aggregate_by_key_into(0, 0, |a, b| a + b, |a: u32, b| a + b).count()
    }),
    ("combine_by_key", |ctx| {
        pairs(ctx).combine_by_key_into(0, |x| x, |a, b| a + b, |a: u32, b| a + b).count()
    }),
    ("group_by_key", |ctx| pairs(ctx).group_by_key_into(0).count()),
    ("count_approx_distinct_by_key", |ctx| pairs(ctx).count_approx_distinct_by_key_into(0, 0.1)?.count()),
    ("join", |ctx| pairs(ctx).join_into(&pairs(ctx), 0).count()),
    ("left_outer_join", |ctx| pairs(ctx).left_outer_join_into(&pairs(ctx), 0).count()),
    ("right_outer_join", |ctx| pairs(ctx).right_outer_join_into(&pairs(ctx), 0).count()),
    ("full_outer_join", |ctx| pairs(ctx).full_outer_join_into(&pairs(ctx), 0).count()),
    ("subtract_by_key", |ctx| pairs(ctx).subtract_by_key_into(&pairs(ctx), 0).count()),
    ("cogroup", |ctx| pairs(ctx).cogroup_into(&pairs(ctx), 0).count()),
    ("cogroup3", |ctx| pairs(ctx).cogroup3_into(&pairs(ctx), &pairs(ctx), 0).count()),
    ("cogroup4", |ctx| pairs(ctx).cogroup4_into(&pairs(ctx), &pairs(ctx), &pairs(ctx), 0).count()),
    ("intersection", |ctx| pairs(ctx).intersection_into(&pairs(ctx), 0).count()),
    ("subtract", |ctx| pairs(ctx).subtract_into(&pairs(ctx), 0).count()),
    ("reduce_by_key", |ctx| pairs(ctx).with(0).reduce_by_key_into(0, |zero, a, b| a + b + zero).count()),
];

#[test]
fn every_operator_refuses_to_put_rows_into_no_partitions() {
    each_backend(|ctx| {
        for (name, run) in INTO_NONE {
            let error = match run(ctx) {
                Err(error) => error.to_string(),
                Ok(rows) => panic!("{name} into no partitions gives {rows}"),
            };

            assert!(error.starts_with(&format!("{name} at ")), "{name}: {error}");
            assert!(error.ends_with("rows need at least one partition"), "{name}: {error}");
        }
    });
}

fn none(ctx: &Context) -> impl Rdd<Item = (u32, u32)> + use<> {
    pairs(ctx).prune_partitions(|_| false)
}

/// Operators that choose a number of partitions themselves, over an RDD that has none.
const OF_NONE: [(&str, Run); 17] = [
    ("repartition", |ctx| none(ctx).repartition(2).count()),
    ("coalesce", |ctx| none(ctx).coalesce(2).count()),
    ("distinct", |ctx| none(ctx).distinct().count()),
    ("group_by", |ctx| none(ctx).group_by(|pair| pair.1).count()),
    ("sort_by", |ctx| none(ctx).sort_by(|pair| pair.1, Order::Ascending)?.count()),
    ("sort_by with", |ctx| none(ctx).with(1).sort_by(|one, pair| pair.1 + one, Order::Ascending)?.count()),
    ("sort_by_key", |ctx| none(ctx).sort_by_key(Order::Ascending)?.count()),
    ("reduce_by_key", |ctx| none(ctx).reduce_by_key(|a, b| a + b).count()),
    ("group_by_key", |ctx| none(ctx).group_by_key().count()),
    ("join", |ctx| none(ctx).join(&none(ctx)).count()),
    ("full_outer_join", |ctx| none(ctx).full_outer_join(&none(ctx)).count()),
    ("subtract_by_key", |ctx| none(ctx).subtract_by_key(&none(ctx)).count()),
    ("cogroup", |ctx| none(ctx).cogroup(&none(ctx)).count()),
    ("intersection", |ctx| none(ctx).intersection(&none(ctx)).count()),
    ("subtract", |ctx| none(ctx).subtract(&none(ctx)).count()),
    ("sample_by_key", |ctx| none(ctx).sample_by_key(Replacement::Without, [(0, 0.5)], 1)?.count()),
    ("partition_by", |ctx| none(ctx).partition_by(3).count()),
];

#[test]
fn every_operator_takes_an_rdd_without_partitions() {
    each_backend(|ctx| {
        for (name, run) in OF_NONE {
            assert_eq!(run(ctx).unwrap_or_else(|error| panic!("{name}: {error}")), 0, "{name}");
        }
    });
}
