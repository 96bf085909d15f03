//! How a task ends in the middle of a partition.
//!
//! A lost block, a bad file or an order to stop unwinds the task with a typed payload. `resume_unwind` runs no panic
//! hook and prints nothing, so no user function ever sees an iterator that ended early, and no row pays for a
//! `Result`.

use std::panic;

use firesteel_types::{FetchFailure, RddId};

use crate::error::with_causes;

/// Why a task ended itself.
#[derive(Debug)]
pub(crate) enum Abort {
    /// It saw the order to stop.
    Killed,
    /// A map output could not be had.
    Fetch(FetchFailure),
    /// Something the task needs is bad: a file, a block, an external program.
    Failed { message: String, operator: Option<RddId> },
    /// The result cannot be sent.
    ResultNotSerializable { message: String },
    /// Another attempt holds the right to commit.
    CommitDenied,
}

/// Unwinds the task to the one place that catches it.
#[cold]
pub(crate) fn abort_task(abort: Abort) -> ! {
    panic::resume_unwind(Box::new(abort))
}

/// Unwinds the task because of the disk, or of rows that cannot be serialized.
#[cold]
pub(crate) fn abort_storage(error: &dyn std::error::Error) -> ! {
    abort_task(Abort::Failed { message: with_causes(error), operator: None })
}

impl Abort {
    /// Something that `operator` needs is bad.
    pub(crate) fn failed(operator: RddId, message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), operator: Some(operator) }
    }
}
