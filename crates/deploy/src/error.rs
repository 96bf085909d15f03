//! Why a part of the cluster cannot start: [`DeployError`].

use std::{io, path::PathBuf};

use firesteel_net::{BadAddress, NetError};
use firesteel_scheduler::{client::ClientConfigError, master::MasterConfigError, worker::WorkerConfigError};
use firesteel_storage::disk::DiskError;

use crate::store::StoreError;

/// Why a master, a worker, a client or a local cluster cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum DeployError {
    /// Others could connect, and nothing would ask them who they are.
    #[error(
        "will not listen at {address}, where other machines can connect, without a secret; \
         set {setting}, or listen at 127.0.0.1"
    )]
    Unprotected { address: String, setting: &'static str },
    /// The address is taken, or not this machine's.
    #[error(transparent)]
    Net(#[from] NetError),
    /// An address cannot be read.
    #[error(transparent)]
    Address(#[from] BadAddress),
    /// The master's settings do not fit together.
    #[error(transparent)]
    MasterConfig(#[from] MasterConfigError),
    /// The worker's settings do not fit together.
    #[error(transparent)]
    WorkerConfig(#[from] WorkerConfigError),
    /// The client's settings do not fit together.
    #[error(transparent)]
    ClientConfig(#[from] ClientConfigError),
    /// What the master stores cannot be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No folder for blocks can be used.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A folder cannot be made.
    #[error("cannot use the folder {}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    /// The operating system gives no thread.
    #[error("cannot start the thread {name}: {source}")]
    Thread { name: &'static str, source: io::Error },
}

/// Starts a named thread.
pub(crate) fn spawn<T: Send + 'static>(
    name: &'static str,
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<std::thread::JoinHandle<T>, DeployError> {
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(run).map_err(|source| DeployError::Thread { name, source })
}
