//! Master, workers and applications with real sockets, folders and processes.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails, also in its helpers")]

mod apps;
mod artifacts;
mod drivers;
mod killing;
mod leftovers;
mod local;
mod logs;
mod losses;
mod parts;
mod recovery;
mod security;
mod shuffle;
mod support;
#[path = "../../../../testing/waiting.rs"]
mod waiting;
