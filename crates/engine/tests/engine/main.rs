//! The engine as a whole: jobs from closures to values.

#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests fail like tests, and a failing test says where it ran"
)]

firesteel::allocator!();

mod abuse;
mod accumulators;
mod broadcast;
mod cache;
mod cancel;
mod captures;
mod checkpoint;
mod errors;
mod files;
#[path = "../support/gate.rs"]
mod gate;
mod misuse;
mod nesting;
mod panics;
mod properties;
mod saving;
mod scale;
#[path = "../support/backends.rs"]
mod support;

use firesteel::prelude::*;
use support::{each_backend, runs_here};

#[test]
fn rows_are_filtered_and_counted() {
    each_backend(|ctx| assert_eq!(ctx.range(0..1000).filter(|x| x % 7 == 0).count().unwrap(), 143));
}

#[test]
fn values_are_combined_by_key() {
    each_backend(|ctx| {
        let rows = ctx.parallelize_into((0..100).collect(), 7).map(|x| (x % 3, 1));
        let mut counts = rows.reduce_by_key(|a, b| a + b).collect().unwrap();
        counts.sort_unstable();

        assert_eq!(counts, [(0, 34), (1, 33), (2, 33)]);
    });
}

#[test]
fn a_loop_of_a_hundred_shuffles_gives_its_rows() {
    each_backend(|ctx| {
        let mut rdd = ctx.range(0..3).boxed();
        for _ in 0..100 {
            rdd = rdd.map(|x| (x, 1)).reduce_by_key(|a, b| a + b).map(|(x, _)| x).boxed();
        }

        assert_eq!(rdd.count().unwrap(), 3);
    });
}

#[test]
fn the_error_of_a_failed_job_names_stage_task_executor_message_and_operator() {
    each_backend(|ctx| {
        let error = ctx.range(0..10).map(|x| 1 / (x - 5)).count().unwrap_err().to_string();

        let executor = if runs_here(ctx) { "on driver" } else { "on executor-" };
        for part in ["count at ", "task 1 of stage-0.0", executor, "attempt to divide by zero", "map at "] {
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
    });
}
