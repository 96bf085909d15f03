//! Operators over keys, each against a plain model on each backend.

#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests fail like tests, and a failing test says where it ran"
)]

firesteel::allocator!();

#[path = "../support/backends.rs"]
mod support;

mod combine;
mod group;
mod harness;
mod map_reduce;
mod no_partitions;
mod partitioners;
mod rearrange;
mod sort;
mod spilled;
mod values;
