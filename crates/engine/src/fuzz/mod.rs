//! Damaged bytes for everything that drivers and executors read from each other: an error each time, never a panic, and
//! never more memory than the bytes are worth.
//!
//! The programs of stages are in [`programs`]. Rows, shuffle files and blocks are treated likewise in the
//! `storage` crate, object files and checkpoints beside their reader, frames and handshakes in the `net` crate.
//!
//! Longer runs: `PROPTEST_CASES=1000000 cargo test -p firesteel --lib fuzz`.

#[path = "../../../../testing/damage.rs"]
mod damage;
mod memory;
mod messages;
mod programs;
