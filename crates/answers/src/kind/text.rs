//! Rows of two texts of different lengths.

use super::{Coded, Kind};

/// Two texts: the code in hexadecimal digits, and as much behind it as the code says.
pub(crate) struct Text;

impl Kind for Text {
    type Key = String;
    type Value = String;
}

impl Coded for String {
    const BITS: u64 = u64::MAX;

    fn of(code: u64) -> Self {
        format!("{code:016x}{}", "é".repeat((code % 53) as usize))
    }
    fn code(&self) -> u64 {
        u64::from_str_radix(&self[..16], 16).expect("a text begins with its code")
    }
}
