//! Rows of any kind in other partitions.

use std::collections::BTreeSet;

use firesteel::prelude::*;

use crate::{
    harness::{for_cases, partitions, same_partitioner, shuffles, sorted},
    support::each_backend,
};

/// Behaviours: RDD-021.
#[test]
fn duplicates_are_dropped() {
    for_cases(|ctx, case| {
        let rdd = case.rdd(ctx).map_values(|value| value % 3);
        let model: BTreeSet<_> = case.pairs.iter().map(|&(key, value)| (key, value % 3)).collect();
        let model: Vec<_> = model.into_iter().collect();

        assert_eq!(sorted(&rdd.distinct()), model);
        assert_eq!(rdd.distinct().num_partitions(), case.inputs);
        assert_eq!(sorted(&rdd.distinct_into(case.outputs)), model);
        assert_eq!(rdd.distinct_into(case.outputs).num_partitions(), case.outputs);
        assert_eq!(sorted(&rdd.partition_by(case.outputs).distinct()), model);
    });
}

/// Behaviours: RDD-021.
#[test]
fn duplicates_of_what_is_partitioned_are_dropped_without_a_shuffle() {
    each_backend(|ctx| {
        let dealt = ctx.range(0..20).map(|x| (x % 5, x % 2)).partition_by(3);

        assert_eq!(shuffles(&dealt.distinct()), 1);
        assert_eq!(shuffles(&dealt.distinct_into(3)), 1);
        assert_eq!(shuffles(&dealt.distinct_into(4)), 2);
        assert!(same_partitioner(&dealt, &dealt.distinct()));
        assert_eq!(dealt.distinct().count().unwrap(), 10);
        assert_eq!(dealt.distinct_into(4).count().unwrap(), 10);
    });
}

/// Behaviours: RDD-014.
#[test]
fn rows_are_dealt_in_turn() {
    for_cases(|ctx, case| {
        let dealt = case.rdd(ctx).repartition(case.outputs);

        assert_eq!(dealt.num_partitions(), case.outputs);
        let mut pairs = case.pairs.clone();
        pairs.sort_unstable();
        assert_eq!(sorted(&dealt), pairs);
        let sizes: Vec<_> = partitions(&dealt).iter().map(Vec::len).collect();
        let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
        assert!(most - least <= case.inputs as usize, "{sizes:?}");
        assert_eq!(partitions(&dealt), partitions(&dealt), "the start is random and fixed");
    });
}

/// Behaviours: RDD-014.
#[test]
fn inputs_begin_at_different_outputs() {
    each_backend(|ctx| {
        let dealt = ctx.range_into(0..50, 50).repartition(10);

        let used = partitions(&dealt).iter().filter(|rows| !rows.is_empty()).count();

        assert!(used > 5, "fifty inputs of one row fill {used} of ten outputs");
    });
}

/// Behaviours: RDD-014.
#[test]
fn equal_inputs_are_dealt_alike() {
    each_backend(|ctx| {
        let dealt = || partitions(&ctx.range_into(0..97, 7).map(|x| x * 3).repartition(5));

        assert_eq!(dealt(), dealt());
    });
}
