//! One byte for the size of a block: its logarithm to base 1.1, rounded up.
//!
//! Byte 0 is the empty block and byte `k` stands for 1.1^k bytes, up to 33 GiB at 255. A decoded size is
//! never below the true one (unless that is larger than the last byte stands for) and at most a tenth above it.
//! The table is computed by the compiler in whole numbers, so that every machine has the same one.

/// Bits behind the binary point while the powers are computed. The largest power has 36 bits before it.
const FRACTION_BITS: u32 = 80;

/// What each byte stands for, in bytes, rounded down.
const SIZES: [u64; 256] = powers();

const fn powers() -> [u64; 256] {
    let mut sizes = [0; 256];
    let mut power: u128 = 1 << FRACTION_BITS;
    let mut code = 1;
    while code < sizes.len() {
        power = power * 11 / 10;
        sizes[code] = (power >> FRACTION_BITS) as u64;
        code += 1;
    }
    sizes
}

/// The byte for a block of `size` bytes.
///
/// No power of 1.1 but the zeroth is a whole number, so comparing with the rounded table is comparing with the
/// powers themselves.
pub(super) fn encode(size: u64) -> u8 {
    if size == 0 {
        return 0;
    }
    let code = 1 + SIZES[1..].partition_point(|&known| known < size);
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// The size in bytes that `code` stands for.
#[inline]
pub(super) const fn decode(code: u8) -> u64 {
    SIZES[code as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 11^code / 10^code, rounded down, by long arithmetic in base 10.
    fn exact_power(code: usize) -> u64 {
        let mut digits = vec![1_u8];
        for _ in 0..code {
            let mut carry = 0;
            for digit in &mut digits {
                let product = *digit * 11 + carry;
                (*digit, carry) = (product % 10, product / 10);
            }
            while carry > 0 {
                digits.push(carry % 10);
                carry /= 10;
            }
        }
        digits.iter().skip(code).rev().fold(0, |number, &digit| number * 10 + u64::from(digit))
    }

    /// Behaviours: MOT-013.
    #[test]
    fn known_sizes_have_sparks_codes() {
        let sizes = [0, 1, 2, 10, 1_000_000, 1_000_000_000, 1_000_000_000_000_000_000, u64::MAX];

        assert_eq!(sizes.map(encode), [0, 1, 8, 25, 145, 218, 255, 255]);
    }

    /// Behaviours: MOT-013.
    #[test]
    fn every_entry_of_the_table_is_the_exact_power_rounded_down() {
        let exact: Vec<u64> = (1..256).map(exact_power).collect();

        assert_eq!(SIZES[0], 0);
        assert_eq!(SIZES[1..], exact);
        assert!(SIZES.is_sorted());
    }

    /// Behaviours: MOT-013.
    #[test]
    fn a_decoded_size_is_never_zero_or_too_small_and_at_most_a_tenth_too_large() {
        let mut size = 1;
        while size < SIZES[255] {
            let decoded = decode(encode(size));

            assert!(decoded >= size, "{size} decoded to {decoded}");
            assert!(decoded * 10 <= size * 11, "{size} decoded to {decoded}");
            size += 1 + size / 50;
        }
        assert!((1..=u8::MAX).all(|code| decode(code) > 0));
    }
}
