//! Writing rows to an object file: [`ObjectWriter`].

use std::any::type_name;
use std::fmt;
use std::slice;

use firesteel_storage::codec::{CodecError, Rows, Shape};
use serde::{Serialize, de::DeserializeOwned};

use super::format::{BlockHead, Compression, Header, content_check, shape_bytes};
use crate::error::IoError;
use crate::output::{OutputFile, StagedFile};

/// How much is collected before a block is written.
const BLOCK_BYTES: usize = 256 << 10;

/// Writes rows of one type to an output file, which appears when the driver publishes it and not before.
pub struct ObjectWriter<T> {
    file: OutputFile,
    compression: Compression,
    block: Vec<u8>,
    block_rows: u64,
    total_rows: u64,
    codec: Rows<T>,
}

impl<T: Serialize + DeserializeOwned + 'static> ObjectWriter<T> {
    /// Begins an object file; `file` must be a new one without a codec of its own. Fails for rows that could be written
    /// but not read again.
    pub fn new(mut file: OutputFile, compression: Compression) -> Result<Self, IoError> {
        let shape = Shape::of::<T>().map_err(|source| IoError::Unreadable {
            location: file.location().to_string(),
            source: Box::new(CodecError::Decode { type_name: type_name::<T>(), source }),
        })?;
        let (shape_length, shape) = shape_bytes(&shape);
        file.write_all(&Header { compression, shape_length }.to_bytes())?;
        file.write_all(&shape)?;
        let block = Vec::with_capacity(BLOCK_BYTES);
        Ok(Self { file, compression, block, block_rows: 0, total_rows: 0, codec: Rows::compact() })
    }

    /// Adds a row.
    pub fn push(&mut self, row: &T) -> Result<(), IoError> {
        let before = self.block.len();
        if let Err(source) = self.codec.encode(slice::from_ref(row), &mut self.block) {
            self.block.truncate(before);
            let (location, row) = (self.file.location().to_string(), self.total_rows);
            let source = Box::new(CodecError::Encode { type_name: type_name::<T>(), source });
            return Err(IoError::Encode { location, row, source });
        }
        self.block_rows += 1;
        self.total_rows += 1;
        if self.block.len() >= BLOCK_BYTES { self.write_block() } else { Ok(()) }
    }

    /// Writes what is left; the file is ready to be published then.
    pub fn close(mut self) -> Result<StagedFile, IoError> {
        if self.block_rows > 0 {
            self.write_block()?;
        }
        self.file.write_all(&BlockHead::End { total_rows: self.total_rows }.to_bytes())?;
        self.file.close()
    }

    fn write_block(&mut self) -> Result<(), IoError> {
        let stored = self
            .compression
            .compress(&self.block)
            .map_err(|error| IoError::write(self.file.location(), error))?;
        let head = BlockHead::Block {
            stored_length: stored.len() as u64,
            plain_length: self.block.len() as u64,
            rows: self.block_rows,
            content_check: content_check(&stored),
        };
        self.file.write_all(&head.to_bytes())?;
        self.file.write_all(&stored)?;
        self.block.clear();
        self.block_rows = 0;
        Ok(())
    }
}

impl<T> fmt::Debug for ObjectWriter<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ObjectWriter")
            .field("file", &self.file)
            .field("total_rows", &self.total_rows)
            .finish_non_exhaustive()
    }
}
