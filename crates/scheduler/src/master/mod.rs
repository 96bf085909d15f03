//! The standalone master: which worker runs which executor and driver.
//!
//! [`Master`] is a pure machine. It takes [`MasterEvent`]s and the time and returns [`MasterEffect`]s: messages to
//! workers (in the words of [`crate::deploy`]), applications and clients, and objects to store or remove. It opens no socket, reads no clock and
//! writes no file; the runtime around it does, and tells it what came of it.
//!
//! ```text
//!            Elected            Recovered (nothing stored)
//!  Standby ───────────▶ Standby ───────────────────────────────────────────▶ Alive
//!                          │ Recovered (something stored)                      ▲
//!                          ▼        all have answered, or 60 s                 │ at once
//!                      Recovering ─────────────────────────────▶ CompletingRecovery
//! ```
//!
//! The decisions are Spark's (`org.apache.firesteel.deploy.master.Master`). Where this machine differs on purpose:
//!
//! - One pass of scheduling at the end of an event, where Spark runs several in its middle, and none when nothing
//!   changed. Decommissioning a worker counts as a change: replacements start elsewhere at once.
//! - A worker or application that comes back on a new connection keeps its entry and moves to that connection.
//!   An application that registers twice on one connection gets its first id again.
//! - A worker's report to a new master is checked: what the worker cannot hold, and what belongs to no application, it
//!   is told to kill. Until that report is in, its list of live executors kills nothing and it gets nothing to do.
//! - A worker gets nothing to do before it has listed what it runs, which it does at once when it is registered.
//!   On a new connection it may have missed orders on the old one. What its list lacks never started: such
//!   executors are lost, such drivers wait again.
//! - A decommissioned worker gets the resources of its executors back as they end.
//! - Ids never name two live applications or drivers, even when the number starts again.
//!
//! Drivers are placed before executors, as in Spark, so that enough drivers can keep executors from ever running.
//! Nothing here admits drivers with regard to that.

mod app_info;
mod apps;
mod config;
mod dead_workers;
mod decommission;
mod driver_info;
mod drivers;
mod effect;
mod event;
mod executors;
mod invariants;
mod machine;
mod place;
mod recovery;
mod schedule;
mod why_waits;
mod worker_info;
mod worker_table;
mod workers;

#[cfg(test)]
mod tests;

pub use app_info::{AppEnd, AppInfo, AppState, CompletedApp, ProfileInfo, UNLIMITED};
pub use config::{MasterConfig, MasterConfigError, Placement, WorkerSelection};
pub use driver_info::{CompletedDriver, DriverInfo, DriverOutcome, DriverPlace};
pub use effect::{AppMessage, DriverStatus, IgnoredReason, MasterEffect, ObjectName, Reply, StoredObject};
pub use event::{
    AppDescription, DriverDescription, MasterEvent, Peer, ProfileTotal, StoredApp, StoredDriver,
};
pub use machine::{Master, RecoveryState};
pub use schedule::{Demand, Room, cores_for_workers};
pub use why_waits::AppWait;
pub use worker_info::{DeadWorker, ExecutorDesc, WorkerInfo, WorkerState};
