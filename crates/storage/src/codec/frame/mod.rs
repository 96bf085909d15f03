//! Frames: some rows, compressed together, behind a header with their number and length.
//!
//! A block is a sequence of frames and nothing else, so blocks of the same kind of rows can be put one after another and
//! are a block again. A frame holds about [`FRAME_TARGET`] bytes of rows before compression:
//!
//! | bytes | what |
//! | --- | --- |
//! | 4 | length before compression |
//! | 4 | length of the payload, never more than that |
//! | 4 | rows (24 bits), their layout (1 bit), how the payload is compressed (2 bits) |
//! | 4 | check: the low half of the xxh3 of the payload, seeded with that of the twelve bytes before |
//! | … | payload |
//!
//! The check comes before decompression and rows, so no row of a damaged frame is ever given out: user code does not get
//! to see values that were never written, and what it then does is not blamed on the user.

mod header;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use header::{FRAME_MAX, FRAME_ROWS_MAX, FRAME_TARGET, Layout};
pub use reader::{Frame, FrameReader, Survey, survey};
pub use writer::{FrameSink, FrameWriter};
