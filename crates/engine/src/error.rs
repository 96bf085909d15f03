//! What can go wrong for the one who calls an action.

use std::panic::Location;

use firesteel_scheduler::JobError;
use firesteel_types::JobId;

/// The result of everything that may run a job.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an action or a method of the context gave nothing: a variant for each way to go on from there.
#[derive(thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum Error {
    /// A job failed or was cancelled. The error names stage, task and cause; running it again may help if that was outside
    /// of the program.
    #[error("{action} at {site} failed: {error}")]
    Job { job: JobId, action: &'static str, site: &'static Location<'static>, error: Box<JobError> },
    /// Code of the application, such as a merge function or the `drop` of a row, panicked on the driver. The context can be
    /// used as before.
    #[error("{action} at {site} failed: the application's code panicked on the driver: {message}")]
    Panicked { action: &'static str, site: &'static Location<'static>, message: String },
    /// The rows are not there that the action needs: decide what no rows mean.
    #[error("{action} needs at least one row, and the RDD is empty")]
    Empty { action: &'static str },
    /// An argument that cannot be used, of this call or of the operator that the text names: change the program.
    #[error("{what}")]
    Invalid { what: String },
    /// The value of a handle was taken before: keep it where it was taken, or run the action again.
    #[error("the value of this action was taken already")]
    Taken,
    /// Rows are kept at another storage level: call [`unpersist`](crate::Persisted::unpersist) before the level is changed.
    #[error("{rdd} is persisted at another level: unpersist it before you change that")]
    AlreadyPersisted { rdd: String },
    /// Checkpoints need a folder: set one, or keep the rows on executors.
    #[error(
        "there is no checkpoint directory: call `Context::set_checkpoint_dir` first, or use `local_checkpoint`"
    )]
    NoCheckpointDir,
    /// Files of a checkpoint are missing or damaged: it cannot be read again, and its rows have to be computed.
    #[error("the checkpoint {folder} is not whole: {problem}")]
    BrokenCheckpoint { folder: String, problem: String },
    /// No such file came along with the application: submit it with the file.
    #[error("no file `{name}` was sent along; name it with `firesteel submit --files`")]
    NotSent { name: String },
    /// The context was stopped: make a new one.
    #[error("the context is stopped: make a new one to run jobs")]
    Stopped,
    /// A job was started from inside a task: run it on the driver, and bring its result along.
    #[error("{action} was called inside a task: actions run on the driver only")]
    InsideTask { action: &'static str },
    /// No master has taken the application: start one, correct the address, or try again later.
    #[error("{what}")]
    NoMaster { what: String },
    /// The cluster was lost while the application started, or a local one could not be started: see why, then make a new
    /// context.
    #[error("{what}")]
    NoCluster { what: String },
    /// An address of this process cannot be listened at: choose another host or port.
    #[error("{what}")]
    CannotListen { what: String },
    /// A secret or a certificate is missing or cannot be used: correct the settings `firesteel.authenticate.*` and
    /// `firesteel.ssl.*`, or their files.
    #[error("{what}")]
    Security { what: String },
    /// The settings cannot be used: the error names the setting and where its value comes from.
    #[error(transparent)]
    Conf(#[from] crate::ConfError),
    /// The settings of the scheduler contradict each other: change one of them.
    #[error(transparent)]
    Scheduler(#[from] firesteel_scheduler::ConfigError),
    /// The text is not the address of a master: correct it.
    #[error(transparent)]
    Master(#[from] firesteel_types::MasterUrlError),
    /// There is not enough memory to divide: give more, or take less of it for the program itself.
    #[error(transparent)]
    Memory(#[from] firesteel_storage::memory::MemoryConfError),
    /// A file or a folder cannot be used.
    #[error(transparent)]
    Io(#[from] crate::IoError),
    /// The listener bus cannot do what was asked: the error says whether to wait, or to leave it to another thread.
    #[error(transparent)]
    Listeners(#[from] firesteel_listener::BusError),
    /// The operating system refused something: the source says what it answered.
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

    /// A secret or a certificate that cannot be used.
    pub(crate) fn security(what: impl Into<String>) -> Self {
        Self::Security { what: what.into() }
    }

    /// A cluster that is not there.
    pub(crate) fn no_cluster(what: impl Into<String>) -> Self {
        Self::NoCluster { what: what.into() }
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
