//! Rows that own no memory: numbers, and rows without size.

use super::{Coded, Kind};

/// Two numbers.
pub(crate) struct Plain;

impl Kind for Plain {
    type Key = u64;
    type Value = u64;
}

/// A small number and nothing.
pub(crate) struct Set;

impl Kind for Set {
    type Key = u32;
    type Value = ();
}

/// Nothing and nothing.
pub(crate) struct Unit;

impl Kind for Unit {
    type Key = ();
    type Value = ();
}

impl Coded for u64 {
    const BITS: u64 = Self::MAX;

    fn of(code: u64) -> Self {
        code
    }
    fn code(&self) -> u64 {
        *self
    }
}

impl Coded for u32 {
    const BITS: u64 = 0xFFFF_FFFF;

    fn of(code: u64) -> Self {
        code as Self
    }
    fn code(&self) -> u64 {
        u64::from(*self)
    }
}

impl Coded for () {
    const BITS: u64 = 0;

    fn of(_: u64) -> Self {}
    fn code(&self) -> u64 {
        0
    }
}
