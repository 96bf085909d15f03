//! Seeds made from a seed.

use firesteel_types::Rng;

/// Gives the `index`-th of the seeds that follow from one seed.
///
/// Used for the partitions of a sampled RDD, and for the attempts of a sample that came out too small. Seeds that
/// lie side by side (1 and 2, or partitions 0 and 1 of the same seed) give unrelated results.
///
/// ```
/// use firesteel_stats::sampling::derive_seed;
///
/// assert_eq!(derive_seed(42, 3), derive_seed(42, 3));
/// assert_ne!(derive_seed(42, 3), derive_seed(42, 4));
/// ```
pub fn derive_seed(seed: u64, index: u64) -> u64 {
    // Each input goes through the generator's mixing of its own: a plain sum would give partition 1 of seed 0 the
    // seed of partition 0 of seed 1.
    let mixed = Rng::new(seed).next_u64();
    Rng::new(mixed.wrapping_add(index)).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn neighbouring_seeds_and_indices_share_no_derived_seed() {
        let all: BTreeSet<u64> =
            (0..100).flat_map(|seed| (0..100).map(move |index| derive_seed(seed, index))).collect();

        assert_eq!(all.len(), 10_000);
    }

    #[test]
    fn a_derived_seed_is_the_same_on_every_machine() {
        assert_eq!(derive_seed(42, 0), 0x57E1_FABA_6510_7204);
    }
}
