//! Which attempt may commit the output of a partition: one, and only one.
//!
//! Several attempts of one task can run at the same time: copies of a slow task, or a task of an earlier stage
//! attempt that still runs. [`OutputCommitCoordinator`] gives the right to commit to the first that asks and
//! takes it back only when that attempt fails or its stage is rolled back. It writes and moves no output itself.

mod coordinator;

#[cfg(test)]
mod tests;

pub use coordinator::{CommitDecision, CommitDenial, Committer, OutputCommitCoordinator};
