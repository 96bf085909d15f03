//! One sampler for both ways of sampling, chosen at run time.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::bernoulli::{Bernoulli, BernoulliSample};
use super::error::SamplingError;
use super::poisson::{Poisson, PoissonSample};

/// Whether a row can be in a sample more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Replacement {
    /// Each row is put back after it was drawn, and may be drawn again.
    With,
    /// Each row is drawn at most once.
    Without,
}

/// A sampler of a fraction of all rows, with or without replacement.
///
/// ```
/// use firesteel_stats::sampling::{Replacement, Sampler};
///
/// let sampler = Sampler::new(Replacement::Without, 1.0)?;
/// assert!(sampler.sample(0..5, 7).eq(0..5));
///
/// assert!(Sampler::new(Replacement::Without, 1.5).is_err());
/// assert!(Sampler::new(Replacement::With, 1.5).is_ok());
/// # Ok::<(), firesteel_stats::sampling::SamplingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Sampler {
    /// Without replacement.
    Bernoulli(Bernoulli),
    /// With replacement.
    Poisson(Poisson),
}

impl Sampler {
    /// Makes a sampler; an error if the fraction is negative, or above 1 without replacement.
    pub fn new(replacement: Replacement, fraction: f64) -> Result<Self, SamplingError> {
        match replacement {
            Replacement::With => Poisson::new(fraction).map(Self::Poisson),
            Replacement::Without => Bernoulli::new(fraction).map(Self::Bernoulli),
        }
    }

    /// Gives the rows of the sample, in order and when asked for.
    pub fn sample<I>(self, items: I, seed: u64) -> Sampled<I>
    where
        I: Iterator,
        I::Item: Clone,
    {
        match self {
            Self::Bernoulli(sampler) => Sampled::Bernoulli(sampler.sample(items, seed)),
            Self::Poisson(sampler) => Sampled::Poisson(sampler.sample(items, seed)),
        }
    }
}

/// An iterator over the rows that a [`Sampler`] takes.
#[must_use = "a sample is lazy and takes nothing until it is iterated"]
pub enum Sampled<I: Iterator> {
    /// Without replacement.
    Bernoulli(BernoulliSample<I>),
    /// With replacement.
    Poisson(PoissonSample<I>),
}

impl<I: Iterator> fmt::Debug for Sampled<I> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = match self {
            Self::Bernoulli(_) => "Bernoulli",
            Self::Poisson(_) => "Poisson",
        };
        out.debug_tuple(way).finish_non_exhaustive()
    }
}

impl<I> Iterator for Sampled<I>
where
    I: Iterator,
    I::Item: Clone,
{
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        match self {
            Self::Bernoulli(sample) => sample.next(),
            Self::Poisson(sample) => sample.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Bernoulli(sample) => sample.size_hint(),
            Self::Poisson(sample) => sample.size_hint(),
        }
    }

    #[inline]
    fn fold<B, F: FnMut(B, I::Item) -> B>(self, init: B, f: F) -> B {
        match self {
            Self::Bernoulli(sample) => sample.fold(init, f),
            Self::Poisson(sample) => sample.fold(init, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sampler_takes_what_the_chosen_way_of_sampling_takes() {
        let without = Sampler::new(Replacement::Without, 0.3).unwrap();
        let with = Sampler::new(Replacement::With, 0.8).unwrap();

        assert!(without.sample(0..1000, 5).eq(Bernoulli::new(0.3).unwrap().sample(0..1000, 5)));
        assert!(with.sample(0..1000, 5).eq(Poisson::new(0.8).unwrap().sample(0..1000, 5)));
        let mut folded = Vec::new();
        with.sample(0..1000, 5).for_each(|row| folded.push(row));
        assert_eq!(folded, with.sample(0..1000, 5).collect::<Vec<_>>());
    }
}
