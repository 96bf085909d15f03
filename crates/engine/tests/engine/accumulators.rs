//! Accumulators in running jobs.

use firesteel::{Accumulate, Accumulator, ListenerEvent, LongSum, prelude::*};
use serde::{Deserialize, Serialize};

use crate::support::{each_backend, each_backend_that_retries};

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
    each_backend_that_retries(|ctx| {
        let rows = ctx.long_accumulator("rows");

        let done = ctx.range_into(0..4_u64, 2).with(rows.clone()).for_each(|rows, x| {
            rows.add(1);
            let task = TaskContext::current().unwrap();
            assert!(x != 3 || task.attempt_number().0 == 2, "fails twice in the last row");
        });

        done.unwrap();
        assert_eq!(rows.value().sum, 4);
    });
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

#[test]
fn listeners_see_what_tasks_add_to_named_accumulators() {
    each_backend(|ctx| {
        let (tell, told) = std::sync::mpsc::channel();
        let listener = move |event: &ListenerEvent| match event {
            ListenerEvent::AccumulatorsUpdated { attempt, accumulables, .. } => {
                tell.send((*attempt, accumulables.clone())).unwrap();
            }
            ListenerEvent::TaskEnd { task, .. } => tell.send((task.attempt, Vec::new())).unwrap(),
            _ => (),
        };
        ctx.add_listener(listener).unwrap();
        let (rows, unnamed) = (ctx.long_accumulator("rows"), ctx.long_accumulator(""));

        let added = ctx.range_into(0..7_u64, 2).with((rows.clone(), unnamed));
        added.for_each(|(rows, unnamed), _| (rows.add(1), unnamed.add(1)).0).unwrap();

        // The status store is fed by the same bus, and answers only when everything before was handled.
        let stage = &ctx.status().unwrap().stages()[0];
        let totals: Vec<_> =
            stage.accumulator_updates.iter().map(|one| (one.id, &*one.name, &*one.value)).collect();
        assert_eq!(totals, [(rows.id(), "rows", "7")]);
        let told: Vec<_> = told.try_iter().collect();
        let mut sums: Vec<_> = Vec::new();
        for pair in told.chunks(2) {
            assert_eq!((pair[0].0, pair[0].1.len()), (pair[1].0, 1), "the end of the task follows: {told:?}");
            assert!(pair[1].1.is_empty());
            sums.push((&*pair[0].1[0].update, &*pair[0].1[0].value));
        }
        sums.sort_unstable_by_key(|(update, _)| update.to_owned());
        assert!(sums == [("3", "3"), ("4", "7")] || sums == [("3", "7"), ("4", "4")], "{sums:?}");
    });
}

/// Adds one to another accumulator for each input.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Tee {
    seen: u64,
    other: Accumulator<LongSum>,
}

impl Accumulate for Tee {
    type Input = i64;

    fn zero(&self) -> Self {
        Self { seen: 0, other: self.other.clone() }
    }

    fn is_zero(&self) -> bool {
        self.seen == 0
    }

    fn add(&mut self, input: i64) {
        self.seen += 1;
        self.other.add(input);
    }

    fn merge(&mut self, other: Self) {
        self.seen += other.seen;
    }
}

#[test]
fn an_accumulator_may_add_to_another() {
    each_backend(|ctx| {
        let other = ctx.long_accumulator("other");
        let tee = ctx.accumulator("tee", Tee { seen: 0, other: other.clone() });

        ctx.range_into(0..10_i64, 3).with(tee.clone()).for_each(Accumulator::add).unwrap();

        assert_eq!((tee.value().seen, other.value().sum), (10, 45));
    });
}
