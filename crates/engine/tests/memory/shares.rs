//! What a task may hold, and what becomes of one that wants more.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use firesteel::{Conf, StorageLevel, prelude::*};

use crate::child::{BESIDE, BUDGET, in_child, tight};

/// How long something may take that must happen.
const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn a_task_that_cannot_go_on_says_what_it_holds_and_what_to_do() {
    let test = "shares::a_task_that_cannot_go_on_says_what_it_holds_and_what_to_do";
    let peak = in_child(test, || {
        let ctx = tight(false);
        let hoarder = ctx.range_into(0..100_000_u64, 2).map_partitions(|rows| {
            let mut all = Vec::new();
            rows.for_each(|x| all.push(vec![x; 1000]));
            Rows::new(all)
        });

        let error = hoarder.count().unwrap_err().to_string();

        assert!(error.contains("its share is") && error.contains("firesteel.memory.limit"), "{error}");
        assert_eq!(ctx.range(0..10).count().unwrap(), 10, "the context goes on");
    });
    if let Some(peak) = peak {
        assert!(peak <= BUDGET + BESIDE, "{} MiB", peak >> 20);
    }
}

#[test]
fn the_peak_of_a_task_is_in_its_metrics() {
    let ctx = Context::local(2).unwrap();

    ctx.range_into(0..1_u64, 1).map(|_| vec![0_u8; 5 << 20].len()).count().unwrap();

    let stage = &ctx.status().unwrap().stages()[0];
    let peak = stage.metrics.peak_memory_bytes;
    assert!((5 << 20..6 << 20).contains(&peak), "{peak}");
}

#[test]
fn a_small_job_needs_little() {
    let test = "shares::a_small_job_needs_little";
    let peak = in_child(test, || {
        for shipped in [false, true] {
            assert_eq!(
                tight(shipped)
                    .range(0..1000_u64)
                    .map(|x| (x % 7, x))
                    .reduce_by_key(|a, b| a + b)
                    .count()
                    .unwrap(),
                7
            );
        }
    });
    if let Some(peak) = peak {
        assert!(peak <= BESIDE / 2, "{} MiB", peak >> 20);
    }
}

#[test]
fn what_a_map_task_leaves_in_memory_is_not_its_own_any_more() {
    let folder = tempfile::TempDir::new().unwrap();
    let conf = Conf::new()
        .set("firesteel.memory.budget", "24m")
        .and_then(|conf| conf.set("firesteel.local.dir", folder.path().display()))
        .unwrap();
    let ctx = Context::builder().master("local[1]").conf(conf).start().unwrap();

    // Fourteen mebibytes are granted while they are made and stored when they are done: both at once would not fit.
    let rows = ctx.range_into(0..900_000_u64, 1).map(|x| (x % 4, x)).partition_by(4);
    assert_eq!(rows.count().unwrap(), 900_000);

    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing had to go to disk");
}

fn until(condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < LIMIT, "the condition never came true");
        thread::yield_now();
    }
}

/// Takes memory that the task has until it ends.
fn take_memory(bytes: usize) {
    let task = TaskContext::current().unwrap();
    task.hold(vec![0_u8; bytes]);
    task.check();
}

/// Behaviours: MEM-004.
#[test]
fn a_task_that_has_the_memory_and_waits_for_a_cached_partition_gets_it_from_one_that_needs_memory() {
    static IS_COMPUTED: AtomicBool = AtomicBool::new(false);
    static IS_MEMORY_TAKEN: AtomicBool = AtomicBool::new(false);
    let conf = Conf::new().set("firesteel.memory.budget", "8m").unwrap();
    let ctx = Context::builder().master("local[2]").conf(conf).start().unwrap();
    let cached = ctx.range_into(0..10_u64, 1).map_partitions(|rows| {
        IS_COMPUTED.store(true, Ordering::SeqCst);
        until(|| IS_MEMORY_TAKEN.load(Ordering::SeqCst));
        take_memory(3 << 20);
        rows
    });
    let cached = cached.persist(StorageLevel::MEMORY_AND_DISK);
    let computing = cached.count_async();
    until(|| IS_COMPUTED.load(Ordering::SeqCst));

    let greedy = ctx.range_into(0..1_u64, 1).map(|x| {
        take_memory(7 << 20);
        IS_MEMORY_TAKEN.store(true, Ordering::SeqCst);
        x
    });
    let waiting = greedy.boxed().union(&cached.boxed()).coalesce(1).count_async();

    for (job, rows) in [(computing, 10), (waiting, 11)] {
        let counted = job.wait_timeout(LIMIT).unwrap_or_else(|job| panic!("{job:?} waits for ever"));
        assert_eq!(counted.unwrap(), rows);
    }
}
