//! A part of a file that holds one block, or several in a row: [`FileRange`].

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{Damage, ShuffleFileError};
use super::summary::Summary;
use crate::codec::{Checksum, ChecksumMismatch, CodecError, RowsReader, VerifyingReader};

/// Read at a time when frames are small.
const BUFFER_BYTES: u64 = 64 * 1024;

/// Some bytes of a file: where they are, and what they must be.
///
/// Keeps the file open, so it can be read even after the file was removed. Any number of readers may read it at once.
#[derive(Clone, Debug)]
pub struct FileRange {
    file: Arc<File>,
    path: Arc<Path>,
    offset: u64,
    summary: Summary,
}

impl FileRange {
    pub(super) fn new(file: Arc<File>, path: Arc<Path>, offset: u64, summary: Summary) -> Self {
        Self { file, path, offset, summary }
    }

    /// The file. Others read it too: use calls that take an offset.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Where the file is, or was.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the first byte is.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// How many bytes there are: never none.
    #[expect(clippy::len_without_is_empty, reason = "an empty block has no range")]
    pub fn len(&self) -> u64 {
        self.summary.checksum.bytes()
    }

    /// What the bytes must be.
    pub fn checksum(&self) -> Checksum {
        self.summary.checksum
    }

    /// How many rows there are, and how large: known without reading them.
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// A stream of the bytes that fails at its end if they are not those that were written.
    pub fn reader(&self) -> RangeReader {
        let at = ReadAt { file: Arc::clone(&self.file), position: self.offset };
        let capacity = self.len().min(BUFFER_BYTES) as usize;
        RangeReader {
            inner: BufReader::with_capacity(capacity, VerifyingReader::new(at, self.summary.checksum)),
        }
    }

    /// The rows, of which no one is wrong: each frame is checked before its rows are given out.
    ///
    /// Hand an error of it to [`diagnose`](Self::diagnose).
    pub fn rows<T: Serialize + DeserializeOwned + 'static>(&self) -> RowsReader<T, RangeReader> {
        RowsReader::new(self.reader())
    }

    /// Reads all bytes and compares the checksum.
    pub fn verify(&self) -> Result<(), ShuffleFileError> {
        io::copy(&mut self.reader(), &mut io::sink()).map_err(|error| self.broken(error))?;
        Ok(())
    }

    /// Finds what is really wrong when reading the rows failed.
    ///
    /// A frame that cannot be read is only a symptom, so this reads the bytes again: is the file too short, are the bytes
    /// others than were written, or were they written wrong?
    pub fn diagnose(&self, error: CodecError) -> ShuffleFileError {
        match error {
            CodecError::Io { source } => self.broken(source),
            error if error.is_damage() => match self.verify() {
                Err(found) => found,
                Ok(()) => {
                    let (from, to) = (self.offset, self.offset + self.len());
                    self.damaged(Damage::Decode { from, to, reason: error.to_string() })
                }
            },
            error => error.into(),
        }
    }

    /// What a failure of the [reader](Self::reader) means.
    pub(super) fn broken(&self, source: io::Error) -> ShuffleFileError {
        if let Some(ChecksumMismatch { expected, actual }) = ChecksumMismatch::behind(&source) {
            let (from, to) = (self.offset, self.offset + self.len());
            return self.damaged(Damage::Checksum { from, to, expected, actual });
        }
        match (source.kind(), self.file.metadata()) {
            (io::ErrorKind::UnexpectedEof, Ok(metadata)) => {
                self.damaged(Damage::Length { expected: self.offset + self.len(), actual: metadata.len() })
            }
            _ => ShuffleFileError::Unreadable { path: self.path.to_path_buf(), source },
        }
    }

    fn damaged(&self, damage: Damage) -> ShuffleFileError {
        ShuffleFileError::Damaged { path: self.path.to_path_buf(), damage }
    }
}

/// A stream of the bytes of a [`FileRange`], verified at its end.
#[derive(Debug)]
pub struct RangeReader {
    inner: BufReader<VerifyingReader<ReadAt>>,
}

impl Read for RangeReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.inner.read(out)
    }
}

/// Reads a file at a position of its own, independent of other readers.
#[derive(Debug)]
struct ReadAt {
    file: Arc<File>,
    position: u64,
}

impl Read for ReadAt {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(out, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}
