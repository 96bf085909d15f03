//! Sampling without replacement: each row is in the sample with the same probability, alone.

use firesteel_types::Rng;
use serde::{Deserialize, Serialize};
use std::iter::FusedIterator;

use super::draw::{Chance, Gaps};
use super::error::{self, SamplingError};

/// Up to this fraction the sampler draws how many rows to skip, above it draws once for each row.
///
/// A gap costs a logarithm and a jump that no processor foresees, together some twenty draws. The rows within cost
/// nothing where the iterator can skip.
const GAPS_MAX: f64 = 0.04;

/// A sampler that takes each row with one probability, at most once.
///
/// ```
/// use firesteel_stats::sampling::Bernoulli;
///
/// let sampler = Bernoulli::new(0.01)?;
/// let sample: Vec<u32> = sampler.sample(0..100_000, 7).collect();
///
/// assert!((900..1100).contains(&sample.len()));
/// assert!(sampler.sample(0..100_000, 7).eq(sample), "the seed decides");
/// # Ok::<(), firesteel_stats::sampling::SamplingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bernoulli {
    fraction: f64,
}

impl Bernoulli {
    /// Makes a sampler of `fraction` of all rows; an error unless it lies within 0 and 1.
    pub fn new(fraction: f64) -> Result<Self, SamplingError> {
        Ok(Self { fraction: error::probability(fraction)? })
    }

    /// The probability of each row.
    pub fn fraction(self) -> f64 {
        self.fraction
    }

    /// Gives the rows of the sample, in order and when asked for.
    pub fn sample<I: Iterator>(self, items: I, seed: u64) -> BernoulliSample<I> {
        let mode = match self.fraction {
            0.0 => Mode::Nothing,
            1.0 => Mode::Everything,
            fraction if fraction <= GAPS_MAX => Mode::Gaps(Gaps::between_hits(libm::log1p(-fraction))),
            fraction => Mode::Trials(Chance::new(fraction)),
        };
        BernoulliSample { items, mode, rng: Rng::new(seed) }
    }
}

/// An iterator over the rows that a [`Bernoulli`] sampler takes.
#[must_use = "a sample is lazy and takes nothing until it is iterated"]
#[derive(Clone, Debug)]
pub struct BernoulliSample<I> {
    items: I,
    mode: Mode,
    rng: Rng,
}

#[derive(Clone, Copy, Debug)]
enum Mode {
    Nothing,
    Everything,
    Gaps(Gaps),
    Trials(Chance),
}

impl<I: Iterator> Iterator for BernoulliSample<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        let rng = &mut self.rng;
        match self.mode {
            Mode::Nothing => None,
            Mode::Everything => self.items.next(),
            Mode::Gaps(gaps) => self.items.nth(gaps.next(rng)),
            Mode::Trials(chance) => self.items.find(|_| chance.hits(rng)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self.mode {
            Mode::Nothing => (0, Some(0)),
            Mode::Everything => self.items.size_hint(),
            Mode::Gaps(_) | Mode::Trials(_) => (0, self.items.size_hint().1),
        }
    }

    #[inline]
    fn fold<B, F: FnMut(B, I::Item) -> B>(self, init: B, mut f: F) -> B {
        let Self { mut items, mode, mut rng } = self;
        match mode {
            Mode::Nothing => init,
            Mode::Everything => items.fold(init, f),
            // `nth` and not a fold with a counter: slices, ranges, vectors and boxed iterators skip at once.
            Mode::Gaps(gaps) => {
                let mut result = init;
                while let Some(item) = items.nth(gaps.next(&mut rng)) {
                    result = f(result, item);
                }
                result
            }
            Mode::Trials(chance) => {
                items.fold(init, |result, item| if chance.hits(&mut rng) { f(result, item) } else { result })
            }
        }
    }
}

impl<I: FusedIterator> FusedIterator for BernoulliSample<I> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(fraction: f64, rows: u32, seed: u64) -> Vec<u32> {
        Bernoulli::new(fraction).unwrap().sample(0..rows, seed).collect()
    }

    #[test]
    fn the_size_of_a_sample_is_as_a_binomial_distribution_says() {
        let rows = 200_000;
        for fraction in [0.0005, 0.01, 0.04, 0.05, 0.4, 0.5, 0.9, 0.999] {
            for seed in 0..10 {
                let size = sample(fraction, rows, seed).len() as f64;
                let mean = f64::from(rows) * fraction;
                let deviation = (mean * (1.0 - fraction)).sqrt();

                assert!((size - mean).abs() < 5.0 * deviation, "{size} of {mean} at {fraction}");
            }
        }
    }

    #[test]
    fn every_row_has_the_same_probability() {
        for fraction in [0.04, 0.5] {
            let mut hits = [0_u32; 20];
            for seed in 0..20_000 {
                for row in sample(fraction, 20, seed) {
                    hits[row as usize] += 1;
                }
            }

            let mean = 20_000.0 * fraction;
            let deviation = (mean * (1.0 - fraction)).sqrt();
            assert!(hits.iter().all(|&n| (f64::from(n) - mean).abs() < 5.0 * deviation), "{hits:?}");
        }
    }

    #[test]
    fn all_or_nothing_needs_no_luck() {
        assert_eq!(sample(1.0, 1000, 3), (0..1000).collect::<Vec<_>>());
        assert!(sample(0.0, 1000, 3).is_empty());
    }

    #[test]
    fn a_sample_takes_no_more_rows_than_it_needs() {
        let mut pulled = 0;
        let rows = (0..1_000_000).inspect(|_| pulled += 1);

        let first = Bernoulli::new(0.5).unwrap().sample(rows, 1).next();

        assert_eq!(first, Some(pulled - 1));
    }

    #[test]
    fn a_sample_is_the_same_on_every_machine() {
        assert_eq!(sample(0.03, 200, 42), [9, 70, 112, 148]);
        assert_eq!(sample(0.5, 12, 42), [1, 2, 3, 4, 6, 8, 10, 11]);
    }

    proptest! {
        /// Behaviours: RDD-020.
        #[test]
        fn a_sample_depends_on_data_and_seed_and_not_on_how_it_is_driven(
            fraction in 0.0..=1.0_f64, rows in 0..500_u32, seed: u64,
        ) {
            let by_next = sample(fraction, rows, seed);
            let mut by_fold = Vec::new();
            Bernoulli::new(fraction).unwrap().sample(0..rows, seed).for_each(|row| by_fold.push(row));

            prop_assert!(by_next.is_sorted_by(|a, b| a < b), "each row at most once, in order");
            prop_assert!(by_next.iter().all(|&row| row < rows));
            prop_assert_eq!(&by_fold, &by_next);
            prop_assert_eq!(sample(fraction, rows, seed), by_next);
        }
    }
}
