//! The master as a process: [`MasterServer`] owns the scheduler's [`Master`](firesteel_scheduler::master::Master)
//! machine, its connections and its store.
//!
//! One thread owns the machine. Connections bring the messages of workers, applications and clients to its inbox;
//! effects are carried out in order on the same thread, which never blocks: lines take messages without waiting, and a
//! store writes a few kilobytes.
//!
//! A master that was killed and starts again with the same store recovers. It dials no peer. Workers and applications
//! notice that their connection broke, dial every master again and again, and send their ids; the machine matches them
//! with what was stored. So a driver need not accept connections of masters, and an address that changed does no harm.
//! What was sent to a stored worker or application before it is back goes nowhere, and the machine sends it again.

mod conf;
mod peers;
mod run;
mod server;
mod status;

pub use conf::{MasterServerConf, StoreConf};
pub use server::MasterServer;
pub use status::{AppStatus, DriverStatusLine, ExecutorStatus, MasterStatus, WorkerLine, WorkerLineState};
