//! Whose blocks are meant and who serves them: [`PeerAddr`].

use std::fmt;

use firesteel_net::Address;
use firesteel_types::{ExecutorId, Host};
use serde::{Deserialize, Serialize};

/// An executor and the server that has its blocks.
///
/// The server need not be the executor itself: a worker may serve the files of all its executors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PeerAddr {
    /// The executor that made the blocks.
    pub executor: ExecutorId,
    /// The server's host.
    pub host: Host,
    /// The server's port.
    pub port: u16,
}

impl PeerAddr {
    /// The blocks of `executor`, served at `port` of `host`.
    pub fn new(executor: ExecutorId, host: impl Into<Host>, port: u16) -> Self {
        Self { executor, host: host.into(), port }
    }

    /// The server alone: executors behind one server share its connections.
    pub fn address(&self) -> Address {
        Address { host: self.host.clone(), port: self.port }
    }
}

impl fmt::Display for PeerAddr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} at {}:{}", self.executor, self.host, self.port)
    }
}
