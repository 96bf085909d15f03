//! Sampling by key: rows of different keys have different fractions.

use firesteel_types::Rng;
use foldhash::fast::FixedState;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

use super::copies::Copies;
use super::draw::Chance;
use super::error::{self, SamplingError};
use super::poisson_counts::PoissonCounts;
use super::sampler::Replacement;

/// A sampler of pairs with a fraction for each key.
///
/// Every key must have a fraction, 0 if it is to be left out: a row with another key panics, as it fails the task in Spark.
///
/// ```
/// use firesteel_stats::sampling::{Replacement, StratifiedSampler};
///
/// let sampler = StratifiedSampler::new(Replacement::Without, [("all", 1.0), ("none", 0.0)])?;
/// let rows = [("all", 1), ("none", 2), ("all", 3)];
///
/// assert!(sampler.sample(rows.into_iter(), 7).eq([("all", 1), ("all", 3)]));
/// # Ok::<(), firesteel_stats::sampling::SamplingError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "K: Eq + Hash + Deserialize<'de>"))]
pub struct StratifiedSampler<K: Eq + Hash> {
    strata: Strata<K>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "K: Eq + Hash + Deserialize<'de>"))]
enum Strata<K: Eq + Hash> {
    Bernoulli(HashMap<K, Chance, FixedState>),
    Poisson(HashMap<K, PoissonCounts, FixedState>),
}

impl<K: Eq + Hash> StratifiedSampler<K> {
    /// Makes a sampler; an error if a fraction is negative, or above 1 without replacement.
    pub fn new(
        replacement: Replacement,
        fractions: impl IntoIterator<Item = (K, f64)>,
    ) -> Result<Self, SamplingError> {
        let fractions = fractions.into_iter();
        let strata = match replacement {
            Replacement::Without => {
                let chance = |(key, fraction)| Ok((key, Chance::new(error::probability(fraction)?)));
                Strata::Bernoulli(fractions.map(chance).collect::<Result<_, _>>()?)
            }
            Replacement::With => {
                let counts = |(key, fraction)| Ok((key, PoissonCounts::new(error::rate(fraction)?)));
                Strata::Poisson(fractions.map(counts).collect::<Result<_, _>>()?)
            }
        };
        Ok(Self { strata })
    }

    /// Gives the rows of the sample, in order and when asked for; copies of a row follow each other.
    ///
    /// # Panics
    ///
    /// When it comes to a key that has no fraction.
    pub fn sample<V, I>(&self, items: I, seed: u64) -> StratifiedSample<'_, K, I>
    where
        I: Iterator<Item = (K, V)>,
        I::Item: Clone,
    {
        StratifiedSample { items, strata: &self.strata, rng: Rng::new(seed), copies: Copies::none() }
    }
}

impl<K: Eq + Hash + Debug> Strata<K> {
    /// How often the next row is in the sample, given its key.
    #[inline]
    fn count(&self, key: &K, rng: &mut Rng) -> u32 {
        match self {
            Self::Bernoulli(chances) => {
                u32::from(chances.get(key).unwrap_or_else(|| no_fraction(key)).hits(rng))
            }
            Self::Poisson(counts) => counts.get(key).unwrap_or_else(|| no_fraction(key)).next(rng),
        }
    }
}

#[cold]
#[expect(clippy::panic, reason = "an iterator has no other way to refuse a row; a task fails with it")]
fn no_fraction(key: &dyn Debug) -> ! {
    panic!(
        "there is no fraction for the key {key:?}: give every key one, 0.0 to those that are to be left out"
    )
}

/// An iterator over the pairs that a [`StratifiedSampler`] takes.
#[must_use = "a sample is lazy and takes nothing until it is iterated"]
#[derive(Debug)]
pub struct StratifiedSample<'s, K: Eq + Hash, I: Iterator> {
    items: I,
    strata: &'s Strata<K>,
    rng: Rng,
    copies: Copies<I::Item>,
}

impl<K, V, I> Iterator for StratifiedSample<'_, K, I>
where
    K: Eq + Hash + Clone + Debug,
    V: Clone,
    I: Iterator<Item = (K, V)>,
{
    type Item = (K, V);

    #[inline]
    fn next(&mut self) -> Option<(K, V)> {
        loop {
            if let Some(item) = self.copies.next() {
                return Some(item);
            }
            let item = self.items.next()?;
            let count = self.strata.count(&item.0, &mut self.rng);
            self.copies = Copies::of(item, count);
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.copies.len(), None)
    }

    #[inline]
    fn fold<B, F: FnMut(B, (K, V)) -> B>(self, init: B, mut f: F) -> B {
        let Self { items, strata, mut rng, copies } = self;
        let result = copies.fold(init, &mut f);
        items.fold(result, |result, item| {
            let count = strata.count(&item.0, &mut rng);
            Copies::of(item, count).fold(result, &mut f)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRACTIONS: [(char, f64); 4] = [('a', 0.1), ('b', 0.5), ('c', 1.0), ('d', 0.0)];

    fn rows() -> impl Iterator<Item = (char, u32)> {
        (0..40_000).map(|i| (['a', 'b', 'c', 'd'][i as usize % 4], i))
    }

    #[test]
    fn each_key_has_its_own_fraction() {
        for replacement in [Replacement::Without, Replacement::With] {
            let sampler = StratifiedSampler::new(replacement, FRACTIONS).unwrap();
            let sample: Vec<_> = sampler.sample(rows(), 3).collect();
            let size = |key| sample.iter().filter(|row| row.0 == key).count() as f64;

            for (key, fraction) in FRACTIONS {
                let mean = 10_000.0 * fraction;
                assert!((size(key) - mean).abs() <= 5.0 * mean.sqrt(), "{key}: {} of {mean}", size(key));
            }
            assert!(sample.iter().all(|row| row.0 != 'd'));
            assert!(sample.is_sorted_by_key(|row| row.1));
        }
    }

    #[test]
    #[should_panic(expected = "no fraction for the key 'd'")]
    fn a_key_without_a_fraction_is_refused() {
        let sampler = StratifiedSampler::new(Replacement::Without, [('a', 1.0)]).unwrap();

        sampler.sample([('a', 1), ('d', 2)].into_iter(), 3).for_each(drop);
    }

    #[test]
    fn a_row_comes_twice_only_with_replacement() {
        let longest_run = |replacement| {
            let sampler = StratifiedSampler::new(replacement, FRACTIONS).unwrap();
            let sample: Vec<_> = sampler.sample(rows(), 3).collect();
            sample.chunk_by(|x, y| x == y).map(<[_]>::len).max()
        };

        assert_eq!(longest_run(Replacement::Without), Some(1));
        assert!(longest_run(Replacement::With) > Some(2));
    }

    #[test]
    fn a_sample_does_not_depend_on_how_it_is_driven_nor_on_a_journey() {
        for replacement in [Replacement::Without, Replacement::With] {
            let sampler = StratifiedSampler::new(replacement, FRACTIONS).unwrap();
            let bytes = postcard::to_stdvec(&sampler).unwrap();
            let arrived: StratifiedSampler<char> = postcard::from_bytes(&bytes).unwrap();

            let by_next: Vec<_> = sampler.sample(rows(), 3).take(1_000_000).collect();
            let mut by_fold = Vec::new();
            arrived.sample(rows(), 3).for_each(|row| by_fold.push(row));

            assert_eq!(by_fold, by_next);
        }
    }

    #[test]
    fn a_fraction_above_one_needs_replacement() {
        let sampler = |replacement, fraction| StratifiedSampler::new(replacement, [('a', fraction)]);

        let error = SamplingError::FractionAboveOne { fraction: 2.0 };
        assert_eq!(sampler(Replacement::Without, 2.0), Err(error));
        assert!(sampler(Replacement::With, 2.0).is_ok());
        assert!(sampler(Replacement::With, -2.0).is_err());
    }
}
