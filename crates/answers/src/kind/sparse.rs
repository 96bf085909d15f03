//! Rows and environments of which serde skips fields: a format without names cannot read them back.
//!
//! The engine may carry them rightly or refuse them with the attribute named; it may not return other rows.

use serde::{Deserialize, Serialize};

use super::{Coded, Kind};

/// Numbers, and values of which a field is skipped.
pub(crate) struct Sparse;

/// 16 bits, 16 that are skipped if they are zero, then 32.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Value {
    high: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    middle: Option<u16>,
    low: u32,
}

impl Kind for Sparse {
    type Key = u64;
    type Value = Value;
}

impl Coded for Value {
    const BITS: u64 = u64::MAX;

    fn of(code: u64) -> Self {
        let middle = (code >> 32) as u16;
        Self { high: (code >> 48) as u16, middle: (middle != 0).then_some(middle), low: code as u32 }
    }
    fn code(&self) -> u64 {
        let middle = self.middle.map_or(0, u64::from);
        u64::from(self.high) << 48 | middle << 32 | u64::from(self.low)
    }
}

/// What a closure is given, with its fields at their defaults: all of them are skipped.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SparseEnvironment {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) names: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<u64>,
}
