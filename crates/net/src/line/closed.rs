//! Why a line ended: [`Closed`], and why a message was not sent: [`SendError`].

use std::{io, time::Duration};

/// Why a line ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum Closed {
    /// This side closed it, or dropped the last of its clones.
    #[error("this side closed the line")]
    ByUs,
    /// The peer closed it in order, after everything that it had sent.
    #[error("the peer closed the line")]
    ByPeer,
    /// Not a byte came, though the peer should have pinged.
    #[error("the peer was silent for {silence:?}")]
    Silent { silence: Duration },
    /// The peer did not take what was sent to it.
    #[error("the peer is too slow: {queued} bytes wait for it, and {max} may")]
    Slow { queued: u64, max: u64 },
    /// The connection broke, or the peer's process died.
    #[error("the line broke: {0}")]
    Broken(#[source] io::Error),
    /// The peer sent what is not a message.
    #[error("the peer sent a message of {len} bytes that cannot be understood: {reason}")]
    Malformed { len: usize, reason: String },
    /// The peer sent a message that is longer than allowed.
    #[error("the peer sent a message of {bytes} bytes, and {max} are allowed")]
    TooLarge { bytes: usize, max: usize },
}

/// Why a message was not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum SendError {
    /// The line has ended, or just did because its peer is too slow. The handler hears why.
    #[error("the line is closed")]
    Closed,
    /// The message is longer than allowed. The line is as good as before.
    #[error("a message of {bytes} bytes is longer than the {max} that a line carries")]
    TooLarge { bytes: usize, max: usize },
    /// The message cannot be written. The line is as good as before.
    #[error("the message cannot be serialized: {reason}")]
    NotSerializable { reason: String },
}
