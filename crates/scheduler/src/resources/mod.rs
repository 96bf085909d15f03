//! What executors have, what is free of it, and which profile may run where.
//!
//! [`ExecutorResources`] is the ledger of one executor: cpus and addresses are taken when a task is launched
//! and given back when it ends. [`ProfileManager`] knows every resource profile of an application and what
//! one task of each needs. Neither finds resources on a machine nor decides which task goes where.

mod error;
mod executor_resources;
mod profiles;
#[cfg(test)]
mod tests;

pub use error::ResourceError;
pub use executor_resources::{ExecutorResources, TaskNeed};
pub use profiles::{ProfileManager, ProfileSupport};
