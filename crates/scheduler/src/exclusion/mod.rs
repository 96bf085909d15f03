//! Executors and nodes that fail too often get no tasks for a while.
//!
//! Two levels work together. [`TaskSetExcludelist`] belongs to one task set: it keeps a task away from where it
//! failed, and the whole set away from executors and nodes where several of its tasks failed; its verdicts end
//! with the set. [`HealthTracker`] belongs to the application: it is fed when a task set succeeds, and its
//! verdicts end after a timeout. [`ExclusionConfig`] holds the limits of both.
//!
//! Neither places tasks or ends executors: the task scheduler asks them before it places, and the runtime that drives
//! the scheduler carries out each [`HealthEffect`].

mod config;
mod health;
mod task_set;

#[cfg(test)]
mod tests;

pub use config::{ExclusionConfig, ExclusionConfigError};
pub use health::{ExclusionKillCause, HealthEffect, HealthTracker};
pub use task_set::{ExecutorFailures, TaskSetExcludelist};
