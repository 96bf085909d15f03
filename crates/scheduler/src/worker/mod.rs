//! The standalone worker: its executor and driver processes, as the master ordered them.
//!
//! [`Worker`] is a pure machine: what it hears from masters, processes and directories comes in as a
//! [`WorkerEvent`], what it wants done goes out as [`WorkerEffect`]s. It starts nothing, touches no file and
//! sends nothing itself. It decides nothing about placement either: which executor runs here is the master's
//! business. Its messages to and from masters are in [`crate::deploy`]. [`WorkerWatcher`] is the other end, inside an
//! executor: it watches the worker that started it.

mod config;
mod effect;
mod event;

mod finished;
mod ids;
mod process;
mod timers;
mod watcher;

mod machine;

mod cleaning;
mod drivers;
mod executors;
mod heartbeat;
mod launch;
mod orders;
mod registration;
mod state_sync;

#[cfg(test)]
mod tests;

pub use config::{ResourceRequest, WorkerConfig, WorkerConfigError};
pub use effect::{ProcessSignal, ProcessStart, WorkerEffect, WorkerIgnored};
pub use event::{DirListing, WorkerEvent};
pub use finished::{FinishedDriver, FinishedExecutor};
pub use ids::{ProcessId, ProcessOwner};
pub use machine::Worker;
pub use watcher::{WatcherEffect, WorkerWatcher};
