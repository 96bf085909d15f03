//! Every action: its value against a plain model, the partitions it computes, its handle, its errors.

#![allow(
    clippy::float_cmp,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests fail like tests, and a failing test says where it ran"
)]

firesteel::allocator!();

mod folds;
#[path = "../support/gate.rs"]
mod gate;
mod handles;
mod jobs;
mod models;
mod numbers;
mod orders;
mod partials;
mod samples;
#[path = "../support/backends.rs"]
mod support;
