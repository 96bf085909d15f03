//! Why a block did not come or go: [`TransferError`].

use std::{io, sync::Arc, time::Duration};

use super::{address::Address, frame::FrameError, stream::is_timeout};
use crate::block::BlockId;

/// Why a transfer failed; one variant for each thing that a caller does differently.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum TransferError {
    /// Nobody answers there, for now.
    #[error("cannot connect to the block server at {address}: {source}")]
    Connect { address: Address, source: Arc<io::Error> },
    /// The connection broke before the answer was complete.
    #[error("the connection to the block server at {address} broke: {source}")]
    Broken { address: Address, source: Arc<io::Error> },
    /// The server was silent for too long in the middle of something.
    #[error("the block server at {address} was silent for {silence:?}")]
    TimedOut { address: Address, silence: Duration },
    /// The server has as many connections as it may have.
    #[error("the block server at {address} takes no more connections now")]
    Busy { address: Address },
    /// The two sides are configured differently, or the peer is not who it should be.
    #[error("the block server at {address} refused the connection: {reason}")]
    Refused { address: Address, reason: String },
    /// The server is not trusted: it could not prove that it knows the application's secret, or has a wrong certificate.
    #[error("the block server at {address} is not trusted: {reason}")]
    Untrusted { address: Address, reason: String },
    /// What came back is not our protocol.
    #[error("{address} does not answer like a block server: {reason}")]
    Protocol { address: Address, reason: String },
    /// The server does not have the block.
    #[error("{id} is not at {address}: {reason}")]
    Missing { address: Address, id: BlockId, reason: String },
    /// The server could not read or store the block.
    #[error("the block server at {address} could not serve {id}: {reason}")]
    Failed { address: Address, id: BlockId, reason: String },
    /// This side had no place for the block, or could not read what it was to send.
    #[error("{id} could not be kept or read on this side: {source}")]
    Local { id: BlockId, source: Arc<io::Error> },
    /// Nobody wants the block any more.
    #[error("the transfer was given up")]
    Cancelled,
}

impl TransferError {
    /// Whether the same request may succeed a little later.
    ///
    /// ```
    /// use firesteel_storage::transfer::{Address, TransferError};
    ///
    /// assert!(TransferError::Busy { address: Address::new("host", 7337) }.is_transient());
    /// assert!(!TransferError::Cancelled.is_transient());
    /// ```
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::Broken { .. } | Self::TimedOut { .. } | Self::Busy { .. } => true,
            Self::Refused { .. }
            | Self::Untrusted { .. }
            | Self::Protocol { .. }
            | Self::Missing { .. }
            | Self::Failed { .. }
            | Self::Local { .. }
            | Self::Cancelled => false,
        }
    }

    pub(super) fn of_io(address: &Address, silence: Duration, error: io::Error) -> Self {
        let address = address.clone();
        if is_timeout(&error) {
            Self::TimedOut { address, silence }
        } else {
            Self::Broken { address, source: Arc::new(error) }
        }
    }

    pub(super) fn of_frame(address: &Address, silence: Duration, error: FrameError) -> Self {
        match error {
            FrameError::Io(error) => Self::of_io(address, silence, error),
            FrameError::TooLong { .. } | FrameError::Malformed { .. } => {
                Self::Protocol { address: address.clone(), reason: error.to_string() }
            }
        }
    }
}
