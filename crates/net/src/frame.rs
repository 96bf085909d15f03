//! Length-prefixed messages: [`put`] and [`take`].
//!
//! A frame is its length as four bytes, little-endian, and that many bytes of postcard. The length is checked against
//! the reader's limit before memory is taken for it. Used by the handshake, and by protocols over a
//! [`Stream`](crate::Stream); the frames of a line are read by the line itself.

use std::io::{self, Read};

use postcard::ser_flavors::Flavor;
use serde::{Serialize, de::DeserializeOwned};

/// The bytes of a length.
pub(crate) const LENGTH_LEN: usize = 4;

/// Why a frame could not be read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum FrameError {
    /// The connection broke or timed out.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The peer claims more than is allowed.
    #[error("a message of {len} bytes is longer than the {limit} allowed here")]
    TooLong { len: usize, limit: usize },
    /// The bytes are no such message.
    #[error("a message of {len} bytes cannot be understood: {reason}")]
    Malformed { len: usize, reason: postcard::Error },
}

/// Appends `message` to `out` as a frame.
///
/// For messages of our own, which have no lengths unknown to serde and are far below 4 GiB; others panic.
///
/// ```
/// use firesteel_net::frame;
///
/// let mut bytes = Vec::new();
/// frame::put(&mut bytes, &("a", 7_u8));
/// let read: (String, u8) = frame::take(&mut bytes.as_slice(), 100, &mut Vec::new())?;
/// assert_eq!(read, ("a".to_owned(), 7));
/// # Ok::<(), frame::FrameError>(())
/// ```
pub fn put<T: Serialize>(out: &mut Vec<u8>, message: &T) {
    if let Err(error) = try_put(out, message, u32::MAX as usize) {
        unreachable!("our messages can be written and are short: {error}");
    }
}

/// Why a message could not be framed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PutError {
    #[error("a message of {len} bytes is longer than the {limit} allowed here")]
    TooLong { len: usize, limit: usize },
    #[error(transparent)]
    NotSerializable(#[from] postcard::Error),
}

/// Appends `message` to `out` as a frame; `out` is as before when the message cannot be written or is too long.
///
/// `limit` is below 4 GiB. Of a message that is too long no more than that is kept in memory.
pub(crate) fn try_put<T: Serialize>(out: &mut Vec<u8>, message: &T, limit: usize) -> Result<(), PutError> {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH_LEN]);
    let written = postcard::serialize_with_flavor(message, Appends { out, len: 0, limit });
    let error = match written {
        Ok(len) if len <= limit => {
            out[start..start + LENGTH_LEN].copy_from_slice(&(len as u32).to_le_bytes());
            return Ok(());
        }
        Ok(len) => PutError::TooLong { len, limit },
        Err(error) => error.into(),
    };
    out.truncate(start);
    Err(error)
}

/// Appends up to a limit, and only counts beyond it.
struct Appends<'a> {
    out: &'a mut Vec<u8>,
    len: usize,
    limit: usize,
}

impl Flavor for Appends<'_> {
    type Output = usize;

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.len += 1;
        if self.len <= self.limit {
            self.out.push(byte);
        }
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.len += bytes.len();
        if self.len <= self.limit {
            self.out.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn finalize(self) -> postcard::Result<usize> {
        Ok(self.len)
    }
}

/// Reads one frame of at most `limit` bytes. `scratch` is only reused memory.
pub fn take<T: DeserializeOwned>(
    from: &mut impl Read,
    limit: usize,
    scratch: &mut Vec<u8>,
) -> Result<T, FrameError> {
    let mut len = [0; LENGTH_LEN];
    from.read_exact(&mut len)?;
    let len = u32::from_le_bytes(len) as usize;
    if len > limit {
        return Err(FrameError::TooLong { len, limit });
    }
    scratch.clear();
    scratch.reserve_exact(len);
    if from.take(len as u64).read_to_end(scratch)? < len {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    decode(scratch)
}

/// Decodes the whole of `bytes`: left-over bytes are an error too.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FrameError> {
    let malformed = |reason| FrameError::Malformed { len: bytes.len(), reason };
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Ok(message),
        Ok((_, _)) => Err(malformed(postcard::Error::DeserializeBadEncoding)),
        Err(reason) => Err(malformed(reason)),
    }
}
