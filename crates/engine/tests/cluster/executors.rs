//! Executors that end, for any reason, and where they listen.

use std::net::{TcpListener, TcpStream};

use firesteel::prelude::*;
use firesteel_types::ListenerEvent;

use crate::{
    cluster, cluster_with, events, executors,
    gate::{assert_both_slots_work, until},
    heard, is_alive,
};

/// Behaviours: BACK-010.
#[test]
fn a_task_that_ends_its_process_fails_the_job_after_four_times_and_the_cluster_stays_usable() {
    for code in [7, 0] {
        let ctx = cluster();
        let events = events(&ctx);

        let job = ctx.range_into(0..1_u64, 1).with(code).map(|code, _| -> u64 { std::process::exit(*code) });
        let error = job.count().unwrap_err().to_string();

        for part in ["failed 4 times", "on executor-", &format!("exited with code {code}")] {
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
        let gone = |event: &ListenerEvent| matches!(event, ListenerEvent::ExecutorRemoved { .. });
        assert_eq!(heard(&ctx, &events).iter().filter(|event| gone(event)).count(), 4);
        assert_both_slots_work(&ctx, "executors that ended");
        let sums = ctx.range_into(0..1000_u64, 4).map(|x| (x % 7, x)).reduce_by_key(|a, b| a + b);
        assert_eq!(sums.count().unwrap(), 7);
    }
}

/// Behaviours: BACK-010.
#[test]
fn a_task_that_ends_its_process_once_succeeds_on_another_executor() {
    let ctx = cluster();
    let before = executors(&ctx);

    let pids = ctx.range_into(0..4_u64, 4).map(|x| {
        let task = TaskContext::current().unwrap();
        if x == 2 && task.attempt_number().0 == 0 {
            // Without a word, as when the system is out of memory.
            std::process::abort();
        }
        x
    });
    assert_eq!(pids.collect().unwrap(), [0, 1, 2, 3]);

    let after = executors(&ctx);
    assert_eq!(before.iter().filter(|executor| after.contains(executor)).count(), 1, "{before:?} {after:?}");
}

#[test]
fn shuffle_files_of_an_executor_that_ended_are_still_served() {
    let ctx = cluster();
    let mapped = ctx.long_accumulator("mapped");
    let pairs = ctx.range_into(0..1000_u64, 4).with(mapped.clone()).map(|mapped, x| {
        mapped.add(1);
        (x % 10, x)
    });
    let sums = pairs.reduce_by_key_into(3, |a, b| a + b);
    let sorted = || {
        let mut rows = sums.collect().unwrap();
        rows.sort_unstable();
        rows
    };
    let expected = sorted();

    let once = ctx.range_into(0..1_u64, 1).map(|x| {
        if TaskContext::current().unwrap().attempt_number().0 == 0 {
            std::process::exit(1);
        }
        x
    });
    assert_eq!(once.count().unwrap(), 1);

    assert_eq!(sorted(), expected);
    assert_eq!(mapped.value().sum, 1000, "the worker serves what the executor left");
}

/// Behaviours: BACK-023.
#[test]
fn executors_end_when_the_context_stops_or_is_dropped() {
    let stopped = cluster();
    let [one, other] = executors(&stopped);
    assert!(is_alive(one.pid) && is_alive(other.pid));

    stopped.stop().unwrap();
    assert!(!is_alive(one.pid) && !is_alive(other.pid), "nothing is left when stop returns");
    stopped.stop().unwrap();

    let dropped = cluster();
    let executors = executors(&dropped);
    drop(dropped);
    until(|| executors.iter().all(|executor| !is_alive(executor.pid)));
}

#[test]
fn a_task_that_takes_far_more_than_its_executor_has_ends_that_process_and_not_the_application() {
    let ctx = cluster_with(|builder| builder.set("firesteel.task.maxFailures", 2).unwrap());
    let before = executors(&ctx);

    // None of it is ever touched, so that without a limit this would succeed.
    let much = ctx.range_into(0..1_u64, 1).map(|_| vec![0_u8; 8 << 30].len());
    let error = much.count().unwrap_err().to_string();

    assert!(error.contains("executor"), "{error}");
    assert!(error.contains("134"), "the process was aborted: {error}");
    assert_eq!(ctx.range_into(0..100_u64, 4).count().unwrap(), 100, "the application goes on");
    assert_ne!(executors(&ctx), before);
}

/// How often this process had to ask the system for a page of memory.
fn page_faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name of the program, in brackets, may have spaces.
    stat.rsplit(") ").next().unwrap().split(' ').nth(7).unwrap().parse().unwrap()
}

/// Executors begin before `main`, and so did their allocator, before its own constructor had run.
#[test]
fn the_allocator_of_an_executor_keeps_what_is_freed_for_the_next_task() {
    const PAGES: u64 = 256;
    let ctx = cluster();

    let faults = ctx.range_into(0..2_u64, 2).map(|_| {
        let before = page_faults();
        for byte in 0..200_u8 {
            std::hint::black_box(vec![byte | 1; 4096 * PAGES as usize]);
        }
        page_faults() - before
    });

    for faults in faults.collect().unwrap() {
        assert!(faults < 20 * PAGES, "{faults} faults for 200 vectors of {PAGES} pages, one after the other");
    }
}

#[test]
fn executors_serve_their_blocks_at_the_port_that_is_set_or_the_next_free_one() {
    let first = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().min(u16::MAX - 16);
    let taken =
        || (first..=first + 16).filter(|port| TcpStream::connect(("127.0.0.1", *port)).is_ok()).count();
    let before = taken();

    let ctx = cluster_with(|builder| builder.set("firesteel.blockManager.port", first).unwrap());

    executors(&ctx);
    assert!(taken() >= before + 2, "{before} before");
}
