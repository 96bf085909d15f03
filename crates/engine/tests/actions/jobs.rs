//! Which jobs an action runs, and which partitions it computes.

use std::collections::BTreeSet;

use firesteel::{Accumulator, Collection, prelude::*};
use serde::{Deserialize, Serialize};

use super::{gate::until, support::each_backend};

/// The partitions that tasks were run for since the last look.
#[derive(Clone, Serialize, Deserialize)]
struct Touched(Accumulator<Collection<u32>>);

impl Touched {
    fn new(ctx: &Context) -> Self {
        Self(ctx.collection_accumulator("touched"))
    }

    /// Called inside a task.
    fn here(&self) -> bool {
        self.0.add(TaskContext::current().expect("a task runs").partition().0);
        true
    }

    fn take(&self) -> Vec<u32> {
        let partitions: BTreeSet<_> = self.0.value().0.into_iter().collect();
        self.0.reset();
        partitions.into_iter().collect()
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
    each_backend(|ctx| {
        let touched = Touched::new(ctx);
        let rdd = ctx.range_into(0..40_usize, 40).with(touched.clone()).filter(|touched, _| touched.here());
        let taken = |n| {
            let (jobs, rows) = jobs(rdd.take_async(n));
            assert_eq!(rows, (0..n).collect::<Vec<_>>());
            (jobs, touched.take().len())
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
    each_backend(|ctx| {
        let touched = Touched::new(ctx);
        let rdd = ctx.range_into(0..40, 8).with(touched.clone()).filter(|touched, _| touched.here());

        assert_eq!(jobs(rdd.first_async()), (1, 0));
        assert_eq!(touched.take(), [0]);
        assert_eq!(jobs(rdd.is_empty_async()), (1, false));
        assert_eq!(touched.take(), [0]);
    });
}

#[test]
fn take_computes_no_more_rows_of_a_partition_than_it_wants() {
    each_backend(|ctx| {
        let rows = ctx.long_accumulator("rows");
        let rdd = ctx.range_into(0..1_000_000, 1).with(rows.clone()).map(|rows, x| {
            rows.add(1);
            x
        });

        assert_eq!(rdd.take(10).unwrap(), (0..10).collect::<Vec<_>>());
        assert_eq!(rows.value().sum, 10);
    });
}

#[test]
fn lookup_computes_one_partition_of_an_rdd_that_is_partitioned_by_key() {
    each_backend(|ctx| {
        let touched = Touched::new(ctx);
        let pairs = ctx.range_into(0..100, 5).map(|x| (x % 10, 1));
        let sums = pairs
            .reduce_by_key_into(6, |a, b| a + b)
            .with(touched.clone())
            .filter(|touched, _| touched.here());
        // Every partition that holds a key.
        assert_eq!(sums.count().unwrap(), 10);
        let all = touched.take();
        assert!(all.len() > 1, "{all:?}");

        assert_eq!(sums.lookup(&3).unwrap(), [10]);
        assert_eq!(touched.take().len(), 1);
        assert!(sums.lookup(&99).unwrap().is_empty());
        assert!(touched.take().len() <= 1);

        // Without a partitioner a key may be anywhere.
        let anywhere = sums.map(|pair| pair);
        assert_eq!(anywhere.lookup(&3).unwrap(), [10]);
        assert_eq!(touched.take(), all);
    });
}

/// Behaviours: RDD-025.
#[test]
fn a_local_iterator_computes_a_partition_when_its_first_row_is_asked_for() {
    each_backend(|ctx| {
        let touched = Touched::new(ctx);
        let rdd = ctx.range_into(0..9, 3).with(touched.clone()).filter(|touched, _| touched.here());
        let mut rows = rdd.to_local_iterator();

        assert!(touched.take().is_empty(), "nothing runs before the first row");
        assert_eq!(rows.next().unwrap().unwrap(), 0);
        assert_eq!(touched.take(), [0]);
        assert_eq!(rows.by_ref().take(2).map(Result::unwrap).collect::<Vec<_>>(), [1, 2]);
        assert!(touched.take().is_empty(), "the rest of the partition is there");
        assert_eq!(rows.next().unwrap().unwrap(), 3);
        assert_eq!(touched.take(), [1]);
        assert_eq!(rows.map(Result::unwrap).collect::<Vec<_>>(), [4, 5, 6, 7, 8]);
        assert_eq!(touched.take(), [2]);
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
    each_backend(|ctx| {
        let touched = Touched::new(ctx);
        let rdd = ctx.range_into(0..40, 8).with(touched.clone()).filter(|touched, _| touched.here());

        assert_eq!(rdd.run_job_on([5, 2], |rows| rows.count()).unwrap(), [5, 5]);
        assert_eq!(touched.take(), [2, 5]);
    });
}
