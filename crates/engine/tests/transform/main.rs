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

firesteel::allocator!();

#[path = "../support/backends.rs"]
mod support;

mod coalesce;
mod combining;
mod custom;
#[path = "../support/gate.rs"]
mod gate;
mod inside_tasks;
mod laws;
mod lineage;
mod partitions;
mod pipe;
mod rows;
mod sampling;
mod sources;
