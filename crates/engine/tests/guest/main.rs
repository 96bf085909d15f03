//! The library as a guest: in a program that has an allocator, a subscriber, a panic hook and arguments of its own.

#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests fail like tests, and a failing test says where it ran"
)]

#[path = "../support/child.rs"]
mod child;
mod estimates;
mod globals;
#[path = "../support/backends.rs"]
mod support;

/// The program's own allocator, so that nothing is counted.
#[global_allocator]
static ALLOCATOR: std::alloc::System = std::alloc::System;
