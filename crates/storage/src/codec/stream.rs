//! Rows of one type to frames and back: [`RowsWriter`] and [`RowsReader`].

use std::any::type_name;
use std::fmt;
use std::io::Read;
use std::slice;
use std::vec;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::buffer::free_if_large;
use super::compression::Compression;
use super::content::ContentSum;
use super::error::CodecError;
use super::format::RowError;
use super::frame::{FRAME_MAX, FRAME_ROWS_MAX, FRAME_TARGET, FrameReader, FrameSink, Layout};
use super::rows::Rows;

/// Collects rows and writes a frame whenever there are enough.
///
/// After an error some of the rows have been written and others not: drop it, and what it wrote.
///
/// ```
/// use firesteel_storage::codec::{Compression, FrameWriter, RowsReader, RowsWriter};
///
/// let mut writer = RowsWriter::new(FrameWriter::new(Vec::new(), Compression::Lz4)?);
/// writer.extend(&[(1_u64, 2_u64), (3, 4)])?;
/// writer.push(&(5, 6))?;
/// let bytes = writer.finish()?.into_inner();
///
/// let rows: Result<Vec<(u64, u64)>, _> = RowsReader::new(&bytes[..]).collect();
/// assert_eq!(rows?, [(1, 2), (3, 4), (5, 6)]);
/// # Ok::<(), firesteel_storage::codec::CodecError>(())
/// ```
pub struct RowsWriter<T, S> {
    codec: Rows<T>,
    sink: S,
    raw: Vec<u8>,
    rows: u32,
    frame_bytes: usize,
    /// The partition of the rows, and their sum.
    content: Option<(u32, ContentSum)>,
}

impl<T: Serialize + DeserializeOwned + 'static, S: FrameSink> RowsWriter<T, S> {
    /// A writer of frames to `sink`.
    pub fn new(sink: S) -> Self {
        Self::with_frame_bytes(sink, FRAME_TARGET)
    }

    /// A writer of frames of about this size, before compression: smaller ones where many writers or readers share
    /// little memory.
    pub fn with_frame_bytes(sink: S, frame_bytes: usize) -> Self {
        // Without a compressor the fast form is best; with one, the short form is much less work for it.
        let fixed = if sink.compression() == Compression::None { Rows::fixed() } else { None };
        let codec = fixed.unwrap_or_else(Rows::compact);
        Self { codec, sink, raw: Vec::new(), rows: 0, frame_bytes, content: None }
    }

    /// Sums the rows up on the way, as rows of this partition. They take the compact form then, in which they are summed.
    #[must_use]
    pub fn with_content_sum(self, partition: u32) -> Self {
        Self { codec: Rows::compact(), content: Some((partition, ContentSum::default())), ..self }
    }

    /// The sum of all rows up to now; `None` unless it was asked for.
    pub fn content_sum(&self) -> Option<ContentSum> {
        self.content.map(|(_, sum)| sum)
    }

    /// Writes one row.
    #[inline]
    pub fn push(&mut self, row: &T) -> Result<(), S::Error> {
        self.extend(slice::from_ref(row))
    }

    /// Writes rows, in order.
    #[inline]
    pub fn extend(&mut self, mut rows: &[T]) -> Result<(), S::Error> {
        while !rows.is_empty() {
            let room = (FRAME_ROWS_MAX - self.rows) as usize;
            let start = self.raw.len();
            let batch = &rows[..rows.len().min(room)];
            let encoded = match &mut self.content {
                None => self.codec.encode_up_to(batch, self.frame_bytes, &mut self.raw),
                Some((partition, sum)) => {
                    // One at a time, since only so it is known where each ends.
                    let encoded = self.codec.encode_up_to(&batch[..1], self.frame_bytes, &mut self.raw);
                    sum.add(*partition, &self.raw[start..]);
                    encoded
                }
            };
            let taken = match encoded {
                Ok(taken) => taken,
                Err(source) => {
                    self.raw.truncate(start);
                    return Err(CodecError::Encode { type_name: type_name::<T>(), source }.into());
                }
            };
            self.rows += taken as u32;
            rows = &rows[taken..];
            if self.raw.len() >= self.frame_bytes || self.rows == FRAME_ROWS_MAX {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes a frame of the rows that were collected.
    pub fn flush(&mut self) -> Result<(), S::Error> {
        if self.rows == 0 {
            return Ok(());
        }
        if self.raw.len() > FRAME_MAX {
            return Err(CodecError::TooLarge { bytes: self.raw.len(), limit: FRAME_MAX }.into());
        }
        let layout = if self.codec.is_fixed() { Layout::Fixed } else { Layout::Compact };
        self.sink.write_frame(self.rows, layout, &self.raw)?;
        self.raw.clear();
        free_if_large(&mut self.raw);
        self.rows = 0;
        Ok(())
    }

    /// Writes what is left and gives the sink back.
    pub fn finish(mut self) -> Result<S, S::Error> {
        self.flush()?;
        Ok(self.sink)
    }

    /// The bytes of the rows that wait for their frame.
    pub fn waiting_bytes(&self) -> usize {
        self.raw.len()
    }
}

impl<T, S> fmt::Debug for RowsWriter<T, S> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RowsWriter").field("waiting", &self.rows).finish_non_exhaustive()
    }
}

/// Reads rows from a stream of frames: one by one as an iterator, or a frame at a time.
///
/// Ends after the first error.
pub struct RowsReader<T, R> {
    compact: Rows<T>,
    fixed: Option<Rows<T>>,
    frames: FrameReader<R>,
    raw: Vec<u8>,
    batch: vec::IntoIter<T>,
    ended: bool,
}

impl<T: Serialize + DeserializeOwned + 'static, R: Read> RowsReader<T, R> {
    /// A reader of the frames in `inner`.
    pub fn new(inner: R) -> Self {
        Self {
            compact: Rows::compact(),
            fixed: Rows::fixed(),
            frames: FrameReader::new(inner),
            raw: Vec::new(),
            batch: Vec::new().into_iter(),
            ended: false,
        }
    }

    /// Appends the rows of the next frame to `out`; false at the end.
    ///
    /// Rows of a frame that the iterator has begun are not among them. A frame with an error gives none of its rows.
    pub fn next_batch(&mut self, out: &mut Vec<T>) -> Result<bool, CodecError> {
        if self.ended {
            return Ok(false);
        }
        let read = self.read_batch(out);
        self.ended = !matches!(read, Ok(true));
        read
    }

    fn read_batch(&mut self, out: &mut Vec<T>) -> Result<bool, CodecError> {
        let Some(frame) = self.frames.next_frame(&mut self.raw)? else { return Ok(false) };
        let decoded = match (frame.layout, self.fixed) {
            (Layout::Compact, _) => self.compact.decode(&self.raw, frame.rows as usize, out),
            (Layout::Fixed, Some(fixed)) => fixed.decode(&self.raw, frame.rows as usize, out),
            (Layout::Fixed, None) => Err(RowError::NotFixed),
        };
        free_if_large(&mut self.raw);
        decoded.map_err(|source| CodecError::Decode { type_name: type_name::<T>(), source })?;
        Ok(true)
    }
}

impl<T: Serialize + DeserializeOwned + 'static, R: Read> Iterator for RowsReader<T, R> {
    type Item = Result<T, CodecError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.batch.next() {
                return Some(Ok(row));
            }
            let mut batch = Vec::new();
            match self.next_batch(&mut batch) {
                Ok(true) => self.batch = batch.into_iter(),
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl<T, R> fmt::Debug for RowsReader<T, R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RowsReader").field("ended", &self.ended).finish_non_exhaustive()
    }
}
