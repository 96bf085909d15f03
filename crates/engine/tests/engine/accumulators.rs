//! Accumulators in running jobs.

use firesteel::{Accumulate, prelude::*};
use serde::{Deserialize, Serialize};

use crate::support::each_backend;

/// Behaviours: ACC-005.
#[test]
fn tasks_add_and_the_driver_reads() {
    each_backend(|ctx| {
        let (sum, all) = (ctx.long_accumulator("sum"), ctx.collection_accumulator::<i64>("all"));
        sum.add(1000);

        let rows = ctx.range_into(0..10_i64, 4).with((sum.clone(), all.clone()));
        rows.for_each(|(sum, all), x| {
            sum.add(x);
            all.add(x);
        })
        .unwrap();

        assert_eq!((sum.value().sum, sum.value().count), (1045, 11));
        let mut all = all.value().0;
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
    });
}

#[test]
fn reading_the_total_inside_a_task_fails_the_task() {
    each_backend(|ctx| {
        let sum = ctx.long_accumulator("sum");

        let read = ctx.range(0..1).with(sum).map(|sum, _| sum.value().sum).count();

        assert!(read.unwrap_err().to_string().contains("tasks can only add"));
    });
}

/// Behaviours: ACC-003.
#[test]
fn what_a_failed_attempt_added_does_not_count() {
    let ctx = Context::builder().master("local[2,3]").start().unwrap();
    let rows = ctx.long_accumulator("rows");

    let done = ctx.range_into(0..4_u64, 2).with(rows.clone()).for_each(|rows, x| {
        rows.add(1);
        let task = TaskContext::current().unwrap();
        assert!(x != 3 || task.attempt_number().0 == 2, "fails twice in the last row");
    });

    done.unwrap();
    assert_eq!(rows.value().sum, 4);
}

/// An accumulator whose merge panics.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Explosive(bool);

impl Accumulate for Explosive {
    type Input = ();
    fn zero(&self) -> Self {
        Self::default()
    }
    fn is_zero(&self) -> bool {
        !self.0
    }
    fn add(&mut self, (): ()) {
        self.0 = true;
    }
    fn merge(&mut self, _other: Self) {
        panic!("cannot merge");
    }
}

/// Behaviours: ACC-004.
#[test]
fn a_merge_that_fails_harms_neither_the_job_nor_other_accumulators() {
    each_backend(|ctx| {
        let (bad, good) = (ctx.accumulator("bad", Explosive::default()), ctx.long_accumulator("good"));

        let both = ctx.range_into(0..4, 2).with((bad, good.clone()));
        let done = both.for_each(|(bad, good), _| {
            bad.add(());
            good.add(1);
        });

        done.unwrap();
        assert_eq!(good.value().sum, 4);
        assert_eq!(ctx.range(0..3).count().unwrap(), 3, "the scheduler goes on");
    });
}

/// Behaviours: ACC-004, ACC-006.
#[test]
fn updates_of_an_accumulator_that_is_gone_are_left_out() {
    each_backend(|ctx| {
        let gone = ctx.long_accumulator("gone");
        let rdd = ctx.range(0..4_i64).with(gone.clone()).map(|gone, x| {
            gone.add(1);
            x
        });
        assert_eq!(gone.name(), Some("gone"));
        drop(gone);

        assert_eq!(rdd.count().unwrap(), 4);
    });
}

#[test]
fn a_reset_accumulator_begins_at_zero() {
    each_backend(|ctx| {
        let sum = ctx.double_accumulator("sum");
        sum.add(2.5);

        sum.reset();

        assert!(sum.value().is_zero());
    });
}
