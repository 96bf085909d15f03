//! Code of the user's that panics in unexpected places, and contexts that end at the wrong moment.

use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, mpsc},
    thread,
    time::Duration,
};

use firesteel::{Accumulate, Partitioner, StorageLevel, prelude::*};
use firesteel_types::ListenerEvent;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    gate::assert_both_slots_work,
    support::{each_backend, each_backend_here, each_backend_with},
};

const LIMIT: Duration = Duration::from_secs(60);

/// Runs `f` on a thread of its own and waits for it, but not for ever.
pub(crate) fn in_time<T: Send + 'static>(what: &str, f: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = mpsc::channel();
    let thread = thread::spawn(move || tell.send(f()).ok());
    match told.recv_timeout(LIMIT) {
        Ok(value) => value,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: not over after {LIMIT:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(_) => unreachable!("it sends before it ends"),
        },
    }
}

/// A row, key or environment that panics at one of the things that can be done to it.
#[derive(Debug)]
struct Trap(u8);

const NOWHERE: u8 = 0;
const CLONE: u8 = 1;
const DROP: u8 = 2;
const SERIALIZE: u8 = 3;
const DESERIALIZE: u8 = 4;
const HASH: u8 = 5;
const EQ: u8 = 6;
const ORD: u8 = 7;
const EVERYWHERE: [u8; 8] = [NOWHERE, CLONE, DROP, SERIALIZE, DESERIALIZE, HASH, EQ, ORD];

impl Trap {
    fn spring(&self, place: u8) {
        // Unwinding from a drop during another unwinding ends the process in any case.
        assert!(self.0 != place || thread::panicking(), "trapped at {place}");
    }
}

impl Clone for Trap {
    fn clone(&self) -> Self {
        self.spring(CLONE);
        Self(self.0)
    }
}

impl Drop for Trap {
    fn drop(&mut self) {
        self.spring(DROP);
    }
}

impl Serialize for Trap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.spring(SERIALIZE);
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Trap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let place = u8::deserialize(deserializer)?;
        assert!(place != DESERIALIZE, "trapped at {place}");
        if place > ORD { Err(D::Error::custom("no such place")) } else { Ok(Self(place)) }
    }
}

impl Hash for Trap {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.spring(HASH);
        self.0.hash(state);
    }
}

impl PartialEq for Trap {
    fn eq(&self, other: &Self) -> bool {
        self.spring(EQ);
        self.0 == other.0
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
        self.spring(ORD);
        self.0.cmp(&other.0)
    }
}

type Use = fn(&Context, u8) -> Result<u64>;

fn traps(ctx: &Context, place: u8) -> impl Rdd<Item = Trap> + use<> {
    ctx.range_into(0..4_u64, 2).with(place).map(|place, _| Trap(*place))
}

/// Everything that is done to rows, keys, results and environments.
const USES: [(&str, Use); 12] = [
    ("rows", |ctx, place| traps(ctx, place).count()),
    ("results", |ctx, place| traps(ctx, place).collect().map(|rows| rows.len() as u64)),
    ("taken rows", |ctx, place| traps(ctx, place).take(1).map(|rows| rows.len() as u64)),
    ("unwanted results", |ctx, place| {
        let rows = traps(ctx, place).map(|trap| {
            assert!(TaskContext::current().unwrap().partition().0 == 0, "only one part has a result");
            trap
        });
        rows.collect().map(|rows| rows.len() as u64)
    }),
    ("shuffled values", |ctx, place| traps(ctx, place).map(|trap| (1, trap)).group_by_key().count()),
    ("keys", |ctx, place| traps(ctx, place).map(|trap| (trap, 1)).reduce_by_key(|a, b| a + b).count()),
    ("joined keys", |ctx, place| {
        let keyed = traps(ctx, place).map(|trap| (trap, 1));
        keyed.join(&keyed).count()
    }),
    ("sorted rows", |ctx, place| traps(ctx, place).take_ordered(2).map(|rows| rows.len() as u64)),
    ("cached rows", |ctx, place| {
        let cached = traps(ctx, place).persist(StorageLevel::MEMORY_ONLY);
        Ok(cached.count()? + cached.count()?)
    }),
    ("the driver's rows", |ctx, place| ctx.parallelize_into(vec![Trap(place), Trap(NOWHERE)], 2).count()),
    ("an environment", |ctx, place| ctx.range_into(0..4_u64, 2).with(Trap(place)).map(|_, x| x).count()),
    ("what is held", |ctx, place| {
        let held = ctx.range_into(0..2_u64, 2).with(place).map(|place, x| {
            TaskContext::current().unwrap().hold(Trap(*place));
            x
        });
        held.count()
    }),
];

#[test]
fn user_code_that_panics_anywhere_fails_its_job_at_most_and_costs_no_slot() {
    each_backend(|ctx| {
        for (name, used) in USES {
            for place in EVERYWHERE {
                let what = format!("{name} with a trap at {place}");
                let other = ctx.clone();
                // Before the first job begins, a panic on the driver's side goes to the caller.
                let ended = in_time(&what, move || catch_unwind(AssertUnwindSafe(|| used(&other, place))));
                if let Ok(Err(error)) = ended {
                    let error = error.to_string();
                    let said = ["trapped at", "panicked", "only one part has a result"];
                    assert!(said.iter().any(|said| error.contains(said)), "{what}: {error}");
                }
                assert_both_slots_work(ctx, &what);
            }
        }
    });
}

/// An accumulator that panics.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Grudge {
    at: u8,
    kept: Vec<Trap>,
}

impl Accumulate for Grudge {
    type Input = u8;

    fn zero(&self) -> Self {
        Self { at: self.at, kept: Vec::new() }
    }
    fn is_zero(&self) -> bool {
        assert!(self.at != 10, "trapped at is_zero");
        false
    }
    fn add(&mut self, place: u8) {
        assert!(self.at != 11, "trapped at add");
        self.kept.push(Trap(place));
    }
    fn merge(&mut self, _: Self) {
        assert!(self.at != 12, "trapped at merge");
    }
}

#[test]
fn an_accumulator_that_panics_costs_no_slot_and_a_panic_in_add_fails_the_job() {
    each_backend(|ctx| {
        for at in [NOWHERE, CLONE, DROP, SERIALIZE, DESERIALIZE, 10, 11, 12] {
            let what = format!("an accumulator with a trap at {at}");
            let place = if at < 10 { at } else { NOWHERE };
            let grudge = ctx.accumulator("grudge", Grudge { at, kept: Vec::new() });
            let job = ctx.range_into(0..4_u64, 2).with((grudge, place)).map(|(grudge, place), x| {
                grudge.add(*place);
                x
            });

            let counted = job.count_async().wait_timeout(LIMIT).unwrap_or_else(|_| panic!("{what}: hangs"));

            match counted {
                Ok(rows) => assert_eq!(rows, 4, "{what}"),
                Err(error) => assert!(error.to_string().contains("trapped at"), "{what}: {error}"),
            }
            assert_both_slots_work(ctx, &what);
        }
    });
}

#[test]
fn listeners_of_tasks_and_of_the_context_may_panic() {
    each_backend(|ctx| {
        ctx.add_listener(|_: &ListenerEvent| panic!("a listener of the context")).unwrap();
        let job = ctx.range_into(0..2_u64, 2).map(|x| {
            TaskContext::current().unwrap().on_completion(|_| panic!("a listener of the task"));
            x
        });

        let error = job.count().unwrap_err().to_string();

        assert!(error.contains("completion listener"), "{error}");
        assert_both_slots_work(ctx, "listeners that panic");
    });
}

#[test]
fn a_panic_with_a_payload_that_panics_when_it_is_dropped_fails_the_task_only() {
    each_backend(|ctx| {
        let job = ctx.range_into(0..2_u64, 2).map(|_| std::panic::panic_any(Trap(DROP)));
        let job = job.map(|(): ()| 1_u8);

        let failed = job.count_async().wait_timeout(LIMIT).unwrap_or_else(|_| panic!("the job hangs"));

        assert!(failed.is_err());
        assert_both_slots_work(ctx, "a payload that panics");
    });
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct OutOfRange;

impl Partitioner<u64> for OutOfRange {
    fn num_partitions(&self) -> u32 {
        3
    }
    fn partition(&self, key: &u64) -> u32 {
        if *key == 7 { 99 } else { 0 }
    }
}

#[test]
fn a_partitioner_that_gives_a_partition_out_of_range_is_named() {
    each_backend(|ctx| {
        let pairs = ctx.range_into(0..9_u64, 2).map(|x| (x, x));
        let dealt = pairs.partition_by(KeyPartitioner::custom(OutOfRange));

        let combined = pairs.reduce_by_key_into(KeyPartitioner::custom(OutOfRange), |a, b| a + b);
        for error in [dealt.count().unwrap_err().to_string(), combined.count().unwrap_err().to_string()] {
            for part in ["OutOfRange", "99", "3 partitions"] {
                assert!(error.contains(part), "`{part}` is not in: {error}");
            }
        }
        assert_both_slots_work(ctx, "a partition out of range");
    });
}

/// A job that runs until it is ended, and has begun.
fn endless(ctx: &Context) -> JobHandle<u64> {
    let (tell, started) = mpsc::channel();
    let listener = move |event: &ListenerEvent| {
        if let ListenerEvent::TaskStart { .. } = event {
            tell.send(()).ok();
        }
    };
    ctx.add_listener(listener).unwrap();
    let job = ctx.range_into(0..2_u64, 2).flat_map(|_| std::iter::repeat(1_u8)).count_async();
    started.recv_timeout(LIMIT).unwrap();
    job
}

fn is_ended(job: JobHandle<u64>) {
    let ended = job.wait_timeout(LIMIT).unwrap_or_else(|_| panic!("the job goes on"));
    assert!(ended.unwrap_err().to_string().contains("context"));
}

#[test]
fn a_context_that_is_dropped_ends_the_jobs_of_other_threads() {
    each_backend_with(
        |builder| builder,
        |ctx| {
            let job = endless(&ctx);

            in_time("dropping a context", move || drop(ctx));

            is_ended(job);
        },
    );
}

#[test]
fn a_context_that_is_dropped_inside_of_its_own_listener_ends() {
    each_backend_with(
        |builder| builder,
        |ctx| {
            let (give, given) = mpsc::channel::<Context>();
            let listener = move |event: &ListenerEvent| {
                if let ListenerEvent::TaskStart { .. } = event {
                    drop(given.recv_timeout(LIMIT));
                }
            };
            ctx.add_listener(listener).unwrap();
            let job = ctx.range_into(0..2_u64, 2).flat_map(|_| std::iter::repeat(1_u8)).count_async();

            give.send(ctx).unwrap();

            is_ended(job);
        },
    );
}

#[test]
fn a_context_is_stopped_by_a_callback_of_a_job_that_ended() {
    each_backend(|ctx| {
        let job = endless(ctx);
        let (other, (tell, told)) = (ctx.clone(), mpsc::channel());
        let cancelled = ctx.range_into(0..1_u64, 1).count_async();
        cancelled.on_complete(move || tell.send(other.stop().is_ok()).unwrap());

        cancelled.cancel();

        assert_eq!(told.recv_timeout(LIMIT), Ok(true));
        is_ended(job);
    });
}

#[test]
fn a_context_is_stopped_from_inside_of_a_task() {
    static SMUGGLED: Mutex<Option<Context>> = Mutex::new(None);
    each_backend_here(|ctx| {
        *SMUGGLED.lock().unwrap() = Some(ctx.clone());
        let job = ctx.range_into(0..2_u64, 2).map(|x| {
            let ctx = SMUGGLED.lock().unwrap().clone().unwrap();
            ctx.stop().unwrap();
            x
        });

        let job = job.count_async();

        is_ended(job);
        *SMUGGLED.lock().unwrap() = None;
    });
}

#[test]
fn a_context_that_is_stopped_by_many_while_many_run_jobs_refuses_or_ends_every_job() {
    for _ in 0..20 {
        each_backend(|ctx| {
            let run =
                |ctx: &Context| (0..50).map(|_| ctx.range_into(0..8_u64, 4).count()).collect::<Vec<_>>();
            let threads: Vec<_> = (0..4).map(|_| ctx.spawn(run).unwrap()).collect();
            let stoppers: Vec<_> = (0..2).map(|_| ctx.spawn(Context::stop).unwrap()).collect();

            let results = in_time("jobs and stops at once", move || {
                for stopper in stoppers {
                    stopper.join().unwrap().unwrap();
                }
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
            });

            for result in results {
                assert!(
                    result.as_ref().map_or_else(|error| error.to_string().contains("context"), |n| *n == 8)
                );
            }
        });
    }
}
