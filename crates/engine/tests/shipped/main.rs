//! What crosses processes: rows and environments of every kind, and operators that read what they did not write.
//!
//! All of it without a line of `unsafe`: for any application, wrong bytes are an error and never a crash.

#![forbid(unsafe_code)]
#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests fail like tests, and a failing test says where it ran"
)]

firesteel::allocator!();

#[path = "../support/backends.rs"]
mod support;

mod attributes;
mod operators;
mod types;
