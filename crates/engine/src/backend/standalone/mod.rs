//! Tasks in processes of their own, which a cluster's workers start.
//!
//! The way of an application, as in Spark: the driver listens; its application client registers with the master; the
//! master picks workers by cores and memory; they start executors; those dial the driver and join (`links.rs`); offers
//! and tasks follow. `StandaloneBackend` is the scheduler's arm, [`Cluster`] everything that has to be started and
//! stopped around it.

mod backend;
mod block_registry;
mod cluster;
mod from_executor;
mod from_master;
mod links;
mod map_tables;
mod results;

use backend::StandaloneBackend;
pub(crate) use cluster::Cluster;
