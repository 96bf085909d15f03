//! The numbers that writer and reader must agree on.

/// The first byte of a number that needs more than 56 bits; eight bytes follow.
pub(super) const LONG: u8 = 0;

/// How deep options, variants, sequences and maps may lie in each other.
///
/// Structs and tuples do not count, since no finite type recurs through them alone. The same bound when writing, so
/// that a row which cannot be read is found while its task still runs.
pub(super) const DEPTH_MAX: u32 = 128;

/// How many more elements than bytes a sequence may have: elements such as `()` take no bytes at all.
pub(super) const WEIGHTLESS_MAX: usize = 1 << 16;
