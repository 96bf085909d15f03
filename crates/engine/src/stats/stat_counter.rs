//! Count, mean, variance and range of numbers in one pass.

use serde::{Deserialize, Serialize};
use std::fmt;

use super::value_range::ValueRange;

/// How many numbers are taken in at once: enough to make the merge between blocks cheap, and still in the cache.
const BLOCK: usize = 256;

/// The moments and the range of some numbers, which can be merged with those of others.
///
/// Numerically stable: squares are of distances from a mean and never of the numbers themselves. Merging in
/// another order gives the same up to rounding. Sums of whole numbers are exact up to 2⁵³.
///
/// ```
/// use firesteel::stats::StatCounter;
///
/// let mut stats: StatCounter = [1.0, 2.0].into_iter().collect();
/// stats.merge(&[3.0, 6.0].into_iter().collect());
///
/// assert_eq!((stats.count(), stats.mean(), stats.max()), (4, 3.0, 6.0));
/// assert_eq!(stats.variance(), 3.5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatCounter {
    count: u64,
    sum: f64,
    /// The sum of squared distances from the mean.
    m2: f64,
    range: ValueRange,
}

impl StatCounter {
    /// Makes a counter of no numbers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a number. `extend` is faster for many.
    #[inline]
    pub fn push(&mut self, value: f64) {
        self.merge(&Self::of_block(&[value]));
    }

    /// Takes in the numbers of another counter.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        let (here, there) = (self.count as f64, other.count as f64);
        let distance = other.mean() - self.mean();
        self.m2 += other.m2 + distance * distance * (here * there / (here + there));
        self.sum += other.sum;
        self.count += other.count;
        self.range.merge(&other.range);
    }

    /// How many numbers there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum of the numbers.
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// The mean of the numbers; NaN if there is none.
    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// The least number; infinity if there is none.
    pub fn min(&self) -> f64 {
        self.range.min()
    }

    /// The greatest number; negative infinity if there is none.
    pub fn max(&self) -> f64 {
        self.range.max()
    }

    /// The variance of the numbers as a whole population; NaN if there is none.
    pub fn variance(&self) -> f64 {
        self.m2 / self.count as f64
    }

    /// The variance of the population that the numbers are a sample of; NaN if there are fewer than two.
    pub fn sample_variance(&self) -> f64 {
        match self.count {
            0 => f64::NAN,
            count => self.m2 / (count - 1) as f64,
        }
    }

    /// The standard deviation of the numbers as a whole population; NaN if there is none.
    pub fn stdev(&self) -> f64 {
        self.variance().sqrt()
    }

    /// The standard deviation of the population that the numbers are a sample of; NaN if there are fewer than two.
    pub fn sample_stdev(&self) -> f64 {
        self.sample_variance().sqrt()
    }

    /// The moments of a few numbers by two passes, the most exact way.
    #[inline]
    fn of_block(values: &[f64]) -> Self {
        let count = values.len() as u64;
        let sum = sum(values, |value| value);
        let mean = sum / count as f64;
        let m2 = if count == 1 { 0.0 } else { self::sum(values, |value| (value - mean) * (value - mean)) };
        Self { count, sum, m2, range: values.iter().copied().collect() }
    }
}

/// A sum in eight lanes, which the compiler can add side by side.
#[inline]
fn sum(values: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let (chunks, rest) = values.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, &value)| *lane += f(value));
    }
    let rest: f64 = rest.iter().map(|&value| f(value)).sum();
    lanes.iter().sum::<f64>() + rest
}

impl Extend<f64> for StatCounter {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        let (mut block, mut len) = ([0.0; BLOCK], 0);
        values.into_iter().for_each(|value| {
            block[len] = value;
            len += 1;
            if len == BLOCK {
                self.merge(&Self::of_block(&block));
                len = 0;
            }
        });
        self.merge(&Self::of_block(&block[..len]));
    }
}

impl FromIterator<f64> for StatCounter {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut stats = Self::new();
        stats.extend(values);
        stats
    }
}

impl fmt::Display for StatCounter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "(count: {}, mean: {}, stdev: {}, max: {}, min: {})",
            self.count,
            self.mean(),
            self.stdev(),
            self.max(),
            self.min(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stats(values: &[f64]) -> StatCounter {
        values.iter().copied().collect()
    }

    fn close(a: f64, b: f64, scale: f64) -> bool {
        (a - b).abs() <= 1e-9 * scale.max(1.0)
    }

    #[test]
    fn known_numbers_have_their_known_moments() {
        let stats = stats(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);

        assert_eq!((stats.count(), stats.sum(), stats.mean()), (8, 40.0, 5.0));
        assert_eq!((stats.variance(), stats.stdev()), (4.0, 2.0));
        assert_eq!((stats.sample_variance(), stats.sample_stdev()), (32.0 / 7.0, (32.0_f64 / 7.0).sqrt()));
        assert_eq!((stats.min(), stats.max()), (2.0, 9.0));
        assert_eq!(stats.to_string(), "(count: 8, mean: 5, stdev: 2, max: 9, min: 2)");
    }

    #[test]
    fn nothing_has_no_mean_and_one_number_has_no_sample_variance() {
        let (none, one) = (StatCounter::new(), stats(&[7.0]));

        assert_eq!((none.count(), none.sum()), (0, 0.0));
        assert!(none.mean().is_nan() && none.variance().is_nan() && none.sample_variance().is_nan());
        assert_eq!((none.min(), none.max()), (f64::INFINITY, f64::NEG_INFINITY));
        assert_eq!((one.mean(), one.variance()), (7.0, 0.0));
        assert!(one.sample_variance().is_nan());
    }

    #[test]
    fn a_large_offset_does_not_drown_a_small_variance() {
        let values = |offset: f64| (0..100_000).map(move |i| offset + f64::from(i % 3));

        let stats: StatCounter = values(1e9).collect();
        let mut pushed = StatCounter::new();
        values(1e9).for_each(|value| pushed.push(value));

        let expected = values(0.0).collect::<StatCounter>().variance();
        assert!((stats.variance() - expected).abs() < 1e-9, "{stats}");
        assert!((pushed.variance() - expected).abs() < 1e-6, "{pushed}");
    }

    #[test]
    fn a_nan_shows_in_every_figure() {
        let stats = stats(&[1.0, f64::NAN, 2.0]);

        assert_eq!(stats.count(), 3);
        assert!(stats.mean().is_nan() && stats.variance().is_nan());
        assert!(stats.min().is_nan() && stats.max().is_nan());
    }

    proptest! {
        #[test]
        fn moments_are_those_of_two_passes_however_the_numbers_are_split(
            values in prop::collection::vec(-1e6..1e6_f64, 1..1500), cut: prop::sample::Index, by_push: bool,
        ) {
            let cut = cut.index(values.len());
            let mut merged = stats(&values[..cut]);
            if by_push {
                values[cut..].iter().for_each(|&value| merged.push(value));
            } else {
                merged.merge(&stats(&values[cut..]));
            }

            let count = values.len() as f64;
            let mean = values.iter().sum::<f64>() / count;
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            prop_assert_eq!(merged.count(), values.len() as u64);
            prop_assert!(close(merged.mean(), mean, 1e6));
            prop_assert!(close(merged.variance(), squares / count, 1e12));
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert_eq!((merged.min(), merged.max()), (least, greatest));
        }
    }
}
