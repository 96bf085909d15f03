//! What runs and what ran, in numbers: the status store.
//!
//! [`StatusStore`] is a listener that keeps jobs, stage attempts and executors as plain data ([`JobData`],
//! [`StageData`], [`ExecutorData`]), which serialize in the shape of Spark's REST API. It keeps no single task, and a
//! bounded number of things that are over. It answers; it decides nothing.

mod executors;
mod jobs;
mod retained;
mod stages;
mod state;
mod store;

pub use firesteel_ui::app::{AccumulableData, ExecutorData, JobData, JobStatus, StageData, StageStatus};
pub use store::{Retention, StatusStore};

#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;
