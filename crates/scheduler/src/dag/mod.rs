//! The DAG scheduler: jobs into stages, stages into task sets, and back again when outputs are lost.
//!
//! [`DagScheduler`] works on a lineage of plain data. It orders task sets from the task scheduler and is told how
//! their tasks ended; it never sees an executor's slots, nor a user's types.

mod abort;
mod build;
mod cancel;
mod completion;
mod event;
mod failure;
mod job;
mod lineage;
mod loss;
mod preferred;
mod rollback;
mod scheduler;
mod stage;
mod stored;
mod submit;

pub(crate) use event::{DagEvent, TaskEnded};
pub(crate) use job::JobTarget;
pub(crate) use lineage::Answers;
pub(crate) use scheduler::DagScheduler;
