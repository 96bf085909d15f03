//! What waits to be sent: small pieces go together in one system call, files by the kernel: [`Outgoing`].

use std::{
    io::{self, IoSlice, Write},
    mem,
};

use bytes::Bytes;
use firesteel_net::Stream;

use super::payload::Payload;

/// So many bytes in memory are sent without waiting for more.
const QUEUED_BYTES_MAX: usize = 256 << 10;

/// So many pieces go in one system call.
const QUEUED_PIECES_MAX: usize = 256;

/// A queue of bytes in memory before a stream.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    pieces: Vec<Bytes>,
    bytes: usize,
}

impl Outgoing {
    /// Queues bytes, and sends what is queued when it is enough.
    pub(super) fn push(&mut self, stream: &mut Stream, piece: Bytes) -> io::Result<()> {
        if piece.is_empty() {
            return Ok(());
        }
        self.bytes += piece.len();
        self.pieces.push(piece);
        if self.bytes >= QUEUED_BYTES_MAX || self.pieces.len() >= QUEUED_PIECES_MAX {
            return self.flush(stream);
        }
        Ok(())
    }

    /// Queues or sends a payload, after everything that is queued.
    pub(super) fn payload(&mut self, stream: &mut Stream, payload: &Payload) -> io::Result<()> {
        match payload {
            Payload::Bytes(bytes) => self.push(stream, bytes.clone()),
            Payload::File { len: 0, .. } => Ok(()),
            Payload::File { file, offset, len } => {
                self.send(stream, Stream::write_more)?;
                stream.send_file(file, *offset, *len)
            }
            Payload::Many(parts) => parts.iter().try_for_each(|part| self.payload(stream, part)),
        }
    }

    /// Sends everything.
    pub(super) fn flush(&mut self, stream: &mut Stream) -> io::Result<()> {
        self.send(stream, Stream::write_vectored)?;
        stream.flush()
    }

    fn send(
        &mut self,
        stream: &mut Stream,
        write: fn(&mut Stream, &[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<()> {
        let pieces = mem::take(&mut self.pieces);
        self.bytes = 0;
        let mut slices: Vec<_> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
        let mut left = slices.as_mut_slice();
        while !left.is_empty() {
            match write(stream, left) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut left, written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
