//! What can go wrong for the one who calls an action.

use std::panic::Location;

use firesteel_scheduler::JobError;
use firesteel_types::JobId;

/// The result of everything that may run a job.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an action or a method of the context gave nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum Error {
    /// A job failed or was cancelled.
    #[error("{action} at {site} failed: {error}")]
    Job { job: JobId, action: &'static str, site: &'static Location<'static>, error: Box<JobError> },
    /// The rows are not there that the action needs.
    #[error("{action} needs at least one row, and the RDD is empty")]
    Empty { action: &'static str },
    /// An argument that cannot be used.
    #[error("{what}")]
    Invalid { what: String },
    /// The context was stopped.
    #[error("the context is stopped: make a new one to run jobs")]
    Stopped,
    /// A job was started from inside a task.
    #[error("{action} was called inside a task: actions run on the driver only")]
    InsideTask { action: &'static str },
    /// The master cannot be used.
    #[error(transparent)]
    Master(#[from] firesteel_types::MasterUrlError),
    /// The operating system refused something.
    #[error("{what}")]
    System {
        what: String,
        #[source]
        source: std::io::Error,
    },
}

impl Error {
    /// An argument that cannot be used.
    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid { what: what.into() }
    }
}
