//! Why a block did not come or go: [`TransferError`].

use std::{io, sync::Arc};

use firesteel_net::{Address, NetError};

use crate::block::BlockId;

/// Why a transfer failed; one variant for each thing that a caller does differently.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum TransferError {
    /// The server cannot be reached, is not trusted, or the connection broke.
    #[error("cannot transfer blocks: {0}")]
    Net(#[from] NetError),
    /// The server does not have the block.
    #[error("{id} is not at {address}: {reason}")]
    Missing { address: Address, id: BlockId, reason: String },
    /// The server could not read or store the block.
    #[error("the block server at {address} could not serve {id}: {reason}")]
    Failed { address: Address, id: BlockId, reason: String },
    /// This side had no place for the block, or could not read what it was to send.
    #[error("{id} could not be kept or read on this side: {source}")]
    Local { id: BlockId, source: Arc<io::Error> },
    /// The request was cancelled.
    #[error("the transfer was given up")]
    Cancelled,
}

impl TransferError {
    /// Whether the same request may succeed a little later.
    ///
    /// ```
    /// use firesteel_net::{Address, NetError};
    /// use firesteel_storage::transfer::TransferError;
    ///
    /// assert!(TransferError::from(NetError::Busy { address: Address::new("host", 7337) }).is_transient());
    /// assert!(!TransferError::Cancelled.is_transient());
    /// ```
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Net(error) => error.is_transient(),
            Self::Missing { .. } | Self::Failed { .. } | Self::Local { .. } | Self::Cancelled => false,
        }
    }
}
