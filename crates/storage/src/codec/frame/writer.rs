//! Writes frames: [`FrameWriter`].

use std::fmt;
use std::io::Write;

use super::super::compression::{Compression, Compressor};
use super::super::error::CodecError;
use super::header::{FRAME_MAX, FRAME_ROWS_MAX, Header, Layout};

/// Where frames go: a stream, or the partition of a file that is being written.
pub trait FrameSink {
    /// What a failure to write is here.
    type Error: From<CodecError>;

    /// What will be done to the frames, which decides how rows are best laid out.
    fn compression(&self) -> Compression;

    /// Writes `rows` rows, which are `raw` bytes before compression.
    fn write_frame(&mut self, rows: u32, layout: Layout, raw: &[u8]) -> Result<(), Self::Error>;
}

impl<S: FrameSink + ?Sized> FrameSink for &mut S {
    type Error = S::Error;

    fn compression(&self) -> Compression {
        (**self).compression()
    }

    fn write_frame(&mut self, rows: u32, layout: Layout, raw: &[u8]) -> Result<(), S::Error> {
        (**self).write_frame(rows, layout, raw)
    }
}

/// A [`FrameSink`] in front of a stream.
///
/// Writes a frame by two calls, the header and the payload: put a buffer behind it if frames may be small.
pub struct FrameWriter<W> {
    inner: W,
    compression: Compression,
    compressor: Compressor,
}

impl<W: Write> FrameWriter<W> {
    /// A writer of frames to `inner`.
    pub fn new(inner: W, compression: Compression) -> Result<Self, CodecError> {
        Ok(Self { inner, compression, compressor: Compressor::new(compression)? })
    }

    /// The stream behind.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// The stream behind. Whole frames may be written to it directly.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// Gives the stream back. Every frame has been written to it.
    pub fn into_inner(self) -> W {
        self.inner
    }
}

impl<W: Write> FrameSink for FrameWriter<W> {
    type Error = CodecError;

    fn compression(&self) -> Compression {
        self.compression
    }

    fn write_frame(&mut self, rows: u32, layout: Layout, raw: &[u8]) -> Result<(), CodecError> {
        assert!((1..=FRAME_ROWS_MAX).contains(&rows), "a frame of {rows} rows");
        if raw.len() > FRAME_MAX {
            return Err(CodecError::TooLarge { bytes: raw.len(), limit: FRAME_MAX });
        }
        let (form, payload) = self.compressor.compress(raw)?;
        let header =
            Header { raw_bytes: raw.len() as u32, stored_bytes: payload.len() as u32, rows, layout, form };
        self.inner.write_all(&header.encode(payload))?;
        self.inner.write_all(payload)?;
        self.compressor.free_if_large();
        Ok(())
    }
}

impl<W> fmt::Debug for FrameWriter<W> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("FrameWriter").field("compression", &self.compression).finish_non_exhaustive()
    }
}
