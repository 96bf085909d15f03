//! Object files: rows of any serializable type in checked blocks, for saving values and for checkpoints.
//!
//! A file is a header, blocks, and an end mark; numbers are little-endian, checks are xxh3.
//!
//! | part | bytes |
//! |---|---|
//! | header | `FSTLOBJ` and a zero byte (8), version (1), compression (1), zero (2), check of these (4) |
//! | block | stored length (8), plain length (8), rows (8), check of the stored content (8), check of these (8), content |
//! | end | zero (16), rows in the file (8), `FSTL END` (8), check of these (8) |
//!
//! The content of a block is one `postcard` value after the other, compressed as a whole or not. Because of the end
//! mark, a file cut between two blocks is found out. A file is read by one task, from its beginning.

mod format;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use format::Compression;
pub(crate) use reader::ObjectReader;
pub(crate) use writer::ObjectWriter;
