//! The least and the greatest of some numbers.

use serde::{Deserialize, Serialize};

/// The least and the greatest number seen so far.
///
/// A NaN among the numbers makes both ends NaN, so that it cannot go unnoticed.
///
/// ```
/// use firesteel_stats::ValueRange;
///
/// let range: ValueRange = [2.0, -1.0, 5.0].into_iter().collect();
/// assert_eq!((range.min(), range.max()), (-1.0, 5.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValueRange {
    min: f64,
    max: f64,
}

impl ValueRange {
    /// The range of no numbers: it ends before it begins.
    pub const EMPTY: Self = Self { min: f64::INFINITY, max: f64::NEG_INFINITY };

    /// The least number; infinity if there is none.
    pub fn min(&self) -> f64 {
        self.min
    }

    /// The greatest number; negative infinity if there is none.
    pub fn max(&self) -> f64 {
        self.max
    }

    /// Takes in a number.
    #[inline]
    pub fn push(&mut self, value: f64) {
        self.merge(&Self { min: value, max: value });
    }

    /// Takes in the numbers of another range.
    #[inline]
    pub fn merge(&mut self, other: &Self) {
        // A comparison with NaN is false: the first test keeps one that is here, the second lets one in.
        self.min = if self.min.is_nan() || self.min < other.min { self.min } else { other.min };
        self.max = if self.max.is_nan() || self.max > other.max { self.max } else { other.max };
    }
}

impl Default for ValueRange {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Extend<f64> for ValueRange {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        *self = values.into_iter().fold(*self, |mut range, value| {
            range.push(value);
            range
        });
    }
}

impl FromIterator<f64> for ValueRange {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut range = Self::EMPTY;
        range.extend(values);
        range
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_nothing_merges_without_a_trace() {
        let mut range: ValueRange = [3.0].into_iter().collect();
        range.merge(&ValueRange::EMPTY);

        assert_eq!((range.min(), range.max()), (3.0, 3.0));
        assert!(ValueRange::default().min() > ValueRange::default().max());
    }

    #[test]
    fn a_nan_at_any_place_shows_in_both_ends() {
        for values in [[f64::NAN, 1.0, 2.0], [1.0, f64::NAN, 2.0], [1.0, 2.0, f64::NAN]] {
            let range: ValueRange = values.into_iter().collect();

            assert!(range.min().is_nan() && range.max().is_nan(), "{values:?}");
        }
    }
}
