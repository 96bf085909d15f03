//! What can go wrong between rows and bytes: [`CodecError`].

use std::io;

use super::format::RowError;

/// Why rows cannot be written or bytes cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum CodecError {
    /// A value has no bytes. Another attempt will not help.
    #[error("cannot serialize a value of type {type_name}: {source}")]
    Encode { type_name: &'static str, source: RowError },

    /// Sound bytes are not values of this type: another program wrote them, or its `Deserialize` refuses.
    #[error("cannot deserialize values of type {type_name}: {source}")]
    Decode { type_name: &'static str, source: RowError },

    /// A row is larger than a frame can be.
    #[error(
        "a row takes {bytes} bytes, more than the {limit} bytes that one row may take; split it into several"
    )]
    TooLarge { bytes: usize, limit: usize },

    /// The bytes end inside a frame.
    #[error("the bytes end inside a frame, {missing} bytes before its end")]
    Truncated { missing: usize },

    /// No writer makes such a frame.
    #[error("the header of a frame is damaged: {reason}")]
    Header { reason: &'static str },

    /// The frame's bytes are not those that were written.
    #[error("a frame is damaged: its check is {actual:08x}, not {expected:08x}")]
    Check { expected: u32, actual: u32 },

    /// The frame's bytes are sound, but not compressed as its header states.
    #[error("a frame cannot be decompressed: {reason}")]
    Decompress { reason: String },

    /// The compressor itself failed, for want of memory.
    #[error("the compressor failed: {source}")]
    Compressor { source: io::Error },

    /// Reading or writing the bytes failed.
    #[error("{source}")]
    Io { source: io::Error },
}

impl CodecError {
    /// Whether the bytes are other than those that were written, so that another copy of them may be sound.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Truncated { .. } | Self::Header { .. } | Self::Check { .. } | Self::Decompress { .. } => {
                true
            }
            Self::Io { source } => {
                matches!(source.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof)
            }
            Self::Encode { .. } | Self::Decode { .. } | Self::TooLarge { .. } | Self::Compressor { .. } => {
                false
            }
        }
    }

    pub(super) fn compressor(source: io::Error) -> Self {
        Self::Compressor { source }
    }
}

impl From<io::Error> for CodecError {
    fn from(source: io::Error) -> Self {
        Self::Io { source }
    }
}
