//! The whole scheduler of one application: events in, effects out.

mod dispatch;
mod executors;
mod machine;
mod query;

pub use machine::Scheduler;
pub use query::{ExecutorStatus, JobStatus, Readiness, StageStatus};
