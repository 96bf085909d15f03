//! The functions that jobs apply, on codes: the closures and the model call the same ones.
//!
//! What is compared is how the engine moves, groups, orders and repeats rows, not what a function makes of them.

use crate::shape::{Code, mixed};

pub(crate) fn rekeyed((key, value): Code, keys: u64, salt: u64) -> Code {
    (mixed(key ^ salt) % keys.max(1), value)
}

pub(crate) fn is_marked((key, value): Code, modulus: u64) -> bool {
    mixed(key.wrapping_mul(31) ^ value).is_multiple_of(modulus.max(1))
}

/// The values that a value becomes: none, or a few.
pub(crate) fn several(value: u64, most: u64) -> impl Iterator<Item = u64> {
    (0..mixed(value) % (most + 1)).map(move |copy| value.wrapping_add(copy))
}

pub(crate) fn salted(value: u64, salt: u64) -> u64 {
    value ^ salt
}

/// How values are reduced: in any order and any grouping with the same result.
pub(crate) fn reduced(one: u64, two: u64) -> u64 {
    one.wrapping_add(two)
}

/// What is made of the values of one key, from their order or from all of them in any order.
pub(crate) fn digest(is_ordered: bool, values: impl Iterator<Item = u64>) -> u64 {
    let step = |digest: u64, value: u64| {
        if is_ordered { mixed(digest ^ value) } else { digest.wrapping_add(mixed(value)) }
    };
    values.fold(1, step)
}

/// What is made of two values that belong together.
pub(crate) fn paired(left: u64, right: u64) -> u64 {
    mixed(left).rotate_left(7) ^ right
}

/// What is made of a value, or of its absence.
pub(crate) fn present(value: Option<u64>) -> u64 {
    value.map_or(77, |value| value.wrapping_mul(3))
}
