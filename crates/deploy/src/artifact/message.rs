//! What is said about artifacts on a stream, as frames; the content itself follows in between, as it is.

use firesteel_scheduler::deploy::ContentHash;
use serde::{Deserialize, Serialize};

/// The longest frame: a hash and a few words.
pub(super) const MAX_FRAME: usize = 16 << 10;

/// A client's wish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Request {
    /// The content of this hash. Answered by `Content` or `Refused`.
    Get { sha256: ContentHash },
    /// To give content. Answered by `Stored`, or by `Send` and, when the content was sent, by `Stored` or `Refused`.
    Put { sha256: ContentHash, len: u64 },
}

/// A server's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// So many bytes follow.
    Content { len: u64 },
    /// The content may be sent.
    Send,
    /// The content is there.
    Stored,
    /// No, and why.
    Refused { reason: String },
}
