//! The executors of the application: who is registered, what is free, who is on the way out.
//!
//! [`Executors`] is what Spark's coarse-grained backend and its driver endpoint decide together. It knows nothing
//! of tasks beyond which attempts run where.

mod ahead;
mod backend;
mod blocks;
mod hosts;
mod registry;
mod table;

pub(crate) use ahead::SentAhead;
pub(crate) use backend::{Backend, EarlyDecommission};
pub(crate) use blocks::{BlockLocations, Reported};
pub(crate) use hosts::{HostId, Hosts, RackId};
pub(crate) use registry::{CountFailures, Decommission, Executor, Executors};
pub(crate) use table::ExecutorTable;
