//! Values of actions against plain vectors.

use std::collections::HashMap;

use firesteel::prelude::*;
use proptest::prelude::*;

use super::support::{each_backend, each_backend_here};

fn counts<T: std::hash::Hash + Eq>(rows: impl IntoIterator<Item = T>) -> HashMap<T, u64> {
    let mut counts = HashMap::new();
    rows.into_iter().for_each(|row| *counts.entry(row).or_default() += 1);
    counts
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(6) })]

    #[test]
    fn rows_come_in_the_order_of_the_partitions(
        rows in prop::collection::vec(-9..9_i32, 0..40), partitions in 1..7_u32, n in 0..50_usize,
    ) {
        each_backend(|ctx| {
            let rdd = ctx.parallelize_into(rows.clone(), partitions);
            let taken = &rows[..n.min(rows.len())];

            assert_eq!(rdd.collect().unwrap(), rows);
            assert_eq!(rdd.collect_async().wait().unwrap(), rows);
            assert_eq!(rdd.collect_partitions().unwrap().concat(), rows);
            assert_eq!(rdd.collect_partitions().unwrap().len(), partitions as usize);
            assert_eq!(rdd.count().unwrap(), rows.len() as u64);
            assert_eq!(rdd.take(n).unwrap(), taken);
            assert_eq!(rdd.take_async(n).wait().unwrap(), taken);
            assert_eq!(rdd.first().ok(), rows.first().copied());
            assert_eq!(rdd.is_empty().unwrap(), rows.is_empty());
            assert_eq!(rdd.to_local_iterator().collect::<Result<Vec<_>>>().unwrap(), rows);
        });
    }

    #[test]
    fn rows_are_counted_by_value_and_by_key(
        rows in prop::collection::vec(-3..3_i32, 0..40), partitions in 1..5_u32,
    ) {
        each_backend(|ctx| {
            let rdd = ctx.parallelize_into(rows.clone(), partitions);
            let pairs = rdd.map(|x| (x.abs(), x));
            let model: Vec<_> = rows.iter().map(|&x| (x.abs(), x)).collect();

            assert_eq!(rdd.count_by_value().unwrap(), counts(rows.clone()));
            assert_eq!(pairs.count_by_key().unwrap(), counts(rows.iter().map(|x| x.abs())));
            assert_eq!(pairs.collect_as_map().unwrap(), model.iter().copied().collect());
            let values: Vec<_> = model.iter().filter(|row| row.0 == 1).map(|row| row.1).collect();
            assert_eq!(pairs.lookup(&1).unwrap(), values);
            let distinct = counts(rows.clone()).len() as u64;
            assert_eq!(rdd.count_approx_distinct(0.01).unwrap(), distinct, "exact while values are few");
        });
    }
}

#[test]
fn functions_over_rows_and_partitions_see_every_row_once() {
    each_backend(|ctx| {
        let sum = ctx.long_accumulator("sum");
        let rdd = ctx.range_into(0_i64..100, 7);

        rdd.with(sum.clone()).for_each(firesteel::Accumulator::add).unwrap();
        assert_eq!((sum.value().sum, sum.value().count), (4950, 100));
        sum.reset();
        rdd.with(sum.clone()).for_each_partition(|sum, rows| sum.add(rows.sum())).unwrap();
        assert_eq!((sum.value().sum, sum.value().count), (4950, 7));
    });
}

/// In this process only: without an environment a function has nothing that another process would show.
#[test]
fn functions_without_an_environment_see_every_row_once_too() {
    use std::sync::atomic::{AtomicU64, Ordering};
    static SUM: AtomicU64 = AtomicU64::new(0);
    fn add(x: u64) {
        SUM.fetch_add(x, Ordering::SeqCst);
    }

    each_backend_here(|ctx| {
        let rdd = ctx.range_into(0_u64..100, 7);
        let sum = || SUM.swap(0, Ordering::SeqCst);

        rdd.for_each(add).unwrap();
        assert_eq!(sum(), 4950);
        rdd.with(2).for_each(|factor, x| add(x * factor)).unwrap();
        assert_eq!(sum(), 9900);
        rdd.for_each_partition(|rows| add(rows.sum())).unwrap();
        assert_eq!(sum(), 4950);
        rdd.with(3).for_each_partition(|factor, rows| add(rows.sum::<u64>() * factor)).unwrap();
        assert_eq!(sum(), 3 * 4950);
    });
}

#[test]
fn a_function_of_the_users_own_runs_on_the_partitions_it_chooses() {
    each_backend(|ctx| {
        let rdd = ctx.range_into(0..9, 3);

        assert_eq!(rdd.run_job(|rows| rows.sum::<i32>()).unwrap(), [3, 12, 21]);
        assert_eq!(rdd.with(2).run_job(|by, rows| rows.sum::<i32>() * by).unwrap(), [6, 24, 42]);
        assert_eq!(rdd.run_job_on([2, 0], |rows| rows.count()).unwrap(), [3, 3]);
        let chosen = rdd.with(1).run_job_on([1], |_, _| TaskContext::current().unwrap().partition().0);
        assert_eq!(chosen.unwrap(), [1]);
        assert!(rdd.run_job_on([], |rows| rows.count()).unwrap().is_empty());
        let error = rdd.run_job_on([0, 3], |rows| rows.count()).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        assert!(error.to_string().contains("no partition 3"), "{error}");
    });
}
