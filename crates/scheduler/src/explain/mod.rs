//! Why a task waits, and why it runs where it runs.
//!
//! [`Scheduler::explain`](crate::Scheduler::explain) answers for any task of an active stage, from the state alone.
//! For a task that waits it names the executor that is nearest to taking it and everything that stands between the
//! two: a closed list of reasons, each with the time left where there is one. The list is sound: when every reason
//! is removed, the task is launched at the next offer; while one of them holds, it is not launched there. Only that
//! too few cpus are free does not keep a task from being sent ahead, where executors are kept ahead.

mod answer;
mod running;
mod waiting;

pub use crate::task::Passed;
pub use answer::{Explanation, Launch, NotReady, WaitReason, Waiting};

#[cfg(test)]
mod tests;
