//! Where fetched blocks go: [`Sink`].

use std::{
    fmt,
    io::{self, Write},
};

use bytes::Bytes;

use super::error::TransferError;
use crate::block::BlockId;

/// Takes the blocks of a fetch.
///
/// Each id of the request is delivered exactly once, as a block or as the reason why not.
pub trait Sink {
    /// Chooses where a block of `len` bytes goes, before any of it is read.
    ///
    /// Called again for the same block when its connection breaks: the block then comes again from its first byte,
    /// and what the earlier destination got is worth nothing. An error is delivered as [`TransferError::Local`].
    fn place(&mut self, id: &BlockId, len: u64) -> io::Result<Destination>;

    /// Takes a block that is complete, or the reason why it never will be.
    fn deliver(&mut self, id: BlockId, result: Result<Incoming, TransferError>);

    /// Whether the reader still waits. When not, the rest is delivered as [`TransferError::Cancelled`].
    fn is_wanted(&self) -> bool {
        true
    }
}

/// Where the bytes of one block go.
pub enum Destination {
    /// Into memory that is taken for it.
    Memory,
    /// To a writer, a piece at a time: for blocks too large for memory.
    Writer(Box<dyn Write + Send>),
}

impl fmt::Debug for Destination {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Memory => "Memory",
            Self::Writer(_) => "Writer",
        })
    }
}

/// A block that arrived.
#[derive(Debug)]
pub enum Incoming {
    /// In memory.
    Bytes(Bytes),
    /// All of it went to the writer, which was flushed.
    Written {
        /// The number of bytes.
        len: u64,
    },
}

/// Everything into memory, up to a length.
pub(super) struct InMemory<'a> {
    pub(super) max_len: u64,
    pub(super) deliver: &'a mut dyn FnMut(BlockId, Result<Bytes, TransferError>),
}

impl Sink for InMemory<'_> {
    fn place(&mut self, _: &BlockId, len: u64) -> io::Result<Destination> {
        if len > self.max_len {
            let text = format!("it has {len} bytes, and {} may go to memory", self.max_len);
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, text));
        }
        Ok(Destination::Memory)
    }

    fn deliver(&mut self, id: BlockId, result: Result<Incoming, TransferError>) {
        let bytes = result.map(|incoming| match incoming {
            Incoming::Bytes(bytes) => bytes,
            Incoming::Written { .. } => unreachable!("this sink places everything in memory"),
        });
        (self.deliver)(id, bytes);
    }
}
