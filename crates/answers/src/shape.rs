//! The rows of a source, as the codes of their keys and values.

use firesteel_types::Rng;

use crate::case::{Shape, Source};

/// A row as the model sees it: the codes of its key and its value.
pub(crate) type Code = (u64, u64);

/// A number that looks random and depends on `x` alone.
pub(crate) fn mixed(x: u64) -> u64 {
    Rng::new(x).next_u64()
}

/// The row at `place` of a source, before the kind clips it.
pub(crate) fn row(source: &Source, place: u64) -> Code {
    let Source { shape, rows, seed, .. } = *source;
    let chance = mixed(seed ^ place.wrapping_mul(0x9E37_79B9));
    let spread = |keys: u64| chance % keys.max(1);
    let key = match shape {
        Shape::Uniform { keys } => spread(keys),
        Shape::HeavyHead { keys } => {
            if place < rows / 2 {
                0
            } else {
                spread(keys)
            }
        }
        Shape::HeavyTail { keys } => {
            if place >= rows / 2 {
                0
            } else {
                spread(keys)
            }
        }
        Shape::Giant { keys } => {
            if chance.is_multiple_of(64) {
                spread(keys)
            } else {
                0
            }
        }
        Shape::Alike => 0,
        Shape::Unique => place,
    };
    // Few values with many twins, or none.
    (key, if seed.is_multiple_of(3) { (chance >> 32) % 7 } else { place })
}

/// Where the slice of a partition begins, as `parallelize` cuts them.
pub(crate) fn slice_start(rows: u64, partitions: u32, partition: u32) -> u64 {
    u64::from(partition) * rows / u64::from(partitions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::From;

    #[test]
    fn the_heavy_key_is_where_the_shape_says() {
        let of = |shape| Source { from: From::Range, shape, rows: 100, partitions: 4, seed: 5 };
        let zeroes = |shape, places: std::ops::Range<u64>| {
            places.filter(|place| row(&of(shape), *place).0 == 0).count()
        };

        assert_eq!(zeroes(Shape::HeavyHead { keys: 1000 }, 0..50), 50);
        assert_eq!(zeroes(Shape::HeavyTail { keys: 1000 }, 50..100), 50);
        assert_eq!(zeroes(Shape::Alike, 0..100), 100);
        assert!(zeroes(Shape::Giant { keys: 1000 }, 0..100) > 90);
    }
}
