//! The numbers that writer and reader must agree on.

/// The first byte of a number that needs more than 56 bits; eight bytes follow.
pub(super) const LONG_NUMBER_MARK: u8 = 0;

/// How deep options, variants, sequences and maps may lie in each other.
///
/// Structs and tuples do not count, since no finite type recurs through them alone. The same bound when writing, so
/// that a row which cannot be read is found while its task still runs.
pub(super) const DEPTH_MAX: u32 = 128 + ROW_DEPTH;

/// The level at which a row begins. The engine wraps rows in lists and options of its own, such as the result of a task,
/// so that what can be a row can be a row in such a list too.
pub(super) const ROW_DEPTH: u32 = 4;

/// How many more elements than bytes a sequence may have: elements such as `()` take no bytes at all.
pub(super) const WEIGHTLESS_MAX: usize = 1 << 16;

/// The same for the outermost list of a value, such as the result of a task, if its elements take no memory either.
pub(super) const UNITS_MAX: usize = u32::MAX as usize;
