//! Keys and values one by one.

use firesteel::{Replacement, prelude::*};

use crate::{
    harness::{for_cases, same_partitioner, shuffles, sorted},
    support::each_backend,
};

#[test]
fn values_change_and_keys_stay() {
    for_cases(|ctx, case| {
        let rdd = case.rdd(ctx);

        let doubled: Vec<_> = case.pairs.iter().map(|&(key, value)| (key, value * 2)).collect();
        let plus: Vec<_> = case.pairs.iter().map(|&(key, value)| (key, value + 5)).collect();
        assert_eq!(rdd.map_values(|value| value * 2).collect().unwrap(), doubled);
        assert_eq!(rdd.with(5).map_values(|five, value| value + five).collect().unwrap(), plus);
        assert_eq!(rdd.keys().collect().unwrap(), case.pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
        assert_eq!(rdd.values().collect().unwrap(), case.pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    });
}

#[test]
fn a_value_becomes_any_number_of_values() {
    for_cases(|ctx, case| {
        let rdd = case.rdd(ctx);
        let model = |times: i64| {
            let rows =
                case.pairs.iter().flat_map(|&(key, value)| (0..value % 3 * times).map(move |x| (key, x)));
            rows.collect::<Vec<_>>()
        };

        assert_eq!(rdd.flat_map_values(|value| 0..value % 3).collect().unwrap(), model(1));
        assert_eq!(rdd.with(2).flat_map_values(|two, value| 0..value % 3 * two).collect().unwrap(), model(2));
    });
}

/// Behaviours: RDD-004.
#[test]
fn the_partitioner_is_kept_where_keys_stay_and_lost_where_they_may_change() {
    each_backend(|ctx| {
        let parent = ctx.range(0..20).map(|x| (x, x)).partition_by(3);

        assert!(same_partitioner(&parent, &parent.map_values(|x| x + 1)));
        assert!(same_partitioner(&parent, &parent.flat_map_values(|x| [x, x])));
        assert!(same_partitioner(&parent, &parent.filter(|(key, _)| *key > 3)));
        assert!(same_partitioner(&parent, &parent.distinct()));
        assert!(same_partitioner(&parent, &parent.reduce_by_key(|a, b| a + b)));
        assert!(same_partitioner(&parent, &parent.group_by_key()));
        let sample = parent.sample_by_key(Replacement::Without, [(1, 0.5)], 1).unwrap();
        assert!(same_partitioner(&parent, &sample));
        assert!(parent.map(|pair| pair).handle().partitioner().is_none());
        assert!(parent.keys().handle().partitioner().is_none());
        assert!(parent.values().handle().partitioner().is_none());
    });
}

/// Behaviours: RDD-004.
#[test]
fn what_is_partitioned_so_already_is_not_shuffled_again() {
    each_backend(|ctx| {
        let parent = ctx.range(0..20).map(|x| (x % 5, x)).partition_by(3);
        assert_eq!(shuffles(&parent), 1);

        let values = parent.map_values(|x| x + 1);
        assert_eq!(shuffles(&values.partition_by(3)), 1);
        assert_eq!(shuffles(&values.reduce_by_key(|a, b| a + b)), 1);
        assert_eq!(shuffles(&values.group_by_key_into(3)), 1);
        assert_eq!(shuffles(&values.fold_by_key(0, |a, b| a + b)), 1);
        assert_eq!(shuffles(&values.reduce_by_key(|a, b| a + b).group_by_key()), 1);
        assert_eq!(shuffles(&values.group_by_key_into(4)), 2);
        assert_eq!(shuffles(&parent.map(|pair| pair).group_by_key_into(3)), 2);

        let sums = sorted(&values.reduce_by_key(|a, b| a + b));
        assert_eq!(sums, [(0, 34), (1, 38), (2, 42), (3, 46), (4, 50)]);
        assert_eq!(
            sorted(&values.group_by_key()),
            sorted(&parent.map(|(key, x)| (key, x + 1)).group_by_key())
        );
    });
}

#[test]
fn each_key_is_sampled_with_its_own_fraction() {
    each_backend(|ctx| {
        let pairs = ctx.range_into(0..6000, 4).map(|x| (x % 3, x));
        let sample = |seed| {
            let sample = pairs.sample_by_key(Replacement::Without, [(0, 1.0), (1, 0.25), (2, 0.0)], seed);
            sample.unwrap().collect().unwrap()
        };

        let rows = sample(7);
        let count = |key| rows.iter().filter(|row| row.0 == key).count();
        assert_eq!((count(0), count(2)), (2000, 0));
        assert!((400..600).contains(&count(1)), "{}", count(1));
        assert_eq!(rows, sample(7), "the seed decides");
        assert_ne!(rows, sample(8));

        let copies = pairs
            .sample_by_key(Replacement::With, [(0, 2.0), (1, 0.0), (2, 0.0)], 7)
            .unwrap()
            .count()
            .unwrap();
        assert!((3600..4400).contains(&copies), "{copies}");
        assert!(pairs.sample_by_key(Replacement::Without, [(0, 1.5)], 7).is_err());
    });
}

#[test]
fn a_key_without_a_fraction_fails_the_job_and_is_named() {
    each_backend(|ctx| {
        let pairs = ctx.range_into(0..6, 2).map(|x| (format!("key {x}"), x));
        for replacement in [Replacement::Without, Replacement::With] {
            let fractions = (0..5).map(|x| (format!("key {x}"), 0.5));
            let sample = pairs.sample_by_key(replacement, fractions, 7).unwrap();

            let error = sample.count().unwrap_err().to_string();

            assert!(error.contains("no fraction for the key \"key 5\""), "{error}");
        }
    });
}

/// What operators make does not borrow what they are called on.
fn counted<R: Rdd<Item = i32>>(rdd: &R) -> impl Rdd<Item = (i32, usize)> + use<R> {
    rdd.group_by(|x| x % 2).map_values(|rows| rows.len()).reduce_by_key(|a, b| a + b).map_values(|n| n + 1)
}

#[test]
fn a_function_can_give_back_what_it_made() {
    each_backend(|ctx| assert_eq!(sorted(&counted(&ctx.range(0..5))), [(0, 4), (1, 3)]));
}
