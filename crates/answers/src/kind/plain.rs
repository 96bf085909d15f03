//! Rows that own no memory: numbers, and rows without size.

use super::Kind;

/// Two numbers.
pub(crate) struct Plain;

impl Kind for Plain {
    type Key = u64;
    type Value = u64;
    const KEY_BITS: u64 = u64::MAX;
    const VALUE_BITS: u64 = u64::MAX;

    fn key(code: u64) -> u64 {
        code
    }
    fn value(code: u64) -> u64 {
        code
    }
    fn key_code(key: &u64) -> u64 {
        *key
    }
    fn value_code(value: &u64) -> u64 {
        *value
    }
}

/// A small number and nothing.
pub(crate) struct Set;

impl Kind for Set {
    type Key = u32;
    type Value = ();
    const KEY_BITS: u64 = 0xFFFF_FFFF;
    const VALUE_BITS: u64 = 0;

    fn key(code: u64) -> u32 {
        code as u32
    }
    fn value(_: u64) {}
    fn key_code(key: &u32) -> u64 {
        u64::from(*key)
    }
    fn value_code((): &()) -> u64 {
        0
    }
}

/// Nothing and nothing.
pub(crate) struct Unit;

impl Kind for Unit {
    type Key = ();
    type Value = ();
    const KEY_BITS: u64 = 0;
    const VALUE_BITS: u64 = 0;

    fn key(_: u64) {}
    fn value(_: u64) {}
    fn key_code((): &()) -> u64 {
        0
    }
    fn value_code((): &()) -> u64 {
        0
    }
}
