//! The bytes of a file as a stream, wherever it lies and however it is compressed: [`Source`].
//!
//! A source counts what it gave, so that an error can name the place. It knows neither lines nor records.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::cloud;
use super::codec::{self, Codec};
use super::error::IoError;
use super::location::Location;

/// What to do about input files that cannot be read as they should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReadOptions {
    /// A damaged file ends at the damage; what was read before counts.
    pub ignore_corrupt_files: bool,
    /// A file that is gone when it is opened is empty.
    pub ignore_missing_files: bool,
}

impl ReadOptions {
    /// Whether the input may end here instead of failing; says so in the log.
    pub fn forgives(self, error: &IoError) -> bool {
        let forgiven = self.ignore_corrupt_files && error.is_corrupt()
            || self.ignore_missing_files && error.is_missing();
        if forgiven {
            tracing::warn!(%error, "skipped the rest of an input file");
        }
        forgiven
    }
}

/// The bytes of a file from some place on.
pub(crate) struct Source {
    location: Location,
    codec: Option<Codec>,
    bytes: Box<dyn Read + Send>,
    /// Where the next byte stands, counted after decompression.
    offset: u64,
}

impl Source {
    /// Opens a file as it is, from byte `start` on.
    ///
    /// The caller wants what lies before `soft_end` for sure, and maybe a little of what follows; a remote reader
    /// fetches ahead up to there.
    pub(crate) fn open_raw(location: &Location, start: u64, soft_end: u64) -> Result<Self, IoError> {
        let bytes: Box<dyn Read + Send> = match location {
            Location::Local(path) => Box::new(open_local(location, path, start)?),
            Location::Remote { .. } => cloud::open(location, start, soft_end)?,
        };
        Ok(Self { location: location.clone(), codec: None, bytes, offset: start })
    }

    /// Opens a file from its beginning, decompressed as its suffix tells.
    pub(crate) fn open_decoded(location: &Location) -> Result<Self, IoError> {
        let codec = Codec::of(location);
        codec.map_or(Ok(()), |codec| codec.require(location))?;
        let mut source = Self::open_raw(location, 0, u64::MAX)?;
        let Some(codec) = codec else { return Ok(source) };
        source.codec = Some(codec);
        match codec::decoder(codec, source.bytes) {
            Ok(bytes) => Ok(Self { bytes, ..source }),
            Err(error) => Err(read_error(location, Some(codec), 0, error)),
        }
    }

    /// Reads until `out` is full or the file ends; returns how much was read.
    pub(crate) fn fill(&mut self, out: &mut [u8]) -> Result<usize, IoError> {
        let mut filled = 0;
        while filled < out.len() {
            match self.bytes.read(&mut out[filled..]) {
                Ok(0) => break,
                Ok(read) => {
                    filled += read;
                    self.offset += read as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(error) => return Err(read_error(&self.location, self.codec, self.offset, error)),
            }
        }
        Ok(filled)
    }

    /// Reads the rest of the file.
    pub(crate) fn read_to_end(&mut self, out: &mut Vec<u8>) -> Result<(), IoError> {
        let before = out.len();
        let result = self.bytes.read_to_end(out);
        self.offset += (out.len() - before) as u64;
        match result {
            Ok(_) => Ok(()),
            Err(error) => Err(read_error(&self.location, self.codec, self.offset, error)),
        }
    }

    /// The file it reads.
    pub(crate) fn location(&self) -> &Location {
        &self.location
    }

    /// Where the next byte stands, counted after decompression.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }
}

fn open_local(location: &Location, path: &str, start: u64) -> Result<File, IoError> {
    // It was a file when it was listed. To open a named pipe would wait for a writer, perhaps without end.
    let without_waiting = OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(without_waiting).open(path);
    let mut file = opened.map_err(|error| match error.kind() {
        ErrorKind::NotFound => IoError::missing(location),
        _ => IoError::read(location, start, error),
    })?;
    if !file.metadata().map_err(|error| IoError::read(location, start, error))?.is_file() {
        return Err(IoError::NotAFile { location: location.to_string() });
    }
    if start > 0 {
        file.seek(SeekFrom::Start(start)).map_err(|error| IoError::read(location, start, error))?;
    }
    Ok(file)
}

/// Tells an answer of the system or a store, which has an error number or is an [`IoError`] already, from damage that
/// the decoder found.
fn read_error(location: &Location, codec: Option<Codec>, offset: u64, error: std::io::Error) -> IoError {
    let error = match IoError::from_inside(error) {
        Ok(error) => return error,
        Err(error) => error,
    };
    match codec {
        Some(codec) if error.raw_os_error().is_none() => {
            IoError::CorruptCompression { location: location.to_string(), codec, offset, source: error }
        }
        _ => IoError::read(location, offset, error),
    }
}
