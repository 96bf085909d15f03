//! Actions that make one value of all rows.

use firesteel::prelude::*;
use proptest::prelude::*;

use super::{gate::until, support::each_backend};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(6) })]

    /// Behaviours: RDD-008, RDD-009.
    #[test]
    fn folds_give_what_a_fold_over_a_vector_gives(
        rows in prop::collection::vec(0..100_i64, 1..60), partitions in 1..40_u32, depth in 1..5_u32,
    ) {
        each_backend(|ctx| {
            let rdd = ctx.parallelize_into(rows.clone(), partitions);
            let sum: i64 = rows.iter().sum();
            let texts = rows.iter().map(|x| format!("{x} ")).collect::<Vec<_>>().concat();

            assert_eq!(rdd.reduce(|a, b| a + b).unwrap(), sum);
            assert_eq!(rdd.map(|x| format!("{x} ")).reduce(|a, b| a + &b).unwrap(), texts, "in order");
            assert_eq!(rdd.with(1).reduce(|by, a, b| (a + b) * by).unwrap(), sum);
            assert_eq!(rdd.fold(0, |a, b| a + b).unwrap(), sum);
            assert_eq!(rdd.with(1).fold(0, |by, a, b| (a + b) * by).unwrap(), sum);
            assert_eq!(rdd.aggregate(0, |n, _| n + 1, |a, b| a + b).unwrap(), rows.len());
            let scaled = rdd.with(3).aggregate(0, |by, n, x| n + by * x, |_, a, b| a + b);
            assert_eq!(scaled.unwrap(), 3 * sum);
            assert_eq!(rdd.tree_reduce(|a, b| a + b, depth).unwrap(), sum);
            assert_eq!(rdd.with(1).tree_reduce(|by, a, b| (a + b) * by, depth).unwrap(), sum);
            let list = rdd.tree_aggregate(Vec::new(), |mut all, x| { all.push(x); all }, |a, b| [a, b].concat(), depth);
            let (mut list, mut model) = (list.unwrap(), rows.clone());
            list.sort_unstable();
            model.sort_unstable();
            assert_eq!(list, model);
            let scaled = rdd.with(3).tree_aggregate(0, |by, n, x| n + by * x, |_, a, b| a + b, depth);
            assert_eq!(scaled.unwrap(), 3 * sum);
            let scaled = rdd.with(3).tree_aggregate_on_executors(0, |by, n, x| n + by * x, |_, a, b| a + b, depth);
            assert_eq!(scaled.unwrap(), 3 * sum);
        });
    }
}

/// Behaviours: RDD-008.
#[test]
fn the_zero_of_a_fold_counts_once_for_each_partition_and_once_for_the_driver() {
    each_backend(|ctx| {
        for partitions in [1, 3, 8] {
            let rdd = ctx.range_into(0..10_u32, partitions);
            let expected = 45 + 100 * (partitions + 1);

            assert_eq!(rdd.fold(100, |a, b| a + b).unwrap(), expected);
            assert_eq!(rdd.aggregate(100, |a, b| a + b, |a, b| a + b).unwrap(), expected);
            assert_eq!(rdd.tree_aggregate(100, |a, b| a + b, |a, b| a + b, 3).unwrap(), expected);
        }
    });
}

/// Behaviours: RDD-008.
#[test]
fn actions_that_need_a_row_say_so_when_there_is_none() {
    each_backend(|ctx| {
        let rdd = ctx.range_into(0..10, 9).filter(|x| *x > 99);
        let empty = |result: Result<i32>, name: &str| match result {
            Err(Error::Empty { action }) => assert_eq!(action, name),
            other => panic!("{name} gave {other:?}"),
        };

        empty(rdd.reduce(|a, b| a + b), "reduce");
        empty(rdd.first(), "first");
        empty(rdd.tree_reduce(|a, b| a + b, 2), "tree_reduce");
        empty(rdd.min(), "min");
        empty(rdd.max(), "max");
        empty(rdd.min_by_key(|x| *x), "min_by_key");
        empty(rdd.max_by(Ord::cmp), "max_by");
        assert_eq!(rdd.fold(7, Ord::max).unwrap(), 7);
    });
}

/// Behaviours: RDD-009.
#[test]
fn a_tree_leaves_the_driver_as_many_results_as_its_last_level_has() {
    each_backend(|ctx| {
        let rdd = ctx.range_into(0..1000, 100);
        let results = |depth| {
            let handle = rdd.tree_aggregate_async(0, |a, b| a + b, |a, b| a + b, depth);
            until(|| handle.is_finished());
            let tasks = handle.progress().tasks;
            assert_eq!(handle.wait().unwrap(), 499_500);
            tasks
        };

        assert_eq!([results(1), results(2), results(3)], [100, 10, 4]);
        let on_executors = |depth| {
            let handle = rdd.tree_aggregate_on_executors_async(0, |a, b| a + b, |a, b| a + b, depth);
            until(|| handle.is_finished());
            let tasks = handle.progress().tasks;
            assert_eq!(handle.wait().unwrap(), 499_500);
            tasks
        };
        assert_eq!([on_executors(1), on_executors(3)], [1, 1]);
    });
}

/// Behaviours: RDD-009.
#[test]
fn a_tree_without_a_level_is_refused() {
    each_backend(|ctx| {
        let error = ctx.range(0..9).tree_reduce(|a, b| a + b, 0).unwrap_err();

        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        assert!(error.to_string().starts_with("tree_reduce at "), "{error}");
    });
}

#[test]
fn a_panic_in_an_actions_own_function_is_the_actions_and_no_operators() {
    each_backend(|ctx| {
        let error =
            ctx.range_into(0..10, 2).map(|x| x + 1).reduce(|_, _| panic!("no sum today")).unwrap_err();
        let error = error.to_string();

        assert!(error.starts_with("reduce at crates/engine/tests/actions/folds.rs:"), "{error}");
        assert!(error.contains("no sum today"), "{error}");
        assert!(!error.contains("map at "), "{error}");
    });
}

#[test]
fn a_panic_on_the_driver_is_the_error_of_the_action_and_leaves_the_context_usable() {
    each_backend(|ctx| {
        let rdd = ctx.range_into(0..10, 2);
        let merge_on_driver = |a, b| {
            assert!(TaskContext::current().is_some(), "merged on the driver");
            a + b
        };

        let error = rdd.reduce(merge_on_driver).unwrap_err().to_string();

        assert!(error.starts_with("reduce at crates/engine/tests/actions/folds.rs:"), "{error}");
        assert!(error.contains("merged on the driver"), "{error}");
        assert_eq!(rdd.reduce(|a, b| a + b).unwrap(), 45);
    });
}
