//! How one row becomes bytes: an own, plain [serde] format.
//!
//! Structs and tuples are nothing but their fields; texts, byte strings, sequences and maps have their length in front;
//! an option or a bool is one byte, a variant its number. Floating-point numbers, and integers of 8 and of 128 bits,
//! stand in their full width, lowest byte first. All other integers, lengths and variants take 1 to 9 bytes: as many as
//! the place of the lowest bit set in the first byte tells (`1` is one byte with 7 bits for the number, `10` two bytes
//! with 14, and so on; a first byte of 0 stands before 8 bytes). Signed ones have their sign in the lowest bit.
//! Nothing in the bytes tells which type they are.
//!
//! Short integers because a compressor follows, whose time goes by bytes; with their length known from the first byte,
//! because the usual form, one flag per byte, has a branch for each that mispredicts. `docs/codec.md` has the
//! figures behind this choice. There is no version in it: files that outlive an application have one in their header.
//!
//! Bytes may come from a broken disk, so reading trusts nothing: it ends in an error, never in a panic, in a
//! reservation beyond what the bytes can hold, or in endless recursion.

mod decode;
mod encode;
mod error;
mod limits;
mod observe;
#[cfg(test)]
mod tests;

pub use decode::Decoder;
pub use encode::Encoder;
pub use error::RowError;
pub(super) use observe::{Asked, ReadObserver, Record, WriteObserver};
