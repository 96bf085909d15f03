//! Code of the application's that panics on the driver, between the jobs of an action: the action ends with an error.

use std::{
    cmp::Ordering,
    future::Future,
    hash::{Hash, Hasher},
    mem,
    pin::pin,
    sync::Arc,
    task::{Context as PollContext, Poll, Wake},
    thread::{self, Thread},
    time::Duration,
};

use firesteel::{RangePartitioner, Replacement, prelude::*};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{abuse::in_time, support::each_backend};

/// What is done to a row, or with two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Use {
    Nothing,
    Clone,
    Drop,
    Deserialize,
    Hash,
    Eq,
    Ord,
    Merge,
}

const USES: [Use; 8] =
    [Use::Nothing, Use::Clone, Use::Drop, Use::Deserialize, Use::Hash, Use::Eq, Use::Ord, Use::Merge];

/// A row with which tasks do as they like, and which panics at one use of it on the driver.
#[derive(Debug, Serialize)]
struct Trap {
    at: Use,
    number: u64,
}

impl Trap {
    fn spring(&self, used: Use) {
        // Unwinding from a drop during another unwinding ends the process in any case.
        let is_safe = self.at != used || TaskContext::current().is_some() || thread::panicking();
        assert!(is_safe, "trapped at {used:?}");
    }

    fn merge(self, other: Self) -> Self {
        self.spring(Use::Merge);
        other
    }
}

impl Clone for Trap {
    fn clone(&self) -> Self {
        self.spring(Use::Clone);
        Self { ..*self }
    }
}

impl Drop for Trap {
    fn drop(&mut self) {
        self.spring(Use::Drop);
    }
}

impl<'de> Deserialize<'de> for Trap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (at, number) = Deserialize::deserialize(deserializer)?;
        let trap = Self { at, number };
        trap.spring(Use::Deserialize);
        Ok(trap)
    }
}

impl Hash for Trap {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.spring(Use::Hash);
        self.number.hash(state);
    }
}

impl PartialEq for Trap {
    fn eq(&self, other: &Self) -> bool {
        self.spring(Use::Eq);
        self.number == other.number
    }
}

impl Eq for Trap {}

impl PartialOrd for Trap {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Trap {
    fn cmp(&self, other: &Self) -> Ordering {
        self.spring(Use::Ord);
        self.number.cmp(&other.number)
    }
}

/// Rows in so many partitions that `take` runs several jobs, and has more than it wants after the second.
fn traps(ctx: &Context, at: Use) -> impl Rdd<Item = Trap> + use<> {
    ctx.range_into(0..24_u64, 8).with(at).map(|at, number| Trap { at: *at, number: number % 10 })
}

fn pairs(ctx: &Context, at: Use) -> impl Rdd<Item = (Trap, u64)> + use<> {
    traps(ctx, at).map(|trap| (trap, 1))
}

const NO_TRAP: Trap = Trap { at: Use::Nothing, number: 0 };
const SOON: Duration = Duration::ZERO;
const LATE: Duration = Duration::from_secs(60);

/// Runs a future on this thread, which sleeps until it is woken.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
            panic!("a waker that panics");
        }
    }

    let mut future = pin!(future);
    let waker = Arc::new(Unpark(thread::current())).into();
    loop {
        match future.as_mut().poll(&mut PollContext::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// An action, whose value is left alone.
type Act = fn(&Context, Use) -> Result<()>;

const ACTIONS: [(&str, Act); 36] = [
    ("collect", |ctx, at| traps(ctx, at).collect().map(mem::forget)),
    ("collect_partitions", |ctx, at| traps(ctx, at).collect_partitions().map(mem::forget)),
    ("count", |ctx, at| traps(ctx, at).count().map(mem::forget)),
    ("take", |ctx, at| traps(ctx, at).take(7).map(mem::forget)),
    ("take of no row", |ctx, at| traps(ctx, at).take(0).map(mem::forget)),
    ("first", |ctx, at| traps(ctx, at).first().map(mem::forget)),
    ("is_empty", |ctx, at| traps(ctx, at).is_empty().map(mem::forget)),
    ("take_sample", |ctx, at| traps(ctx, at).take_sample(Replacement::Without, 5, 1).map(mem::forget)),
    ("take_sample again", |ctx, at| traps(ctx, at).take_sample(Replacement::With, 30, 1).map(mem::forget)),
    ("for_each", |ctx, at| traps(ctx, at).for_each(drop)),
    ("for_each_partition", |ctx, at| traps(ctx, at).for_each_partition(|rows| rows.for_each(drop))),
    ("run_job", |ctx, at| traps(ctx, at).run_job(|mut rows| rows.next()).map(mem::forget)),
    ("to_local_iterator", |ctx, at| {
        traps(ctx, at).to_local_iterator().try_for_each(|row| row.map(mem::forget))
    }),
    ("count_by_value", |ctx, at| traps(ctx, at).count_by_value().map(mem::forget)),
    ("count_by_value_approx", |ctx, at| {
        traps(ctx, at).count_by_value_approx(LATE, 0.9)?.final_value().map(mem::forget)
    }),
    ("count_by_value_approx in no time", |ctx, at| {
        traps(ctx, at).count_by_value_approx(SOON, 0.9).map(|partial| mem::forget(partial.cancel()))
    }),
    ("count_approx_distinct", |ctx, at| traps(ctx, at).count_approx_distinct(0.1).map(mem::forget)),
    ("reduce", |ctx, at| traps(ctx, at).reduce(Trap::merge).map(mem::forget)),
    ("fold", |ctx, at| traps(ctx, at).fold(NO_TRAP, Trap::merge).map(mem::forget)),
    ("aggregate", |ctx, at| traps(ctx, at).aggregate(NO_TRAP, Trap::merge, Trap::merge).map(mem::forget)),
    ("tree_reduce", |ctx, at| traps(ctx, at).tree_reduce(Trap::merge, 2).map(mem::forget)),
    ("tree_aggregate", |ctx, at| {
        traps(ctx, at).tree_aggregate(NO_TRAP, Trap::merge, Trap::merge, 2).map(mem::forget)
    }),
    ("tree_aggregate_on_executors", |ctx, at| {
        traps(ctx, at).tree_aggregate_on_executors(NO_TRAP, Trap::merge, Trap::merge, 2).map(mem::forget)
    }),
    ("min", |ctx, at| traps(ctx, at).min().map(mem::forget)),
    ("max", |ctx, at| traps(ctx, at).max().map(mem::forget)),
    ("min_by", |ctx, at| traps(ctx, at).min_by(Trap::cmp).map(mem::forget)),
    ("max_by_key", |ctx, at| traps(ctx, at).max_by_key(|trap| trap.number).map(mem::forget)),
    ("take_ordered", |ctx, at| traps(ctx, at).take_ordered(5).map(mem::forget)),
    ("top", |ctx, at| traps(ctx, at).top(5).map(mem::forget)),
    ("count_by_key", |ctx, at| pairs(ctx, at).count_by_key().map(mem::forget)),
    ("collect_as_map", |ctx, at| pairs(ctx, at).collect_as_map().map(mem::forget)),
    ("lookup", |ctx, at| traps(ctx, at).map(|trap| (trap.number, trap)).lookup(&3).map(mem::forget)),
    ("RangePartitioner::sample", |ctx, at| {
        RangePartitioner::sample(&pairs(ctx, at), 4, Order::Ascending).map(mem::forget)
    }),
    ("a future", |ctx, at| block_on(traps(ctx, at).take_async(7)).map(mem::forget)),
    ("wait_timeout", |ctx, at| match traps(ctx, at).take_async(7).wait_timeout(LATE) {
        Ok(rows) => rows.map(mem::forget),
        Err(running) => panic!("{running:?} hangs"),
    }),
    ("a callback", |ctx, at| {
        let handle = traps(ctx, at).take_async(7);
        handle.on_complete(|| panic!("a callback that panics"));
        handle.wait().map(mem::forget)
    }),
];

#[test]
fn every_action_ends_with_an_error_when_code_of_the_application_panics_on_the_driver() {
    each_backend(|ctx| {
        for (name, act) in ACTIONS {
            for at in USES {
                let what = format!("{name} with a trap at {at:?}");
                let other = ctx.clone();

                let ended = in_time(&what, move || act(&other, at));

                match ended {
                    Ok(()) => (),
                    Err(error) => {
                        let said = format!("trapped at {at:?}");
                        assert!(at != Use::Nothing && error.to_string().contains(&said), "{what}: {error}");
                    }
                }
                assert_eq!(ctx.range_into(0..10, 2).count().unwrap(), 10, "after {what}");
            }
        }
    });
}

#[test]
fn rows_that_panic_when_they_are_dropped_between_two_jobs_fail_the_take() {
    each_backend(|ctx| {
        let taken = |ctx: &Context| traps(ctx, Use::Drop).take(7).map(mem::forget);
        let other = ctx.clone();

        let error = in_time("take", move || taken(&other)).unwrap_err().to_string();

        assert!(error.starts_with("take at crates/engine/tests/engine/panics.rs:"), "{error}");
        assert!(error.contains("panicked on the driver: trapped at Drop"), "{error}");
    });
}

#[test]
fn a_value_that_was_not_taken_may_panic_when_its_handle_is_dropped() {
    each_backend(|ctx| {
        for cancels in [false, true] {
            let other = ctx.clone();
            in_time("drop of a handle", move || {
                let handle = traps(&other, Use::Drop).collect_async();
                while !handle.is_finished() {
                    thread::yield_now();
                }
                if cancels {
                    handle.cancel();
                }
                drop(handle);
            });
        }
    });
}
