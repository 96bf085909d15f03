//! The standalone cluster: what runs around the scheduler's machines of master, worker and application.
//!
//! - [`master::MasterServer`], [`worker::WorkerServer`]: the two daemons, on threads of the process that starts them.
//! - [`client::AppClient`]: a driver's connection to its cluster.
//! - [`submit::SubmitClient`]: drivers that the cluster runs.
//! - [`LocalCluster`]: a whole cluster in one process.
//! - [`artifact`]: executables and files by their content. [`store`]: what survives a master.
//!
//! Each daemon is one thread that owns its machine: events come in by an inbox, effects are carried out at once or
//! handed to a thread that may wait. Nothing here decides where an executor runs or when a worker is lost.
//!
//! Settings, the command line, pages and what an executor does inside are not known here.

mod chores;
mod clock;
mod ending;
mod error;
#[cfg(test)]
mod fuzz;
mod local_cluster;
mod master_links;
mod protocol;
mod security;

pub mod artifact;
pub mod client;
pub mod master;
pub mod store;
pub mod submit;
pub mod worker;

pub use ending::Ending;
pub use error::DeployError;
pub use local_cluster::{LocalCluster, LocalClusterConf};
pub use master_links::Redial;
pub use protocol::{ClientToMaster, FromMaster, FromWorker, ToMaster, ToWorker};
pub use security::{Security, reachable_host};
