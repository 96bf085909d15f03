//! The standalone worker: its executor and driver processes, as the master ordered them.
//!
//! [`Worker`] is a pure machine: what it hears from masters, processes and directories comes in as a
//! [`WorkerEvent`], what it wants done goes out as [`WorkerEffect`]s. It starts nothing, touches no file and
//! sends nothing itself. It decides nothing about placement either: which executor runs here is the master's
//! business. [`WorkerWatcher`] is the other end, inside an executor: it watches the worker that started it.

mod ids;
mod message;

mod config;
mod effect;
mod event;

mod command;
mod finished;
mod holdings;
mod process;
mod timers;
mod watcher;
mod worker_id;

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

pub use command::{Command, Placeholders};
pub use config::{ResourceRequest, WorkerConfig, WorkerConfigError};
pub use effect::{ProcessSignal, ProcessStart, WorkerEffect, WorkerIgnored};
pub use event::{DirListing, WorkerEvent};
pub use finished::{FinishedDriver, FinishedExecutor};
pub use ids::{AppId, DriverId, ExecutorKey, MasterAddress, ProcessId, ProcessOwner, WorkerId};
pub use machine::Worker;
pub use message::{
    Addresses, DriverLaunch, DriverReport, DriverState, ExecutorLaunch, ExecutorReport, ExecutorState,
    ExecutorStateChange, Grant, MasterToWorker, RegisterWorker, WorkerState, WorkerToMaster,
};
pub use watcher::{WatcherEffect, WorkerWatcher};
pub use worker_id::{WorkerIdPattern, WorkerIdPatternError};
