//! The task scheduler: which task runs where, and what happens when it ends.
//!
//! [`TaskScheduler`] owns the active task sets, each with its [`TaskSetManager`], the pools they wait in, and the
//! table of running attempts. It knows nothing of jobs and lineage: the DAG scheduler orders task sets and is told
//! how their tasks ended.

mod ahead;
mod launch;
mod levels;
mod manager;
mod median;
mod offer;
mod outcome;
mod pace;
mod pending;
mod round;
mod running;
mod scheduler;
mod set;
mod speculation;
mod status;
mod take_back;
mod timers;
mod unschedulable;

#[cfg(test)]
mod tests;

pub(crate) use manager::TaskSetManager;
pub use running::Passed;
pub(crate) use running::Running;
pub(crate) use scheduler::TaskScheduler;
pub(crate) use set::{Task, TaskOrder, TaskSet};
