//! Data that is many times larger than the memory it may use.
#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used, reason = "tests")]

firesteel::allocator!();

mod child;
mod disks;
mod large_rows;
mod operators;
#[path = "../support/child.rs"]
mod process;
mod read_ahead;
mod shares;
mod shuffles;
#[path = "../support/small_disk.rs"]
mod small_disk;
