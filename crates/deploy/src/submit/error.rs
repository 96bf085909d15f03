//! Why a request to the cluster failed: [`SubmitError`].

use std::{io, path::PathBuf};

use firesteel_net::{Address, NetError};
use firesteel_scheduler::master::RecoveryState;

use crate::artifact::ArtifactError;

/// Why a driver could not be submitted, ended or asked after.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum SubmitError {
    /// The executable cannot be one.
    #[error("{} cannot be a driver: {reason}; give the path of an executable on this machine", path.display())]
    BadDriver { path: PathBuf, reason: String },
    /// A file that is to be sent along cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// None of the masters leads.
    #[error("none of the masters can be used: {tried}")]
    NoMaster { tried: String },
    /// The master was lost.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The master said nothing in time, or hung up.
    #[error("the master at {master} did not answer")]
    NoAnswer { master: Address },
    /// The master does not lead any more.
    #[error("the master at {master} does not lead: it is {state:?}")]
    NotAlive { master: Address, state: RecoveryState },
    /// The master answered something else.
    #[error("the master at {master} gave an answer that does not fit the question: {answer}")]
    Protocol { master: Address, answer: String },
    /// The executable or a file could not be uploaded.
    #[error("cannot upload {name}: {source}")]
    Upload { name: String, source: ArtifactError },
}
