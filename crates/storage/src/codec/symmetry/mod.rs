//! Whether a type reads what it writes: [`Verdict`].
//!
//! A row's bytes are its fields one after another, so a type that writes other fields than it reads (serde's
//! `skip_serializing` or `skip_deserializing` alone) would come back as other rows. It is found out once for each type,
//! without a row: values that the type's own `Deserialize` makes ([`shape`](super::shape)) are written by an encoder that
//! notes where each struct begins and ends ([`written`]), and read back by a decoder that compares ([`compare`]).
//!
//! Both are the encoder and the decoder of rows, so what they find would happen to rows too. A type is refused only if
//! a struct, tuple or variant is read with other fields than were written *and* so other bytes are taken for it: a field
//! that takes no bytes does no harm. A type that refuses made-up values is compared by the first row of each frame.

mod compare;
mod mismatch;
#[cfg(test)]
mod tests;
mod verdict;
mod written;

pub use mismatch::Mismatch;
pub(super) use verdict::{Verdict, compare_value, verdict};
