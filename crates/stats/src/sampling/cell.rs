//! Splitting an RDD at random: every row falls into exactly one of several cells.

use firesteel_types::Rng;
use serde::{Deserialize, Serialize};
use std::iter::FusedIterator;
use std::ops::Range;

use super::draw;
use super::error::SamplingError;

/// A sampler that takes the rows whose random point lies in a range.
///
/// The cells made by one call of [`BernoulliCell::split`] tile all points. Each row draws one point from the seed,
/// regardless of the cell: over the same rows with the same seed the samples are disjoint and cover all rows.
///
/// ```
/// use firesteel_stats::sampling::BernoulliCell;
///
/// let cells = BernoulliCell::split(&[3.0, 1.0])?;
/// let parts: Vec<Vec<u32>> = cells.iter().map(|cell| cell.sample(0..1000, 5).collect()).collect();
///
/// assert_eq!(parts[0].len() + parts[1].len(), 1000);
/// assert!((700..800).contains(&parts[0].len()));
/// # Ok::<(), firesteel_stats::sampling::SamplingError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BernoulliCell {
    points: Range<u64>,
}

impl BernoulliCell {
    /// Makes one cell for each weight, each with that share of all rows.
    ///
    /// Weights need not sum to 1. An error if one is negative or not finite, or if all are 0.
    pub fn split(weights: &[f64]) -> Result<Vec<Self>, SamplingError> {
        let invalid = weights.iter().position(|weight| !weight.is_finite() || *weight < 0.0);
        if let Some(split) = invalid {
            return Err(SamplingError::InvalidWeight { split, weight: weights[split] });
        }
        let sum: f64 = weights.iter().sum();
        if !sum.is_finite() || sum <= 0.0 {
            return Err(SamplingError::InvalidWeightSum { sum });
        }
        // Summed in the same order as above, so that the last cell ends exactly where all points end.
        let (mut below, mut start) = (0.0, 0);
        let cell = |weight: &f64| {
            below += weight;
            let end = draw::threshold(below / sum);
            Self { points: std::mem::replace(&mut start, end)..end }
        };
        Ok(weights.iter().map(cell).collect())
    }

    /// Gives the rows of this cell, in order and when asked for.
    pub fn sample<I: Iterator>(&self, items: I, seed: u64) -> CellSample<I> {
        let Range { start, end } = self.points;
        CellSample { items, start, len: end - start, rng: Rng::new(seed) }
    }
}

/// An iterator over the rows that a [`BernoulliCell`] takes.
#[must_use = "a sample is lazy and takes nothing until it is iterated"]
#[derive(Clone, Debug)]
pub struct CellSample<I> {
    items: I,
    start: u64,
    len: u64,
    rng: Rng,
}

impl<I: Iterator> Iterator for CellSample<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        let Self { items, start, len, rng } = self;
        items.find(|_| is_in(*start, *len, rng))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.items.size_hint().1)
    }

    #[inline]
    fn fold<B, F: FnMut(B, I::Item) -> B>(self, init: B, mut f: F) -> B {
        let Self { items, start, len, mut rng } = self;
        items.fold(init, |result, item| if is_in(start, len, &mut rng) { f(result, item) } else { result })
    }
}

/// Whether the next point is in the cell.
#[inline]
fn is_in(start: u64, len: u64, rng: &mut Rng) -> bool {
    // One comparison: a point before the start wraps round to a large number. Two would be a branch each, and no
    // processor can foresee a random one.
    draw::point(rng).wrapping_sub(start) < len
}

impl<I: FusedIterator> FusedIterator for CellSample<I> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shares_are_those_of_the_weights() {
        let rows = 100_000;
        let cells = BernoulliCell::split(&[1.0, 2.0, 0.0, 5.0]).unwrap();

        for (cell, share) in cells.iter().zip([0.125, 0.25, 0.0, 0.625]) {
            let size = cell.sample(0..rows, 9).count() as f64;
            let mean = f64::from(rows) * share;
            assert!((size - mean).abs() <= 5.0 * (mean * (1.0 - share)).sqrt(), "{size} of {mean}");
        }
    }

    #[test]
    fn weights_below_zero_or_without_a_sum_are_errors() {
        let error = |weights: &[f64]| BernoulliCell::split(weights).unwrap_err();

        assert_eq!(error(&[1.0, -0.5]), SamplingError::InvalidWeight { split: 1, weight: -0.5 });
        assert!(matches!(error(&[f64::NAN]), SamplingError::InvalidWeight { split: 0, .. }));
        assert_eq!(error(&[0.0, 0.0]), SamplingError::InvalidWeightSum { sum: 0.0 });
        assert_eq!(error(&[]), SamplingError::InvalidWeightSum { sum: 0.0 });
        assert_eq!(error(&[f64::MAX, f64::MAX]), SamplingError::InvalidWeightSum { sum: f64::INFINITY });
    }

    proptest! {
        /// Behaviours: RDD-020.
        #[test]
        fn the_cells_of_a_split_are_disjoint_and_cover_all_rows(
            weights in prop::collection::vec(prop_oneof![Just(0.0), 0.0..10.0_f64], 1..8),
            rows in 0..500_u32,
            seed: u64,
        ) {
            prop_assume!(weights.iter().sum::<f64>() > 0.0);
            let cells = BernoulliCell::split(&weights).unwrap();

            let mut all = Vec::new();
            for cell in &cells {
                let part: Vec<u32> = cell.sample(0..rows, seed).collect();
                let mut folded = Vec::new();
                cell.sample(0..rows, seed).for_each(|row| folded.push(row));
                prop_assert_eq!(&folded, &part);
                all.extend(part);
            }

            all.sort_unstable();
            prop_assert_eq!(all, (0..rows).collect::<Vec<_>>());
            prop_assert_eq!(cells[0].points.start, 0);
            prop_assert_eq!(cells[cells.len() - 1].points.end, 1 << 63);
        }
    }
}
