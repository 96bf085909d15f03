//! Why a connection could not be made or broke: [`NetError`].

use std::{io, sync::Arc, time::Duration};

use crate::{address::Address, frame::FrameError, stream::is_timeout};

/// Why a connection could not be made or broke; one variant for each thing that a caller does differently.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum NetError {
    /// No port could be had to listen at.
    #[error("cannot listen at {host}, tried {tried}: {source}")]
    Listen { host: String, tried: String, source: Arc<io::Error> },
    /// No process answers there, for now.
    #[error("cannot connect to {address}: {source}")]
    Connect { address: Address, source: Arc<io::Error> },
    /// The connection broke before it had served its purpose.
    #[error("the connection to {address} broke: {source}")]
    Broken { address: Address, source: Arc<io::Error> },
    /// The peer was silent for too long in the middle of something.
    #[error("{address} was silent for {silence:?}")]
    TimedOut { address: Address, silence: Duration },
    /// The listener has as many connections as it may have.
    #[error("{address} takes no more connections now")]
    Busy { address: Address },
    /// The two sides are configured differently, or this side is not who it should be.
    #[error("{address} refused the connection: {reason}")]
    Refused { address: Address, reason: String },
    /// The listener is not trusted: it could not prove that it knows the secret, or has a wrong certificate.
    #[error("{address} is not trusted: {reason}")]
    Untrusted { address: Address, reason: String },
    /// What came back is not our protocol.
    #[error("{address} does not answer as it should: {reason}")]
    Protocol { address: Address, reason: String },
}

impl NetError {
    /// Whether the same attempt may succeed a little later.
    ///
    /// ```
    /// use firesteel_net::{Address, NetError};
    ///
    /// let address = Address::new("host", 7337);
    /// assert!(NetError::Busy { address: address.clone() }.is_transient());
    /// assert!(!NetError::Refused { address, reason: "no".to_owned() }.is_transient());
    /// ```
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::Broken { .. } | Self::TimedOut { .. } | Self::Busy { .. } => true,
            Self::Listen { .. } | Self::Refused { .. } | Self::Untrusted { .. } | Self::Protocol { .. } => {
                false
            }
        }
    }

    /// What became of a connection to `address` that was to be silent for `silence` at most.
    pub fn of_io(address: &Address, silence: Duration, error: io::Error) -> Self {
        let address = address.clone();
        if is_timeout(&error) {
            Self::TimedOut { address, silence }
        } else {
            Self::Broken { address, source: Arc::new(error) }
        }
    }

    /// The same for a frame that could not be read.
    pub fn of_frame(address: &Address, silence: Duration, error: FrameError) -> Self {
        match error {
            FrameError::Io(error) => Self::of_io(address, silence, error),
            FrameError::TooLong { .. } | FrameError::Malformed { .. } => {
                Self::Protocol { address: address.clone(), reason: error.to_string() }
            }
        }
    }
}
