//! Which jobs an action runs, and which partitions it computes.

use std::sync::atomic::{AtomicU64, Ordering};

use firesteel::prelude::*;

use super::{gate::until, support::each_backend};

/// The partitions that tasks were run for since the last look, one bit for each. A `static` in a test's own function.
struct Touched(AtomicU64);

impl Touched {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Called inside a task.
    fn here(&self) -> bool {
        let partition = TaskContext::current().expect("a task runs").partition().0;
        self.0.fetch_or(1 << partition, Ordering::SeqCst);
        true
    }

    fn take(&self) -> Vec<u32> {
        let bits = self.0.swap(0, Ordering::SeqCst);
        (0..64).filter(|partition| bits >> partition & 1 == 1).collect()
    }
}

/// How many jobs an action runs until it is over, and its value.
fn jobs<T: 'static>(handle: JobHandle<T>) -> (usize, T) {
    until(|| handle.is_finished());
    (handle.job_ids().len(), handle.wait().expect("the action succeeds"))
}

/// Behaviours: RDD-010.
#[test]
fn take_runs_more_partitions_only_while_rows_are_missing() {
    static TOUCHED: Touched = Touched::new();

    each_backend(|ctx| {
        let rdd = ctx.range_into(0..40_usize, 40).filter(|_| TOUCHED.here());
        let taken = |n| {
            let (jobs, rows) = jobs(rdd.take_async(n));
            assert_eq!(rows, (0..n).collect::<Vec<_>>());
            (jobs, TOUCHED.take().len())
        };

        assert_eq!(taken(0), (0, 0));
        assert_eq!(taken(1), (1, 1));
        assert_eq!(taken(2), (2, 3), "then 1.5 partitions, rounded up");
        assert_eq!(taken(9), (3, 11), "then at most four, then 1.5 × 4 × 5 / 5");
    });
}

/// Behaviours: RDD-010.
#[test]
fn take_widens_its_search_fourfold_while_nothing_is_found() {
    each_backend(|ctx| {
        let rdd = ctx.range_into(0..30, 30).filter(|x| *x == 29);

        assert_eq!(jobs(rdd.take_async(3)), (4, vec![29]), "1 + 4 + 20 + 5 partitions");
        assert_eq!(jobs(rdd.first_async()), (4, 29));
        assert_eq!(jobs(rdd.is_empty_async()), (4, false));
    });
}

/// Behaviours: RDD-010, RDD-011.
#[test]
fn first_and_is_empty_compute_one_partition_if_it_has_a_row() {
    static TOUCHED: Touched = Touched::new();

    each_backend(|ctx| {
        let rdd = ctx.range_into(0..40, 8).filter(|_| TOUCHED.here());

        assert_eq!(jobs(rdd.first_async()), (1, 0));
        assert_eq!(TOUCHED.take(), [0]);
        assert_eq!(jobs(rdd.is_empty_async()), (1, false));
        assert_eq!(TOUCHED.take(), [0]);
    });
}

#[test]
fn take_computes_no_more_rows_of_a_partition_than_it_wants() {
    static ROWS: AtomicU64 = AtomicU64::new(0);

    each_backend(|ctx| {
        let rdd = ctx.range_into(0..1_000_000, 1).map(|x| {
            ROWS.fetch_add(1, Ordering::SeqCst);
            x
        });

        assert_eq!(rdd.take(10).unwrap(), (0..10).collect::<Vec<_>>());
        assert_eq!(ROWS.swap(0, Ordering::SeqCst), 10);
    });
}

#[test]
fn lookup_computes_one_partition_of_an_rdd_that_is_partitioned_by_key() {
    static TOUCHED: Touched = Touched::new();

    each_backend(|ctx| {
        let pairs = ctx.range_into(0..100, 5).map(|x| (x % 10, 1));
        let sums = pairs.reduce_by_key_into(6, |a, b| a + b).filter(|_| TOUCHED.here());
        // Every partition that holds a key.
        assert_eq!(sums.count().unwrap(), 10);
        let all = TOUCHED.take();
        assert!(all.len() > 1, "{all:?}");

        assert_eq!(sums.lookup(&3).unwrap(), [10]);
        assert_eq!(TOUCHED.take().len(), 1);
        assert!(sums.lookup(&99).unwrap().is_empty());
        assert!(TOUCHED.take().len() <= 1);

        // Without a partitioner a key may be anywhere.
        let anywhere = sums.map(|pair| pair);
        assert_eq!(anywhere.lookup(&3).unwrap(), [10]);
        assert_eq!(TOUCHED.take(), all);
    });
}

/// Behaviours: RDD-025.
#[test]
fn a_local_iterator_computes_a_partition_when_its_first_row_is_asked_for() {
    static TOUCHED: Touched = Touched::new();

    each_backend(|ctx| {
        let rdd = ctx.range_into(0..9, 3).filter(|_| TOUCHED.here());
        let mut rows = rdd.to_local_iterator();

        assert!(TOUCHED.take().is_empty(), "nothing runs before the first row");
        assert_eq!(rows.next().unwrap().unwrap(), 0);
        assert_eq!(TOUCHED.take(), [0]);
        assert_eq!(rows.by_ref().take(2).map(Result::unwrap).collect::<Vec<_>>(), [1, 2]);
        assert!(TOUCHED.take().is_empty(), "the rest of the partition is there");
        assert_eq!(rows.next().unwrap().unwrap(), 3);
        assert_eq!(TOUCHED.take(), [1]);
        assert_eq!(rows.map(Result::unwrap).collect::<Vec<_>>(), [4, 5, 6, 7, 8]);
        assert_eq!(TOUCHED.take(), [2]);
    });
}

#[test]
fn a_local_iterator_ends_with_its_error() {
    each_backend(|ctx| {
        let rdd = ctx.range_into(0..9, 3).map(|x| 10 / (x - 4));
        let mut rows = rdd.to_local_iterator();

        assert_eq!(rows.by_ref().take(3).filter_map(Result::ok).count(), 3);
        let error = rows.next().unwrap().unwrap_err().to_string();
        assert!(error.starts_with("to_local_iterator at ") && error.contains("divide by zero"), "{error}");
        assert!(rows.next().is_none());
    });
}

/// Behaviours: RDD-025.
#[test]
fn a_job_on_chosen_partitions_computes_no_others() {
    static TOUCHED: Touched = Touched::new();

    each_backend(|ctx| {
        let rdd = ctx.range_into(0..40, 8).filter(|_| TOUCHED.here());

        assert_eq!(rdd.run_job_on([5, 2], |rows| rows.count()).unwrap(), [5, 5]);
        assert_eq!(TOUCHED.take(), [2, 5]);
    });
}
