//! Rows of two texts of different lengths.

use super::Kind;

/// Two texts: the code in hexadecimal digits, and as much behind it as the code says.
pub(crate) struct Text;

impl Kind for Text {
    type Key = String;
    type Value = String;
    const KEY_BITS: u64 = u64::MAX;
    const VALUE_BITS: u64 = u64::MAX;

    fn key(code: u64) -> String {
        padded(code, code % 5)
    }
    fn value(code: u64) -> String {
        padded(code, code % 97)
    }
    fn key_code(key: &String) -> u64 {
        code_of(key)
    }
    fn value_code(value: &String) -> u64 {
        code_of(value)
    }
}

fn padded(code: u64, padding: u64) -> String {
    format!("{code:016x}{}", "é".repeat(padding as usize))
}

fn code_of(text: &str) -> u64 {
    u64::from_str_radix(&text[..16], 16).expect("a text begins with its code")
}
