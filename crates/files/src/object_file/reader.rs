//! Reading rows from an object file: [`ObjectReader`].

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;

use firesteel_storage::codec::{CodecError, Shape, format::Decoder};
use serde::de::DeserializeOwned;

use super::format::{BlockHead, Compression, Header, content_check, shape_from_bytes};
use crate::error::IoError;
use crate::location::Location;
use crate::source::{ReadOptions, Source};
use firesteel_storage::memory::BatchLimit;

/// Memory for a block is taken in steps of this size, so that a false length cannot ask for all of it at once.
const STEP_BYTES: usize = 16 << 20;

/// The most rows that are decoded in one go.
const BATCH_ROWS_MAX: usize = 1024;

/// Reads the rows of an object file, a block at a time.
pub struct ObjectReader<T> {
    /// `None` when there is nothing more to read.
    source: Option<Source>,
    block: Block,
    options: ReadOptions,
    compression: Compression,
    rows_read: u64,
    rows: PhantomData<fn() -> T>,
}

/// What is left of a block that was read.
#[derive(Default)]
struct Block {
    plain: Vec<u8>,
    /// The bytes of rows that were given out.
    decoded_bytes: usize,
    rows_left: u64,
}

impl<T: DeserializeOwned> ObjectReader<T> {
    /// Opens an object file, checks its header, and whether it holds rows of this type.
    pub fn open(location: &Location, options: ReadOptions) -> Result<Self, IoError> {
        let (source, compression) = match open::<T>(location) {
            Ok((source, header)) => (Some(source), header.compression),
            Err(error) if options.forgives(&error) => (None, Compression::None),
            Err(error) => return Err(error),
        };
        let block = Block::default();
        Ok(Self { source, block, options, compression, rows_read: 0, rows: PhantomData })
    }

    /// Adds some rows to `out`, of one block and few if they are large; returns whether there may be more.
    ///
    /// A block is small, but what its rows take in memory may be many times as much.
    pub fn next_batch(&mut self, out: &mut Vec<T>) -> Result<bool, IoError> {
        let result = self.try_next(out);
        if !matches!(result, Ok(true)) {
            self.source = None;
        }
        match result {
            Err(error) if self.options.forgives(&error) => Ok(false),
            result => result,
        }
    }

    fn try_next(&mut self, out: &mut Vec<T>) -> Result<bool, IoError> {
        let Some(source) = &mut self.source else { return Ok(false) };
        if self.block.rows_left > 0 {
            self.rows_read += self.block.decode(source.location(), self.rows_read, out)?;
            return Ok(true);
        }
        let start = source.offset();
        let mut head = [0; BlockHead::BYTES];
        fill(source, &mut head)?;
        let damaged = |source: &Source, reason: String| corrupt(source.location(), start, reason);
        let Some(head) = BlockHead::from_bytes(&head) else {
            return Err(damaged(source, "the head of a block is damaged".to_owned()));
        };
        match head {
            BlockHead::End { total_rows } => {
                if total_rows != self.rows_read {
                    let reason = format!("it has {} rows and says {total_rows}", self.rows_read);
                    return Err(damaged(source, reason));
                }
                if source.fill(&mut [0])? != 0 {
                    return Err(damaged(source, "something follows its end".to_owned()));
                }
                Ok(false)
            }
            BlockHead::Block { stored_length, plain_length, rows, content_check: check } => {
                let stored = read_content(source, stored_length)?;
                if content_check(&stored) != check {
                    return Err(damaged(source, "the check of a block does not fit its content".to_owned()));
                }
                let plain = self.compression.decompress(stored, plain_length);
                let plain = plain.map_err(|reason| damaged(source, reason))?;
                self.block = Block { plain, decoded_bytes: 0, rows_left: rows };
                self.rows_read += self.block.decode(source.location(), self.rows_read, out)?;
                Ok(true)
            }
        }
    }
}

impl Block {
    /// Adds rows to `out` and says how many; `first_row` is the number of the first one in the file.
    fn decode<T: DeserializeOwned>(
        &mut self,
        location: &Location,
        first_row: u64,
        out: &mut Vec<T>,
    ) -> Result<u64, IoError> {
        let failed = |row, source| {
            let source = Box::new(CodecError::Decode { type_name: type_name::<T>(), source });
            IoError::Decode { location: location.to_string(), row, source }
        };
        let rows_max = const { BatchLimit::rows::<T>(BATCH_ROWS_MAX) as u64 }.min(self.rows_left);
        let mut decoder = Decoder::new(&self.plain[self.decoded_bytes..]);
        let (limit, mut rows) = (BatchLimit::start(), 0);
        while rows < rows_max && !limit.is_reached::<T>() {
            out.push(decoder.take().map_err(|source| failed(first_row + rows, source))?);
            rows += 1;
        }
        self.rows_left -= rows;
        self.decoded_bytes = self.plain.len() - decoder.left();
        if self.rows_left == 0 {
            decoder.finish().map_err(|source| failed(first_row + rows, source))?;
            *self = Self::default();
        }
        Ok(rows)
    }
}

impl<T> fmt::Debug for ObjectReader<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ObjectReader")
            .field("location", &self.source.as_ref().map(Source::location))
            .field("rows_read", &self.rows_read)
            .finish_non_exhaustive()
    }
}

fn open<T: DeserializeOwned>(location: &Location) -> Result<(Source, Header), IoError> {
    let mut source = Source::open_raw(location, 0, u64::MAX)?;
    let mut header = [0; Header::BYTES];
    fill(&mut source, &mut header)?;
    let header = Header::from_bytes(&header).map_err(|reason| corrupt(location, 0, reason))?;
    let at = source.offset();
    let shape = read_content(&mut source, u64::from(header.shape_length) + 8)?;
    let holds = shape_from_bytes(&shape)
        .ok_or_else(|| corrupt(location, at, "the shape of its rows is damaged".to_owned()))?;
    let asked = Shape::of::<T>().map_err(|source| IoError::Unreadable {
        location: location.to_string(),
        source: Box::new(CodecError::Decode { type_name: type_name::<T>(), source }),
    })?;
    if holds != asked {
        let (holds, asked) = (holds.to_string(), asked.to_string());
        return Err(IoError::OtherRows { location: location.to_string(), holds, asked });
    }
    Ok((source, header))
}

/// Fills `out` or fails, because an object file never ends there.
fn fill(source: &mut Source, out: &mut [u8]) -> Result<(), IoError> {
    let read = source.fill(out)?;
    if read < out.len() {
        return Err(corrupt(source.location(), source.offset(), "it ends too early".to_owned()));
    }
    Ok(())
}

fn read_content(source: &mut Source, length: u64) -> Result<Vec<u8>, IoError> {
    let mut content = Vec::new();
    while (content.len() as u64) < length {
        let before = content.len();
        let step = (length - before as u64).min(STEP_BYTES as u64) as usize;
        content.resize(before + step, 0);
        fill(source, &mut content[before..])?;
    }
    Ok(content)
}

fn corrupt(location: &Location, offset: u64, reason: String) -> IoError {
    IoError::CorruptObjectFile { location: location.to_string(), offset, reason }
}
