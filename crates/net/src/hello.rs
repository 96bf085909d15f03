//! The messages of the handshake: a prelude that never changes, then frames.
//!
//! ```text
//! client: MAGIC version mode service     7 bytes, in clear, whatever the version
//! server: MAGIC version frame(Greeting)  in clear; a refusal says why
//!         TLS begins here when the mode says so
//! client: frame(ClientHello)     server: frame(ServerHello)
//! client: frame(ClientProof)     server: frame(Verdict)
//! ```
//!
//! What follows belongs to the service. Who sends what when is written in the `handshake` module.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::proof::PROOF_LEN;

/// The first bytes of every connection, in both directions.
pub const MAGIC: [u8; 4] = *b"FSTL";

/// The version of everything after the prelude. Two versions do not talk to each other.
pub const VERSION: u8 = 1;

/// The longest message before a peer has proved itself.
pub(crate) const HANDSHAKE_MAX: usize = 4 << 10;

/// The first bytes of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prelude {
    pub(crate) version: u8,
    pub(crate) tls: bool,
    /// The number of a service, which may not be one that this side knows.
    pub(crate) service: u8,
}

impl Prelude {
    pub(crate) const LEN: usize = 7;

    pub(crate) fn encode(self) -> [u8; Self::LEN] {
        let [a, b, c, d] = MAGIC;
        [a, b, c, d, self.version, u8::from(self.tls), self.service]
    }

    /// None when these are not the first bytes of our protocol.
    pub(crate) fn decode(bytes: [u8; Self::LEN]) -> Option<Self> {
        let [a, b, c, d, version, mode, service] = bytes;
        ([a, b, c, d] == MAGIC && mode <= 1).then_some(Self { version, tls: mode == 1, service })
    }
}

/// The server's first message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Greeting {
    Welcome,
    Refused(Refusal),
}

/// Why a server closes a connection before it served anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Refusal {
    Busy,
    Version,
    TlsNeeded,
    TlsUnknown,
    NoService,
    NotAuthenticated,
    Malformed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Busy => "it has as many connections as it may have",
            Self::Version => "it speaks another version of the protocol; run the same release everywhere",
            Self::TlsNeeded => "it takes only TLS; configure TLS on this side too",
            Self::TlsUnknown => "it has no certificate; configure TLS on both sides or on neither",
            Self::NoService => "it does not offer this service; is the port that of another process?",
            Self::NotAuthenticated => {
                "it does not know the application or cluster, or the secret is not the same"
            }
            Self::Malformed => "it did not understand what this side sent",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClientHello {
    pub(crate) realm: String,
    pub(crate) nonce: [u8; PROOF_LEN],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerHello {
    pub(crate) nonce: [u8; PROOF_LEN],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClientProof {
    pub(crate) proof: [u8; PROOF_LEN],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Verdict {
    Accepted { proof: [u8; PROOF_LEN] },
    Refused(Refusal),
}
