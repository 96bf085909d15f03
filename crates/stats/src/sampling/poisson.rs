//! Sampling with replacement: each row is in the sample any number of times.

use firesteel_types::Rng;
use serde::{Deserialize, Serialize};

use super::copies::Copies;
use super::draw::Gaps;
use super::error::{self, SamplingError};
use super::poisson_counts::PoissonCounts;

/// Up to this fraction the sampler draws how many rows to skip, above it draws a count for each row.
const GAPS_MAX: f64 = 0.4;

/// A sampler that takes each row a Poisson-distributed number of times.
///
/// The count of a row in a sample with replacement is nearly Poisson, and unlike the true (multinomial) counts
/// those of different rows do not depend on each other, so partitions can be sampled apart.
///
/// ```
/// use firesteel_stats::sampling::Poisson;
///
/// let sample: Vec<u32> = Poisson::new(2.0)?.sample(0..10_000, 7).collect();
///
/// assert!((19_000..21_000).contains(&sample.len()));
/// assert!(sample.is_sorted());
/// # Ok::<(), firesteel_stats::sampling::SamplingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Poisson {
    fraction: f64,
}

impl Poisson {
    /// Makes a sampler that takes each row `fraction` times on average; an error if that is below 0.
    pub fn new(fraction: f64) -> Result<Self, SamplingError> {
        Ok(Self { fraction: error::rate(fraction)? })
    }

    /// How often each row is taken on average.
    pub fn fraction(self) -> f64 {
        self.fraction
    }

    /// Gives the rows of the sample, in order and when asked for; copies of a row follow each other.
    pub fn sample<I>(self, items: I, seed: u64) -> PoissonSample<I>
    where
        I: Iterator,
        I::Item: Clone,
    {
        let mode = match self.fraction {
            0.0 => Mode::Nothing,
            mean if mean <= GAPS_MAX => {
                // No copy at all has probability e^-mean.
                Mode::Gaps(Gaps::between_hits(-mean), PoissonCounts::above_zero(mean))
            }
            mean => Mode::Counts(PoissonCounts::new(mean)),
        };
        PoissonSample { items, mode, rng: Rng::new(seed), copies: Copies::none() }
    }
}

/// An iterator over the rows that a [`Poisson`] sampler takes.
#[must_use = "a sample is lazy and takes nothing until it is iterated"]
#[derive(Clone, Debug)]
pub struct PoissonSample<I: Iterator> {
    items: I,
    mode: Mode,
    rng: Rng,
    copies: Copies<I::Item>,
}

#[derive(Clone, Debug)]
enum Mode {
    Nothing,
    Gaps(Gaps, PoissonCounts),
    Counts(PoissonCounts),
}

impl<I> Iterator for PoissonSample<I>
where
    I: Iterator,
    I::Item: Clone,
{
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        loop {
            if let Some(item) = self.copies.next() {
                return Some(item);
            }
            let rng = &mut self.rng;
            self.copies = match &self.mode {
                Mode::Nothing => return None,
                Mode::Gaps(gaps, counts) => Copies::of(self.items.nth(gaps.next(rng))?, counts.next(rng)),
                Mode::Counts(counts) => Copies::of(self.items.next()?, counts.next(rng)),
            };
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let upper = match self.mode {
            Mode::Nothing => Some(0),
            Mode::Gaps(..) | Mode::Counts(_) => None,
        };
        (self.copies.len(), upper)
    }

    #[inline]
    fn fold<B, F: FnMut(B, I::Item) -> B>(self, init: B, mut f: F) -> B {
        let Self { mut items, mode, mut rng, copies } = self;
        let mut result = copies.fold(init, &mut f);
        match mode {
            Mode::Nothing => result,
            Mode::Gaps(gaps, counts) => {
                while let Some(item) = items.nth(gaps.next(&mut rng)) {
                    result = Copies::of(item, counts.next(&mut rng)).fold(result, &mut f);
                }
                result
            }
            Mode::Counts(counts) => items
                .fold(result, |result, item| Copies::of(item, counts.next(&mut rng)).fold(result, &mut f)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(fraction: f64, rows: u32, seed: u64) -> Vec<u32> {
        Poisson::new(fraction).unwrap().sample(0..rows, seed).collect()
    }

    #[test]
    fn the_size_of_a_sample_is_as_a_poisson_distribution_says() {
        let rows = 100_000;
        for fraction in [0.0005, 0.05, 0.4, 0.41, 1.0, 2.5, 40.0] {
            for seed in 0..5 {
                let size = sample(fraction, rows, seed).len() as f64;
                let mean = f64::from(rows) * fraction;

                assert!((size - mean).abs() < 5.0 * mean.sqrt(), "{size} of {mean}");
            }
        }
    }

    #[test]
    fn every_row_has_the_same_mean_count() {
        for fraction in [0.2, 0.8] {
            let mut hits = [0_u32; 20];
            for seed in 0..20_000 {
                for row in sample(fraction, 20, seed) {
                    hits[row as usize] += 1;
                }
            }

            let mean = 20_000.0 * fraction;
            assert!(hits.iter().all(|&n| (f64::from(n) - mean).abs() < 5.0 * mean.sqrt()), "{hits:?}");
        }
    }

    #[test]
    fn rows_come_more_than_once_and_nothing_comes_of_a_fraction_of_zero() {
        let sample_of_small = sample(0.25, 10_000, 1);

        assert!(sample_of_small.windows(2).any(|pair| pair[0] == pair[1]), "also when gaps are drawn");
        assert!(sample(1.0, 10, 1).windows(2).any(|pair| pair[0] == pair[1]));
        assert!(sample(0.0, 10_000, 1).is_empty());
    }

    #[test]
    fn a_sample_takes_no_more_rows_than_it_needs() {
        let mut pulled = 0;
        let rows = (0..1_000_000).inspect(|_| pulled += 1);

        let first = Poisson::new(0.5).unwrap().sample(rows, 1).next();

        assert_eq!(first, Some(pulled - 1));
    }

    proptest! {
        /// Behaviours: RDD-020.
        #[test]
        fn a_sample_depends_on_data_and_seed_and_not_on_how_it_is_driven(
            fraction in 0.0..3.0_f64, rows in 0..300_u32, seed: u64, by_hand in 0..5_usize,
        ) {
            let whole = sample(fraction, rows, seed);
            let mut rest = Poisson::new(fraction).unwrap().sample(0..rows, seed);
            let mut driven: Vec<u32> = rest.by_ref().take(by_hand).collect();
            rest.for_each(|row| driven.push(row));

            prop_assert!(whole.is_sorted());
            prop_assert!(whole.iter().all(|&row| row < rows));
            prop_assert_eq!(driven, whole);
        }
    }
}
