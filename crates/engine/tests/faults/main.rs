//! Executors that are killed, stopped and orphaned in the middle of a job, as real processes; the answer is that of an
//! undisturbed run each time.

#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests fail like tests, and a child prints for its parent"
)]

firesteel::allocator!();

mod gate;
mod indeterminate;
mod killed;
mod orphans;
mod process;
mod reaper;
mod stopped;
#[path = "../../../../testing/waiting.rs"]
mod waiting;
