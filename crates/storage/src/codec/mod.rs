//! Rows to bytes and back, compression, frames and checksums.
//!
//! From the bottom up: [`format`](mod@format) makes bytes of one value; [`Rows`] of many, some types in a faster way;
//! [`Compression`] makes them fewer; a [`FrameWriter`] puts a header with a check before them, and a sequence of such
//! frames is a block; [`Checksum`] is the checksum of a whole block, and [`ContentSum`] that of rows in any order.
//! [`RowsWriter`] and [`RowsReader`] are what a caller uses: rows in, frames out, and back. A single value goes through
//! [`append_value`] and [`read_value`].
//!
//! Does not know files, names of blocks, or who reads them.

mod buffer;
mod bulk;
mod checksum;
mod compression;
mod contain;
mod content;
mod error;
pub mod format;
mod frame;
mod plain;
mod rows;
mod shape;
mod stream;
mod symmetry;
#[cfg(test)]
mod tests;
mod value;

pub use checksum::{Checksum, ChecksumMismatch, ChecksumWriter, VerifyingReader};
pub use compression::{Compression, UnknownCompression};
pub use content::ContentSum;
pub use error::CodecError;
pub use frame::{
    FRAME_MAX, FRAME_ROWS_MAX, FRAME_TARGET, Frame, FrameReader, FrameSink, FrameWriter, Layout, Survey,
    survey,
};
pub use rows::Rows;
pub use shape::Shape;
pub use stream::{RowsReader, RowsWriter};
pub use symmetry::Mismatch;
pub use value::{append_value, read_value};
