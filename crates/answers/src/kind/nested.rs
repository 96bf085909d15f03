//! Rows of structs and enums with options and lists in them.

use serde::{Deserialize, Serialize};

use super::{Coded, Kind};

/// A struct and an enum.
pub(crate) struct Nested;

/// 48 bits: 16 that are a text if they are not zero, then 32.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Key {
    group: Option<String>,
    id: u32,
}

/// 64 bits, in the shortest variant that they fit in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Value {
    Byte(u8),
    Word { low: Option<u32> },
    List(Vec<u16>),
}

impl Kind for Nested {
    type Key = Key;
    type Value = Value;
}

impl Coded for Key {
    const BITS: u64 = (1 << 48) - 1;

    fn of(code: u64) -> Self {
        let group = code >> 32;
        Self { group: (group != 0).then(|| format!("{group:04x}")), id: code as u32 }
    }
    fn code(&self) -> u64 {
        let group = self.group.as_ref().map_or(0, |group| u64::from_str_radix(group, 16).expect("digits"));
        group << 32 | u64::from(self.id)
    }
}

impl Coded for Value {
    const BITS: u64 = u64::MAX;

    fn of(code: u64) -> Self {
        match code {
            0..=255 => Self::Byte(code as u8),
            256..=0xFFFF_FFFF => Self::Word { low: Some(code as u32) },
            0x1_0000_0000.. => Self::List((0..4).rev().map(|word| (code >> (16 * word)) as u16).collect()),
        }
    }
    fn code(&self) -> u64 {
        match self {
            Self::Byte(byte) => u64::from(*byte),
            Self::Word { low } => low.map_or(u64::MAX, u64::from),
            Self::List(words) => words.iter().fold(0, |code, word| code << 16 | u64::from(*word)),
        }
    }
}
