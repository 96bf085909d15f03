//! From registers to a count of different values.
//!
//! Ertl's improved raw estimator ("New cardinality estimation algorithms for `HyperLogLog` sketches", 2017): one
//! formula for all counts. It does what `HyperLogLog++` does with linear counting for few values and tables of
//! measured bias for the range between, and needs neither tables nor a switch from one to the other. It uses only
//! operations that are exact to the last bit on every machine.

/// 1 / (2 ln 2), the limit of `HyperLogLog`'s constant for many registers.
const ALPHA: f64 = 0.721_347_520_444_481_7;

/// What a few registers estimate too much, as a share of one register.
const SURPLUS: f64 = 1.079;

/// Estimates how many different hashes made these registers, of which there are 2^precision.
pub(super) fn estimate(registers: &[u8], precision: u8) -> f64 {
    let rank_max = usize::from(65 - precision);
    let mut with_rank = [0_u32; 64];
    for &rank in registers {
        with_rank[usize::from(rank)] += 1;
    }

    let registers = registers.len() as f64;
    let share = |rank: usize| f64::from(with_rank[rank]) / registers;
    let saturated = registers * tau(1.0 - share(rank_max));
    let sum = (1..rank_max).rev().fold(saturated, |sum, rank| 0.5 * (sum + f64::from(with_rank[rank])));
    let alpha = ALPHA / (1.0 + SURPLUS / registers);
    alpha * registers * registers / (sum + registers * sigma(share(0)))
}

/// x + Σ x^(2^k) · 2^(k-1) for k ≥ 1: what the empty registers add, infinite if all are.
fn sigma(mut x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut power, mut sum) = (1.0, x);
    loop {
        x *= x;
        let next = sum + x * power;
        if next <= sum {
            return sum;
        }
        sum = next;
        power += power;
    }
}

/// (1 - x - Σ (1 - x^(2^-k))² · 2^-k for k ≥ 1) / 3: what the saturated registers add.
fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut power, mut sum) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        power *= 0.5;
        let next = sum - (1.0 - x) * (1.0 - x) * power;
        if next >= sum {
            return sum / 3.0;
        }
        sum = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_values_are_estimated_as_none() {
        assert!(estimate(&[0; 16], 4) <= 0.0);
    }

    #[test]
    fn few_values_are_estimated_as_by_linear_counting() {
        let mut registers = [0; 1 << 10];
        registers[..100].fill(1);

        // m · ln(m / empty); ranks of 1 only are more values than usual, within the error of the sketch.
        let linear = 1024.0 * (1024.0_f64 / 924.0).ln();
        assert!((estimate(&registers, 10) / linear - 1.0).abs() < 0.05);
    }

    #[test]
    fn empty_and_saturated_registers_add_what_their_series_say() {
        // Both summed term by term elsewhere.
        assert!((sigma(0.5) - 0.890_747_074_037_790).abs() < 1e-12, "{}", sigma(0.5));
        assert!((tau(0.5) - 0.149_929_495_864_088).abs() < 1e-12, "{}", tau(0.5));
        let mut registers = [60; 16];
        registers[..8].fill(61);
        let (estimate, expected) = (estimate(&registers, 4), 1.918_030_738_095e19);
        assert!((estimate / expected - 1.0).abs() < 1e-9, "{estimate}");
    }

    #[test]
    fn registers_full_to_the_brim_give_a_very_large_number_and_no_nan() {
        let estimate = estimate(&[61; 16], 4);

        assert!(estimate > 1e19, "{estimate}");
    }
}
