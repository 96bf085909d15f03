//! The narrow transformations: the laws that all of them keep, and what each does besides.

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::panic,
    clippy::print_stdout,
    clippy::redundant_closure,
    clippy::redundant_closure_for_method_calls,
    clippy::unwrap_used,
    reason = "helpers of tests fail like tests, and a failing test says where it ran"
)]

#[path = "../support/backends.rs"]
mod support;

mod coalesce;
mod combining;
mod custom;
mod inside_tasks;
mod laws;
mod lineage;
mod partitions;
mod pipe;
mod rows;
mod sampling;
mod sources;

use std::sync::Barrier;

use firesteel::prelude::*;

/// Runs two tasks at the same time, which needs both threads: none of them is left with a task of before.
fn both_threads_are_free(ctx: &Context) {
    static MEETING: Barrier = Barrier::new(2);
    let met = ctx.range_into(0..2, 2).map(|_| MEETING.wait().is_leader());
    assert_eq!(met.filter(|is_leader| *is_leader).count().unwrap(), 1);
}
