//! The protocol of the standalone cluster: messages between masters and workers, and the types in them.
//!
//! [`WorkerToMaster`] and [`MasterToWorker`] are the whole protocol. The events and effects of
//! [`Master`](crate::master::Master) and [`Worker`](crate::worker::Worker) carry these very types, so the runtime that
//! owns the sockets forwards a message as it is. The names are those of `org.apache.firesteel.deploy.DeployMessages`.
//!
//! A conversation over one connection keeps its order, and a connection that breaks may lose the last messages of
//! both sides. What must not be lost is therefore said again on the next connection: executor states and the ends
//! of drivers until they are acknowledged, then the list of what runs, from which the master sees which of its
//! own orders never arrived.
//!
//! ```text
//!  worker                                   master
//!    │ RegisterWorker ──────────────────────▶ │
//!    │ ◀───────────────────── RegisteredWorker │
//!    │ (unacknowledged states) LatestState ──▶ │ kills what it does not know
//!    │ ◀─────── LaunchExecutor, LaunchDriver … │
//!    │ ExecutorStateChanged ────────────────▶ │
//!    │ ◀───────────────────── ExecutorStateAck │
//!    │                                         ✗
//!    │ ◀──────────────── MasterChanged  (another master)
//!    │ (unacknowledged states) SchedulerState ▶ │ takes what is listed as its own
//! ```
//!
//! Nothing here decides anything; messages of applications and clients to the master are in [`crate::master`].

mod artifact;
mod command;
mod id_pattern;
mod message;
mod report;
mod resource_book;
mod state;

pub use artifact::{Artifact, ArtifactKind, ArtifactSource, ContentHash};
pub use command::{Command, Placeholders};
pub use id_pattern::{IdPattern, IdPatternError};
pub use message::{
    DriverLaunch, DriverStateChange, ExecutorLaunch, ExecutorStateChange, MasterAddress, MasterToWorker,
    WorkerDescription, WorkerToMaster,
};
pub use report::{DriverReport, ExecutorReport, WorkerReport};
pub use resource_book::{Addresses, Grant};
pub(crate) use resource_book::{GrantError, Need, ResourceBook};
pub use state::{DriverState, ExecutorState};
