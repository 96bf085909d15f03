//! The seeded generator behind every random choice of the scheduler.

use serde::{Deserialize, Serialize};

/// A small, fast generator (splitmix64) whose whole state is one number.
///
/// Not for secrets. The same seed gives the same numbers on every machine, so that a random choice is part of a machine's
/// state, and a task that runs again draws the same rows.
///
/// ```
/// # use firesteel_types::Rng;
/// let (mut a, mut b) = (Rng::new(7), Rng::new(7));
/// assert_eq!(a.below(100), b.below(100));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rng(u64);

impl Rng {
    /// A generator that starts from `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 up to, not including, `bound`; 0 when the bound is 0.
    ///
    /// The high half of a product: no division, and a bias below 2⁻³² for every bound we use.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_below_their_bound_and_reach_all_of_it() {
        let mut rng = Rng::new(1);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[rng.below(5)] = true;
        }

        assert_eq!(seen, [true; 5]);
        assert_eq!(rng.below(0), 0);
    }
}
