//! The standalone cluster: what runs around the scheduler's machines of master, worker and application.
//!
//! Each of them is one thread that owns its machine: events come in by an inbox, effects are carried out at once or
//! handed to a thread that may wait. Nothing here decides where an executor runs or when a worker is lost.
//!
//! Settings, the command line, pages and what an executor does inside are not known here.

mod chores;
mod clock;
mod ending;
mod error;
mod protocol;
mod security;

pub mod artifact;
pub mod master;
pub mod store;

pub use ending::Ending;
pub use error::DeployError;
pub use protocol::{ClientToMaster, FromMaster, FromWorker, ToMaster, ToWorker};
pub use security::Security;
