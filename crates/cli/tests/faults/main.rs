//! Masters, workers and drivers that are killed, stopped and cut off while applications run, all as real processes; the
//! answers are those of an undisturbed run each time, and nothing is left behind.

#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests fail like tests, and an application prints its answer"
)]

mod app;
mod cluster;
mod daemon;
mod drivers;
mod gate;
mod job;
mod masters;
mod network;
mod process;
mod proxy;
mod starts;
mod strangers;
#[path = "../../../../testing/waiting.rs"]
mod waiting;
mod workers;
