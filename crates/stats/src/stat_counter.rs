//! Count, mean, variance and range of numbers in one pass.

use serde::{Deserialize, Serialize};
use std::fmt;

use super::value_range::ValueRange;

/// How many numbers are taken in at once: enough to make the merge between blocks cheap, and still in the cache.
const BLOCK: usize = 256;

/// The moments and the range of some numbers, which can be merged with those of others.
///
/// Numerically stable: the mean is carried along and not derived from the sum, and squares are of distances from a mean
/// and never of the numbers themselves. So numbers far from 0 keep their variance, and numbers whose sum overflows keep
/// their mean. Merging in another order gives the same up to rounding. Sums of whole numbers are exact up to 2⁵³.
///
/// Infinite numbers give the mean that their sum would give: infinite, or NaN if there are both kinds. The variance is NaN
/// as soon as one number is infinite or NaN.
///
/// ```
/// # use firesteel_stats::StatCounter;
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
    mean: f64,
    /// What rounding took from the mean: far from 0, blocks are merged by steps that are smaller than its last digit.
    mean_rest: f64,
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
        // An infinite number has no distance from itself.
        let m2 = if value.is_finite() { 0.0 } else { f64::NAN };
        let range = std::iter::once(value).collect();
        self.merge(&Self { count: 1, sum: value, mean: value, mean_rest: 0.0, m2, range });
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
        let all = here + there;
        let distance = (other.mean - self.mean) + (other.mean_rest - self.mean_rest);
        self.m2 += other.m2 + distance * distance * (here * there / all);
        (self.mean, self.mean_rest) = if distance.is_finite() {
            // A step from the mean that has more weight: it is the shorter one, and loses less.
            let (from, step) = if here < there {
                (other, -distance * (here / all))
            } else {
                (&*self, distance * (there / all))
            };
            let (mean, rest) = two_sum(from.mean, step);
            two_sum(mean, rest + from.mean_rest)
        } else {
            (self.mean * (here / all) + other.mean * (there / all), 0.0)
        };
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
        // A sum may overflow on its way to a value that does not.
        if self.sum.is_finite() { self.sum } else { self.mean * self.count as f64 }
    }

    /// The mean of the numbers; NaN if there is none.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.mean }
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
    ///
    /// Both are over distances from the first number. Those of numbers that lie together far from 0 are exact, and of
    /// equal ones they are 0.
    #[inline]
    fn of_block(values: &[f64]) -> Self {
        let Some(&first) = values.first() else { return Self::new() };
        let distance = sum(values, |value| value - first) / values.len() as f64;
        let (mean, mean_rest) = two_sum(first, distance);
        if !mean.is_finite() {
            return Self::of_extreme_block(values);
        }
        let m2 = sum(values, |value| {
            let from_mean = (value - first) - distance;
            from_mean * from_mean
        });
        let range = values.iter().copied().collect();
        Self { count: values.len() as u64, sum: sum(values, |value| value), mean, mean_rest, m2, range }
    }

    /// The moments of a few numbers that are infinite or NaN, or so large that distances between them overflow.
    #[cold]
    fn of_extreme_block(values: &[f64]) -> Self {
        // A power of two, so that scaling loses nothing of numbers this large.
        const SCALE: f64 = 2.0 * BLOCK as f64;
        let mean = sum(values, |value| value / SCALE) / values.len() as f64 * SCALE;
        let m2 = sum(values, |value| (value - mean) * (value - mean));
        let range = values.iter().copied().collect();
        Self { count: values.len() as u64, sum: sum(values, |value| value), mean, mean_rest: 0.0, m2, range }
    }
}

/// The sum of two numbers, and what rounding took from it.
#[inline]
fn two_sum(one: f64, two: f64) -> (f64, f64) {
    let sum = one + two;
    let of_two = sum - one;
    (sum, (one - (sum - of_two)) + (two - of_two))
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
mod tests;
