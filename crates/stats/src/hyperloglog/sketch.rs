//! The sketch itself.

use foldhash::quality::FixedState;
use serde::{Deserialize, Serialize};
use std::hash::{BuildHasher, Hash};

use super::error::HyperLogLogError;
use super::estimate::estimate;
use super::few_hashes::{FewHashes, Full};

/// The one hash of all sketches, with a seed of its own so that it is not the hash of a partitioner.
const HASHER: FixedState = FixedState::with_seed(0x4879_7065_724C_6F67);

/// A sketch that estimates how many different values it has seen.
///
/// With the relative standard deviation asked for, two thirds of the estimates are that close to the truth and
/// 95 % within twice of it. While values are few the count is exact (but for one collision of 64-bit hashes in
/// billions) and the sketch small; then it has `(1.054 / relative_sd)²` bytes, rounded up to a power of two.
///
/// ```
/// use firesteel_stats::HyperLogLogPlusPlus;
///
/// let mut sketch = HyperLogLogPlusPlus::new(0.01)?;
/// (0..100_000).for_each(|i| sketch.add(&(i % 50_000)));
///
/// let count = sketch.count();
/// assert!((48_000..52_000).contains(&count), "{count}");
/// # Ok::<(), firesteel_stats::HyperLogLogError>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HyperLogLogPlusPlus {
    /// The number of leading bits of a hash that choose its register.
    precision: u8,
    content: Content,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Content {
    Few(FewHashes),
    /// For each register the highest rank seen: the place of the first 1 among the other bits of a hash.
    Registers(Vec<u8>),
}

impl HyperLogLogPlusPlus {
    /// The least precision, of 16 registers.
    const PRECISION_MIN: u8 = 4;
    /// The greatest precision, of 16 MiB.
    const PRECISION_MAX: u8 = 24;

    /// Makes a sketch with this relative standard deviation; an error below 0.000258, which would take over 16 MiB.
    pub fn new(relative_sd: f64) -> Result<Self, HyperLogLogError> {
        // HyperLogLog's 1.04 / √registers, with a little to spare, as in Spark.
        let least = 1.054 / f64::from(1_u32 << (Self::PRECISION_MAX / 2));
        if relative_sd.is_nan() || relative_sd < least {
            return Err(HyperLogLogError::RelativeSdTooSmall { relative_sd, least });
        }
        let fits = |precision: &u8| 1.054 / f64::from(1_u32 << precision).sqrt() <= relative_sd;
        let precision = (Self::PRECISION_MIN..Self::PRECISION_MAX).find(fits).unwrap_or(Self::PRECISION_MAX);
        Ok(Self { precision, content: Content::Few(FewHashes::default()) })
    }

    /// The number of leading bits of a hash that choose its register.
    pub fn precision(&self) -> u8 {
        self.precision
    }

    /// Takes in a value.
    #[inline]
    pub fn add<T: Hash + ?Sized>(&mut self, value: &T) {
        self.add_hash(HASHER.hash_one(value));
    }

    /// Takes in the values of another sketch; an error if that was made with another precision.
    pub fn merge(&mut self, other: &Self) -> Result<(), HyperLogLogError> {
        if self.precision != other.precision {
            let (here, there) = (self.precision, other.precision);
            return Err(HyperLogLogError::PrecisionMismatch { here, there });
        }
        match &other.content {
            Content::Few(hashes) => hashes.iter().for_each(|hash| self.add_hash(hash)),
            Content::Registers(there) => {
                let here = self.registers();
                here.iter_mut().zip(there).for_each(|(here, there)| *here = (*here).max(*there));
            }
        }
        Ok(())
    }

    /// Estimates the number of different values.
    #[expect(clippy::cast_sign_loss, reason = "an estimate is at least 0")]
    pub fn count(&self) -> u64 {
        match &self.content {
            Content::Few(hashes) => hashes.len() as u64,
            Content::Registers(registers) => estimate(registers, self.precision).round() as u64,
        }
    }

    #[inline]
    fn add_hash(&mut self, hash: u64) {
        // 0 marks an empty slot of the set; the hash 1 stands in for it.
        let hash = hash.max(1);
        match &mut self.content {
            Content::Registers(registers) => raise(registers, self.precision, hash),
            Content::Few(hashes) => {
                // No more bytes than the registers have.
                let slots_max = (1 << self.precision) / size_of::<u64>();
                if hashes.insert(hash, slots_max) == Err(Full) {
                    let precision = self.precision;
                    raise(self.registers(), precision, hash);
                }
            }
        }
    }

    /// The registers, made from the hashes if there were none yet.
    fn registers(&mut self) -> &mut [u8] {
        if let Content::Few(hashes) = &self.content {
            let mut registers = vec![0; 1 << self.precision];
            hashes.iter().for_each(|hash| raise(&mut registers, self.precision, hash));
            self.content = Content::Registers(registers);
        }
        match &mut self.content {
            Content::Registers(registers) => registers,
            Content::Few(_) => unreachable!("replaced above"),
        }
    }
}

/// Puts a hash into its register.
#[inline]
fn raise(registers: &mut [u8], precision: u8, hash: u64) {
    let index = (hash >> (64 - precision)) as usize;
    // The bit behind the ones that are left ends the search, so the rank is at most 65 - precision.
    let rest = (hash << precision) | (1 << (precision - 1));
    let rank = rest.leading_zeros() as u8 + 1;
    if registers[index] < rank {
        registers[index] = rank;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firesteel_types::Rng;
    use proptest::prelude::*;

    fn sketch(relative_sd: f64, values: impl IntoIterator<Item = u64>) -> HyperLogLogPlusPlus {
        let mut sketch = HyperLogLogPlusPlus::new(relative_sd).unwrap();
        values.into_iter().for_each(|value| sketch.add(&value));
        sketch
    }

    #[test]
    fn precision_follows_from_the_relative_error() {
        let precision = |relative_sd| HyperLogLogPlusPlus::new(relative_sd).map(|sketch| sketch.precision());

        // ceil(2 · log2(1.054 / relative_sd)), at least 4.
        assert_eq!(precision(0.05), Ok(9));
        assert_eq!(precision(0.01), Ok(14));
        assert_eq!(precision(0.001), Ok(21));
        assert_eq!(precision(1.054 / 32.0), Ok(10));
        assert_eq!(precision(3.0), Ok(4));
        assert_eq!(precision(0.000_258), Ok(24));
        for relative_sd in [0.000_257, 0.000_017, 0.0, -1.0, f64::NAN] {
            assert!(matches!(precision(relative_sd), Err(HyperLogLogError::RelativeSdTooSmall { .. })));
        }
    }

    #[test]
    fn few_values_are_counted_exactly_and_repeats_not_at_all() {
        let (mut sketch, mut values) = (sketch(0.01, []), 0);
        assert_eq!(sketch.count(), 0);

        for round in [1_u64, 10, 100, 1000] {
            (0..round).for_each(|value| sketch.add(&value));
            values = values.max(round);
            assert_eq!(sketch.count(), values);
        }
    }

    #[test]
    fn any_value_with_a_hash_can_be_counted() {
        let mut sketch = HyperLogLogPlusPlus::new(0.05).unwrap();
        for word in ["to", "be", "or", "not", "to", "be"] {
            sketch.add(word);
        }

        assert_eq!(sketch.count(), 4);
    }

    #[test]
    fn the_error_is_the_one_asked_for_at_every_count() {
        for (relative_sd, runs) in [(0.05, 200_u64), (0.2, 400), (0.01, 20)] {
            for count in [20, 60, 100, 300, 700, 1_500, 3_000, 20_000] {
                let errors = (0..runs).map(|seed| {
                    let mut rng = Rng::new(seed * 1_000_003 + count);
                    let sketch = sketch(relative_sd, (0..count).map(|_| rng.next_u64()));
                    sketch.count() as f64 / count as f64 - 1.0
                });
                let stats: crate::StatCounter = errors.collect();

                // The spread of the estimates, and their mean within four of its own standard errors.
                let spread = (stats.variance() + stats.mean().powi(2)).sqrt();
                let allowed = relative_sd * (1.0 + 3.0 / (2.0 * runs as f64).sqrt());
                assert!(spread <= allowed, "{relative_sd} at {count}: {spread}");
                let bias = stats.mean().abs() / (relative_sd / (runs as f64).sqrt());
                assert!(bias < 4.0, "{relative_sd} at {count}: {stats}");
                assert!(stats.min() > -5.0 * relative_sd && stats.max() < 5.0 * relative_sd, "{stats}");
            }
        }
    }

    #[test]
    fn values_side_by_side_are_as_good_as_random_ones() {
        for (count, step) in [(100_000, 1), (100_000, 1 << 32), (50_000, 1000)] {
            let estimate = sketch(0.01, (0..count).map(|i| i * step)).count() as f64;

            assert!((estimate / count as f64 - 1.0).abs() < 0.04, "{estimate} of {count}");
        }
    }

    #[test]
    fn sketches_of_different_precision_do_not_merge() {
        let error = sketch(0.05, []).merge(&sketch(0.01, []));

        assert_eq!(error, Err(HyperLogLogError::PrecisionMismatch { here: 9, there: 14 }));
    }

    #[test]
    fn a_small_sketch_travels_in_few_bytes() {
        let bytes = |count| postcard::to_stdvec(&sketch(0.05, 0..count)).unwrap().len();

        assert!(bytes(1) < 20 && bytes(10) < 130, "{} and {}", bytes(1), bytes(10));
        assert!(bytes(40) < 520 && bytes(1_000) < 520 && bytes(1_000_000) < 520, "never above the registers");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_merge_after_a_journey_knows_what_one_sketch_would(
            here in 0..3000_u64, there in 0..3000_u64, overlap in 0..3000_u64,
        ) {
            let mut merged = sketch(0.05, 0..here);
            let other = sketch(0.05, here.saturating_sub(overlap)..here + there);
            let bytes = postcard::to_stdvec(&other).unwrap();
            merged.merge(&postcard::from_bytes(&bytes).unwrap()).unwrap();

            prop_assert_eq!(merged.count(), sketch(0.05, 0..here + there).count());
        }
    }
}
