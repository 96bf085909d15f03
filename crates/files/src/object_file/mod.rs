//! Object files: rows of any serializable type in checked blocks, for saving values and for checkpoints.
//!
//! A file is a header, the shape of its rows, blocks, and an end mark; numbers are little-endian, checks are xxh3.
//!
//! | part | bytes |
//! |---|---|
//! | header | `FSTLOBJ` and a zero byte (8), version (1), compression (1), length of the shape (2), check of these (4) |
//! | shape | what the rows look like, as text, check of the text (8) |
//! | block | stored length (8), plain length (8), rows (8), check of the stored content (8), check of these (8), content |
//! | end | zero (16), rows in the file (8), `FSTL END` (8), check of these (8) |
//!
//! The content of a block is one row after the other in the codec's compact form, compressed as a whole or not. Its
//! bytes do not say which type they are, so the shape is compared before a row is read: a file is read with the type
//! that it was written with, or with one that has the same fields. Because of the end mark, a file cut between two
//! blocks is found out. A file is read by one task, from its beginning.

mod format;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use format::Compression;
pub use reader::ObjectReader;
pub use writer::ObjectWriter;
