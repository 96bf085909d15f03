//! What can go wrong for the one who calls an action.

use std::panic::Location;

use firesteel_scheduler::JobError;
use firesteel_types::JobId;

/// The result of everything that may run a job.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an action or a method of the context gave nothing.
#[derive(thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum Error {
    /// A job failed or was cancelled.
    #[error("{action} at {site} failed: {error}")]
    Job { job: JobId, action: &'static str, site: &'static Location<'static>, error: Box<JobError> },
    /// Code of the application, such as a merge function or the `drop` of a row, panicked on the driver.
    #[error("{action} at {site} failed: the application's code panicked on the driver: {message}")]
    Panicked { action: &'static str, site: &'static Location<'static>, message: String },
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
    /// The settings cannot be used.
    #[error(transparent)]
    Conf(#[from] crate::ConfError),
    /// The settings of the scheduler contradict each other.
    #[error(transparent)]
    Scheduler(#[from] firesteel_scheduler::ConfigError),
    /// The master cannot be used.
    #[error(transparent)]
    Master(#[from] firesteel_types::MasterUrlError),
    /// There is not enough memory to divide.
    #[error(transparent)]
    Memory(#[from] firesteel_storage::memory::MemoryConfError),
    /// A file or a folder cannot be used.
    #[error(transparent)]
    Io(#[from] crate::IoError),
    /// The listeners cannot be reached.
    #[error(transparent)]
    Listeners(#[from] firesteel_listener::BusError),
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

/// An error with its causes in one line. Causes that the error has in its own text are not said twice.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| {
        let cause = cause.to_string();
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}

/// A failed operation on a file of the program's own.
impl From<std::io::Error> for Error {
    fn from(source: std::io::Error) -> Self {
        Self::System { what: "an operation of the system failed".to_owned(), source }
    }
}

/// What a person should read, since a `main` that returns an error prints it in this form.
impl std::fmt::Debug for Error {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{self}")?;
        let causes = std::iter::successors(std::error::Error::source(self), |cause| cause.source());
        causes.into_iter().try_for_each(|cause| write!(out, "\n  caused by: {cause}"))
    }
}
