//! Rows in order.

use std::cmp::Reverse;

use firesteel::{Order, RangePartitioner, TotalOrd, prelude::*};

use crate::{
    harness::{assert_in_place, for_cases, partitions, same_partitioner, shuffles},
    support::each_backend,
};

/// Behaviours: RDD-019.
#[test]
fn pairs_are_sorted_by_key_and_equal_keys_stay_in_order() {
    for_cases(|ctx, case| {
        let rdd = case.rdd(ctx);
        let (mut up, mut down) = (case.pairs.clone(), case.pairs.clone());
        up.sort_by_key(|pair| pair.0);
        down.sort_by_key(|pair| Reverse(pair.0));

        let sorted = rdd.sort_by_key_into(Order::Ascending, case.outputs).unwrap();
        assert_eq!(sorted.collect().unwrap(), up);
        assert!(sorted.num_partitions() <= case.outputs);
        assert_in_place(&sorted);
        let sorted = rdd.sort_by_key_into(Order::Descending, case.outputs).unwrap();
        assert_eq!(sorted.collect().unwrap(), down);
        assert_in_place(&sorted);
        assert_eq!(rdd.sort_by_key(Order::Ascending).unwrap().collect().unwrap(), up);
        assert_eq!(rdd.sort_by_key_into(Order::Ascending, 100).unwrap().collect().unwrap(), up);
    });
}

/// Behaviours: RDD-019.
#[test]
fn partitions_larger_than_a_cache_are_sorted_like_small_ones() {
    each_backend(|ctx| {
        for keys in [1, 300, u64::MAX] {
            assert_sorted_in_one_partition(ctx, 120_000, |x| (scattered(x) % keys, x));
            // Rows of this size are not moved while they are sorted.
            assert_sorted_in_one_partition(ctx, 30_000, |x| (scattered(x) % keys, [x; 8]));
        }
    });
}

/// Sorts rows in both orders and looks whether equal keys stay in order.
#[track_caller]
fn assert_sorted_in_one_partition<V: Data + PartialEq>(
    ctx: &Context,
    rows: u64,
    row: impl Fn(u64) -> (u64, V),
) {
    let rows: Vec<_> = (0..rows).map(row).collect();
    let (mut up, mut down) = (rows.clone(), rows.clone());
    up.sort_by_key(|row| row.0);
    down.sort_by_key(|row| Reverse(row.0));
    let rdd = ctx.parallelize_into(rows, 3);

    for (order, model) in [(Order::Ascending, up), (Order::Descending, down)] {
        let sorted = rdd.sort_by_key_into(order, 1).unwrap().collect().unwrap();
        assert!(sorted == model, "{order:?}");
    }
}

fn scattered(x: u64) -> u64 {
    x.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// Behaviours: RDD-019.
#[test]
fn rows_are_sorted_by_what_a_function_gives() {
    for_cases(|ctx, case| {
        let rdd = case.rdd(ctx);
        let mut model = case.pairs.clone();
        model.sort_by_key(|pair| Reverse(pair.1));

        assert_eq!(rdd.sort_by(|pair| pair.1, Order::Descending).unwrap().collect().unwrap(), model);
        assert_eq!(rdd.sort_by(|pair| Reverse(pair.1), Order::Ascending).unwrap().collect().unwrap(), model);
        let sorted = rdd.with(-1).sort_by_into(|sign, pair| pair.1 * sign, Order::Ascending, case.outputs);
        assert_eq!(sorted.unwrap().collect().unwrap(), model);
    });
}

#[test]
fn numbers_with_a_fraction_are_sorted_by_their_total_order() {
    each_backend(|ctx| {
        let rdd = ctx.parallelize_into(vec![1.5, f64::NAN, -0.0, 0.0, f64::NEG_INFINITY, -2.5], 3);

        let sorted = rdd.sort_by(|x| TotalOrd(*x), Order::Ascending).unwrap().collect().unwrap();

        let bits = |rows: &[f64]| rows.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&sorted), bits(&[f64::NEG_INFINITY, -2.5, -0.0, 0.0, 1.5, f64::NAN]));
    });
}

/// Behaviours: RDD-019.
#[test]
fn partitions_are_sorted_inside_each() {
    for_cases(|ctx, case| {
        let sorted = case.rdd(ctx).repartition_and_sort_within_partitions(case.outputs);

        assert_eq!(sorted.num_partitions(), case.outputs);
        assert_in_place(&sorted);
        let parts = partitions(&sorted);
        assert!(parts.iter().all(|rows| rows.is_sorted_by_key(|row| row.0)));
        assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), case.pairs.len());
    });
}

/// Behaviours: RDD-019.
#[test]
fn what_is_dealt_so_already_is_sorted_without_a_shuffle() {
    each_backend(|ctx| {
        let dealt = ctx.range(0..100).map(|x| (x * 37 % 100, x)).partition_by(3);

        let sorted = dealt.repartition_and_sort_within_partitions(3);

        assert_eq!(shuffles(&sorted), 1);
        assert!(same_partitioner(&dealt, &sorted));
        assert!(partitions(&sorted).iter().all(|rows| rows.is_sorted() && !rows.is_empty()));
        assert_eq!(shuffles(&dealt.repartition_and_sort_within_partitions(4)), 2);
    });
}

/// Behaviours: RDD-019.
#[test]
fn a_range_of_keys_is_kept() {
    for_cases(|ctx, case| {
        let rdd = case.rdd(ctx);
        let up = rdd.sort_by_key_into(Order::Ascending, case.outputs).unwrap();
        let down = rdd.sort_by_key_into(Order::Descending, case.outputs).unwrap();

        for (from, to) in [(0, 3), (2, 7), (7, 8), (100, 500), (5, 5)] {
            let mut model: Vec<_> =
                case.pairs.iter().copied().filter(|pair| (from..to).contains(&pair.0)).collect();
            assert_eq!(rdd.filter_by_range(from..to).collect().unwrap(), model);
            model.sort_by_key(|pair| pair.0);
            assert_eq!(up.filter_by_range(from..to).collect().unwrap(), model);
            model.sort_by_key(|pair| Reverse(pair.0));
            assert_eq!(down.filter_by_range(from..to).collect().unwrap(), model);
        }
        assert_eq!(up.filter_by_range(..).count().unwrap(), case.pairs.len() as u64);
    });
}

/// Behaviours: RDD-019.
#[test]
fn only_partitions_that_overlap_the_range_are_scanned() {
    each_backend(|ctx| {
        for order in [Order::Ascending, Order::Descending] {
            let ranges = RangePartitioner::new(vec![10, 20, 30], order);
            let dealt = ctx.range(0..40).map(|x| (x, x)).partition_by(ranges);
            // Fails in every partition that should not be looked at.
            let guarded = dealt.map_values(|x| {
                assert!((11..31).contains(&x), "scanned");
                x
            });

            let (from, to) = (31, 5);
            let backwards = from..to;
            let some = guarded.filter_by_range(15..=25);

            assert_eq!(some.num_partitions(), 2);
            assert_eq!(some.count().unwrap(), 11);
            assert_eq!(guarded.filter_by_range(25..25).num_partitions(), 1);
            assert_eq!(guarded.filter_by_range(backwards).count().unwrap(), 0);
            assert!(same_partitioner(&dealt, &dealt.filter_by_range(5..)));
            assert!(some.handle().partitioner().is_none());
        }
    });
}
