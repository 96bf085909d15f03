//! Joins, cogroups and set operations, on each backend.

#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests fail like tests, and a failing test says where it ran"
)]

firesteel::allocator!();

#[path = "../support/gate.rs"]
mod gate;
mod large;
mod model;
mod partitions;
mod random;
mod streaming;
#[path = "../support/backends.rs"]
mod support;
