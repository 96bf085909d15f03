//! Why an artifact is not there: [`ArtifactError`].

use std::{io, path::PathBuf, sync::Arc};

use firesteel_net::{NetError, frame::FrameError};
use firesteel_scheduler::deploy::ContentHash;

/// Why an artifact could not be fetched, kept or given. A clone is the same error, for all who waited.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum ArtifactError {
    /// Its name would lead out of the folder it belongs into.
    #[error("`{name}` cannot be the name of a file")]
    BadName { name: String },
    /// It names a file of this machine, and only a local cluster may do so.
    #[error("{name} is said to be at {path}, but only the workers of a local cluster look there")]
    ForeignPath { name: String, path: String },
    /// No process is known that has it.
    #[error("no known process has {name}: {reason}")]
    NoSource { name: String, reason: String },
    /// The one who has it cannot be reached.
    #[error(transparent)]
    Net(Arc<NetError>),
    /// The connection broke, or what came is not what we speak.
    #[error("the transfer of an artifact broke: {0}")]
    Broken(Arc<FrameError>),
    /// The one who should have it does not.
    #[error("the content {sha256} was refused: {reason}")]
    Refused { sha256: ContentHash, reason: String },
    /// What came is not what was asked for.
    #[error("content of hash {expected} was expected, and {actual} came; is the file being changed?")]
    WrongHash { expected: ContentHash, actual: ContentHash },
    /// What came is shorter or longer than what was asked for.
    #[error("{expected} bytes were expected, and {actual} came")]
    WrongLength { expected: u64, actual: u64 },
    /// It cannot be read or kept on this machine.
    #[error("cannot use {}: {source}", path.display())]
    Local { path: PathBuf, source: Arc<io::Error> },
    /// The request was cancelled.
    #[error("given up: this process ends")]
    Cancelled,
}

impl ArtifactError {
    /// What a read that failed comes to: its own error when it carries one of ours.
    pub(super) fn broken(error: io::Error) -> Self {
        error.downcast().unwrap_or_else(|error| FrameError::Io(error).into())
    }

    pub(super) fn local(path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Local { path: path.into(), source: Arc::new(source) }
    }
}

impl From<NetError> for ArtifactError {
    fn from(error: NetError) -> Self {
        Self::Net(Arc::new(error))
    }
}

impl From<FrameError> for ArtifactError {
    fn from(error: FrameError) -> Self {
        Self::Broken(Arc::new(error))
    }
}
