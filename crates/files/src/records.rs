//! Binary records of a fixed length: [`RecordReader`], for pieces made by [`plan_record_splits`].
//!
//! [`plan_record_splits`]: super::plan_record_splits

use std::fmt;

use super::error::IoError;
use super::location::Location;
use super::source::{ReadOptions, Source};
use super::split::FileSplit;

/// How much is read at a time, in whole records.
const BUFFER_BYTES: usize = 256 << 10;

/// Reads the records of a piece of a file.
pub struct RecordReader {
    /// `None` when there is nothing more to read.
    source: Option<Source>,
    location: Location,
    options: ReadOptions,
    record_length: usize,
    /// Records that were read and are not yet given out, from `start` on.
    buffer: Vec<u8>,
    start: usize,
    /// How many bytes of the piece are not yet read; not known of a compressed file.
    left: Option<u64>,
}

impl fmt::Debug for RecordReader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RecordReader")
            .field("location", &self.location)
            .field("record_length", &self.record_length)
            .finish_non_exhaustive()
    }
}

impl RecordReader {
    /// Opens a piece of a file whose records have `record_length` bytes.
    pub fn open(split: &FileSplit, record_length: u64, options: ReadOptions) -> Result<Self, IoError> {
        let too_long = |_| IoError::BadLocation {
            location: split.location.to_string(),
            reason: format!("no memory holds a record of {record_length} bytes"),
        };
        let record_length = usize::try_from(record_length).map_err(too_long)?;
        if record_length == 0 {
            return Err(IoError::NoRecordLength);
        }
        let opened = if split.whole {
            Source::open_decoded(&split.location)
        } else {
            Source::open_raw(&split.location, split.start, split.start.saturating_add(split.length))
        };
        let source = match opened {
            Err(error) if options.forgives(&error) => None,
            opened => Some(opened?),
        };
        let left = split.content_bytes();
        let location = split.location.clone();
        Ok(Self { source, location, options, record_length, buffer: Vec::new(), start: 0, left })
    }

    /// Adds up to `max` records to `out`, and no more than a buffer holds; returns whether there may be more.
    pub fn next_batch(&mut self, out: &mut Vec<Vec<u8>>, max: usize) -> Result<bool, IoError> {
        let result = self.try_next(out, max);
        if !matches!(result, Ok(true)) {
            self.source = None;
        }
        match result {
            Err(error) if self.options.forgives(&error) => Ok(false),
            result => result,
        }
    }

    fn try_next(&mut self, out: &mut Vec<Vec<u8>>, max: usize) -> Result<bool, IoError> {
        if self.source.is_none() {
            return Ok(false);
        }
        for _ in 0..max.min(self.buffer_records()) {
            if self.start == self.buffer.len() && !self.fill()? {
                return Ok(false);
            }
            let end = self.start + self.record_length;
            let Some(record) = self.buffer.get(self.start..end) else { return Err(self.partial_record()) };
            out.push(record.to_vec());
            self.start = end;
        }
        Ok(true)
    }

    /// How many records are read at a time.
    fn buffer_records(&self) -> usize {
        (BUFFER_BYTES / self.record_length).max(1)
    }

    /// Reads the next records, and part of one only at the end of the file; returns whether there was anything.
    fn fill(&mut self) -> Result<bool, IoError> {
        let wanted = self.buffer_records() * self.record_length;
        let Some(source) = &mut self.source else { return Ok(false) };
        let wanted = self.left.map_or(wanted, |left| wanted.min(usize::try_from(left).unwrap_or(wanted)));
        self.buffer.resize(wanted, 0);
        let read = source.fill(&mut self.buffer)?;
        self.buffer.truncate(read);
        self.start = 0;
        if let Some(left) = &mut self.left {
            if read < wanted {
                let (location, length) = (self.location.to_string(), source.offset());
                return Err(IoError::Truncated { location, length, expected: length - read as u64 + *left });
            }
            *left -= read as u64;
        }
        Ok(read > 0)
    }

    fn partial_record(&self) -> IoError {
        IoError::PartialRecord {
            location: self.location.to_string(),
            size: self.source.as_ref().map_or(0, Source::offset),
            record_length: self.record_length as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::expand::{self, Depth};
    use crate::split::plan_record_splits;

    fn read(path: &str, record_length: u64, min_partitions: usize) -> Result<Vec<Vec<u8>>, IoError> {
        let files = expand::expand(path, Depth::Flat)?;
        let mut records = Vec::new();
        for split in plan_record_splits(&files, record_length, min_partitions, None)? {
            let mut reader = RecordReader::open(&split, record_length, ReadOptions::default())?;
            while reader.next_batch(&mut records, 2)? {}
        }
        Ok(records)
    }

    #[test]
    fn records_come_back_from_any_number_of_pieces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").to_str().unwrap().to_owned();
        let data: Vec<u8> = (0..=199).collect();
        fs::write(&path, &data).unwrap();

        for min_partitions in [1, 2, 3, 7, 100] {
            let records = read(&path, 8, min_partitions).unwrap();
            assert_eq!(records.len(), 25);
            assert_eq!(records.concat(), data);
        }
    }

    #[test]
    fn a_batch_of_long_records_has_no_more_than_a_buffer_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").to_str().unwrap().to_owned();
        fs::write(&path, vec![7; 8 * BUFFER_BYTES]).unwrap();
        let files = expand::expand(&path, Depth::Flat).unwrap();
        for (record_length, batch_records) in [(2 * BUFFER_BYTES, 1), (BUFFER_BYTES / 2, 2), (64, 1_000)] {
            let split = &plan_record_splits(&files, record_length as u64, 1, None).unwrap()[0];
            let mut reader = RecordReader::open(split, record_length as u64, ReadOptions::default()).unwrap();
            let mut records = Vec::new();

            assert!(reader.next_batch(&mut records, 1_000).unwrap());

            assert_eq!(records.len(), batch_records, "records of {record_length} bytes");
        }
    }

    #[test]
    fn compressed_records_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zst").to_str().unwrap().to_owned();
        fs::write(&path, zstd::encode_all(&[7; 40][..], 1).unwrap()).unwrap();

        assert_eq!(read(&path, 8, 3).unwrap(), vec![vec![7; 8]; 5]);
        let error = read(&path, 9, 1).unwrap_err().to_string();
        assert_eq!(error, format!("{path} has 40 bytes, which is not a multiple of the record length 9"));
    }

    #[test]
    fn a_file_that_shrank_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").to_str().unwrap().to_owned();
        fs::write(&path, [0; 40]).unwrap();
        let files = expand::expand(&path, Depth::Flat).unwrap();
        let splits = plan_record_splits(&files, 8, 1, None).unwrap();
        fs::write(&path, [0; 20]).unwrap();

        let mut reader = RecordReader::open(&splits[0], 8, ReadOptions::default()).unwrap();
        let error = reader.next_batch(&mut Vec::new(), 100).unwrap_err().to_string();

        let message = format!("{path} ends at byte 20, but had at least 40 bytes when the job was planned");
        assert_eq!(error, message);
    }
}
