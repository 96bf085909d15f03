//! Where data lives: memory that is measured, blocks, shuffle files, and how they get from one process to another.
//!
//! - [`memory`]: what each task holds, measured by a counting allocator, and how an executor's budget is divided.
//! - [`disk`]: the local folders, used in turn, and what becomes of them when one fails or the process dies.
//! - [`codec`]: rows to bytes and back, compression, frames and checksums.
//! - [`shuffle`]: the files that a map task leaves for reduce tasks, spills, and how reduce tasks fetch blocks.
//! - [`block`]: the blocks of one process by id, in memory and on disk, and who holds which in the application.
//! - [`broadcast`]: values cut into pieces that executors fetch from each other.
//! - [`transfer`]: the server and the client that move blocks between processes.
//!
//! Knows nothing of RDDs, user types or scheduling: rows come in and go out through the callers' own functions.

pub mod block;
pub mod broadcast;
pub mod codec;
pub mod disk;
pub mod memory;
pub mod shuffle;
pub mod transfer;
