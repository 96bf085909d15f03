//! What a kind of rows must be able to do: [`Kind`], and [`Coded`] for its keys and values.

use std::{fmt::Debug, hash::Hash};

use firesteel::prelude::*;

use crate::shape::Code;

/// A type whose values are made from numbers, and numbers from them.
pub(crate) trait Coded: Data + Ord + Hash + Debug {
    /// Which bits of a number a value can stand for.
    const BITS: u64;

    /// The value of a number that has no other bits.
    fn of(code: u64) -> Self;

    /// The number that the value was made from.
    fn code(&self) -> u64;
}

/// Types of a key and a value.
pub(crate) trait Kind: 'static {
    type Key: Coded;
    type Value: Coded;

    const KEY_BITS: u64 = <Self::Key as Coded>::BITS;
    const VALUE_BITS: u64 = <Self::Value as Coded>::BITS;

    fn key(code: u64) -> Self::Key {
        Coded::of(code)
    }
    fn value(code: u64) -> Self::Value {
        Coded::of(code)
    }
    fn key_code(key: &Self::Key) -> u64 {
        key.code()
    }
    fn value_code(value: &Self::Value) -> u64 {
        value.code()
    }

    /// The row of a code.
    fn row((key, value): Code) -> Row<Self> {
        (Self::key(key & Self::KEY_BITS), Self::value(value & Self::VALUE_BITS))
    }

    /// The code of a row.
    ///
    /// # Panics
    /// If the row is not what its code stands for: it was changed on its way.
    fn code(row: &Row<Self>) -> Code {
        let code = (Self::key_code(&row.0), Self::value_code(&row.1));
        assert!(Self::row(code) == *row, "a row came back changed: {row:?}");
        code
    }
}

/// A row of a kind.
pub(crate) type Row<K> = (<K as Kind>::Key, <K as Kind>::Value);

/// The bits of a kind's codes, for the model, which knows no types.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bits {
    pub(crate) key: u64,
    pub(crate) value: u64,
}

impl Bits {
    pub(crate) const fn of<K: Kind>() -> Self {
        Self { key: K::KEY_BITS, value: K::VALUE_BITS }
    }

    pub(crate) const fn clip(self, (key, value): Code) -> Code {
        (key & self.key, value & self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kind::{Large, Nested, Plain, Set, Sparse, Text, Unit},
        shape::mixed,
    };

    fn holds_to_its_codes<K: Kind>() {
        let edges = [0, 1, 255, 256, 65_535, 65_536, u64::from(u32::MAX), 1 << 32, 1 << 48, u64::MAX];
        let codes: Vec<u64> = (0..200).map(mixed).chain((0..64).map(|bit| 1 << bit)).chain(edges).collect();
        let mut rows: Vec<(Code, Row<K>)> = codes
            .iter()
            .map(|code| Bits::of::<K>().clip((*code, *code)))
            .map(|code| (code, K::row(code)))
            .collect();
        assert!(rows.iter().all(|(code, row)| K::code(row) == *code));
        rows.sort_by_key(|(code, _)| *code);
        assert!(rows.is_sorted_by(|one, two| one.1.0 <= two.1.0), "keys are ordered as their codes");
        rows.sort_by_key(|(code, _)| code.1);
        assert!(rows.is_sorted_by(|one, two| one.1.1 <= two.1.1), "values are ordered as their codes");
    }

    #[test]
    fn rows_are_what_their_codes_stand_for_and_ordered_like_them() {
        holds_to_its_codes::<Plain>();
        holds_to_its_codes::<Text>();
        holds_to_its_codes::<Nested>();
        holds_to_its_codes::<Set>();
        holds_to_its_codes::<Unit>();
        holds_to_its_codes::<Sparse>();
        holds_to_its_codes::<Large>();
    }
}
