//! Reads frames: [`FrameReader`].

use std::fmt;
use std::io::{self, Read};

use super::super::buffer::free_if_large;
use super::super::compression::{Decompressor, Stored};
use super::super::error::CodecError;
use super::header::{HEADER_BYTES, Header, Layout};

/// A payload is read in pieces of at least this length, so that a wrong length cannot reserve gigabytes at once.
const PIECE_BYTES: usize = 1 << 20;

/// What a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// How many rows.
    pub rows: u32,
    /// How they were laid out.
    pub layout: Layout,
}

/// Takes frames from a stream, one by one, and undoes their compression.
///
/// Put a buffer before a stream whose calls are dear: each frame asks for its header first.
pub struct FrameReader<R> {
    inner: R,
    stored: Vec<u8>,
    decompressor: Decompressor,
}

impl<R: Read> FrameReader<R> {
    /// A reader at the beginning of a frame.
    pub fn new(inner: R) -> Self {
        Self { inner, stored: Vec::new(), decompressor: Decompressor::default() }
    }

    /// Puts the bytes of the next frame's rows into `raw`, instead of what was there; `None` at the end.
    ///
    /// A frame that is damaged or cut is an error. The stream is then somewhere inside it, so there is no next one.
    pub fn next_frame(&mut self, raw: &mut Vec<u8>) -> Result<Option<Frame>, CodecError> {
        let Some((header, check)) = self.next_header()? else { return Ok(None) };
        let length = header.stored_bytes as usize;
        if header.form == Stored::Plain {
            read_payload(&mut self.inner, length, raw)?;
            header.verify(check, raw)?;
        } else {
            read_payload(&mut self.inner, length, &mut self.stored)?;
            header.verify(check, &self.stored)?;
            // Sound, so its length is the one that was written, and may be reserved.
            raw.resize(header.raw_bytes as usize, 0);
            self.decompressor.decompress(header.form, &self.stored, raw)?;
            free_if_large(&mut self.stored);
        }
        Ok(Some(Frame { rows: header.rows, layout: header.layout }))
    }

    /// Checks the next frame without undoing its compression; gives its rows and their bytes, `None` at the end.
    fn check_frame(&mut self) -> Result<Option<(u64, u64)>, CodecError> {
        let Some((header, check)) = self.next_header()? else { return Ok(None) };
        read_payload(&mut self.inner, header.stored_bytes as usize, &mut self.stored)?;
        header.verify(check, &self.stored)?;
        Ok(Some((u64::from(header.rows), u64::from(header.raw_bytes))))
    }

    fn next_header(&mut self) -> Result<Option<(Header, u32)>, CodecError> {
        let mut bytes = [0; HEADER_BYTES];
        match read_full(&mut self.inner, &mut bytes)? {
            0 => Ok(None),
            HEADER_BYTES => Header::decode(&bytes).map(Some),
            read => Err(CodecError::Truncated { missing: HEADER_BYTES - read }),
        }
    }

    /// Gives the stream back.
    pub fn into_inner(self) -> R {
        self.inner
    }
}

/// What a block holds, found without decoding a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// How many rows.
    pub rows: u64,
    /// How many bytes they are before compression.
    pub raw_bytes: u64,
}

/// Goes through the frames of a block and checks each of them.
///
/// ```
/// use firesteel_storage::codec::{Compression, FrameWriter, RowsWriter, survey};
///
/// let mut writer = RowsWriter::new(FrameWriter::new(Vec::new(), Compression::Lz4)?);
/// writer.extend(&[7_u64; 1000])?;
/// let mut bytes = writer.finish()?.into_inner();
/// assert_eq!(survey(&bytes[..])?.rows, 1000);
/// if let Some(last) = bytes.last_mut() {
///     *last ^= 1;
/// }
/// assert!(survey(&bytes[..]).is_err());
/// # Ok::<(), firesteel_storage::codec::CodecError>(())
/// ```
pub fn survey(block: impl Read) -> Result<Survey, CodecError> {
    let (mut reader, mut found) = (FrameReader::new(block), Survey::default());
    while let Some((rows, raw_bytes)) = reader.check_frame()? {
        found.rows += rows;
        found.raw_bytes += raw_bytes;
    }
    Ok(found)
}

fn read_payload(inner: &mut impl Read, length: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
    let mut filled = 0;
    while filled < length {
        let end = length.min(filled + PIECE_BYTES.max(filled));
        out.resize(end, 0);
        let read = read_full(inner, &mut out[filled..])?;
        if filled + read < end {
            return Err(CodecError::Truncated { missing: length - filled - read });
        }
        filled = end;
    }
    out.truncate(length);
    Ok(())
}

/// Reads until `out` is full or the stream ends.
fn read_full(inner: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < out.len() {
        match inner.read(&mut out[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

impl<R> fmt::Debug for FrameReader<R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("FrameReader").finish_non_exhaustive()
    }
}
