//! A sample of an exact size from a whole RDD.

use firesteel_types::Rng;

use super::sampler::Replacement;

/// How to get a sample of an exact size, once the rows are counted.
///
/// The steps of `take_sample`: count the rows, follow the plan, repeat a [`TakeSamplePlan::Fraction`] with another
/// seed while fewer rows came than asked (one time in ten thousand), and [`draw_exactly`] from what came.
///
/// ```
/// use firesteel_stats::sampling::{Replacement, TakeSamplePlan};
///
/// assert_eq!(TakeSamplePlan::new(Replacement::Without, 50, 20), TakeSamplePlan::Everything);
/// assert_eq!(TakeSamplePlan::new(Replacement::With, 50, 0), TakeSamplePlan::Nothing);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TakeSamplePlan {
    /// The sample is empty: no rows were asked for, or there are none.
    Nothing,
    /// All rows are in the sample.
    Everything,
    /// Sample each partition with this fraction.
    Fraction(f64),
}

impl TakeSamplePlan {
    /// Plans a sample of `size` out of `count` rows.
    pub fn new(replacement: Replacement, size: u64, count: u64) -> Self {
        if size == 0 || count == 0 {
            Self::Nothing
        } else if replacement == Replacement::Without && size >= count {
            Self::Everything
        } else {
            Self::Fraction(compute_fraction_for_sample_size(replacement, size, count))
        }
    }
}

/// Gives a fraction with which a sample of `count` rows has at least `size` rows, with probability 99.99 %.
///
/// `count` is above 0; without replacement `size` is below it.
///
/// ```
/// use firesteel_stats::sampling::{Replacement, compute_fraction_for_sample_size};
///
/// let fraction = compute_fraction_for_sample_size(Replacement::Without, 100, 10_000);
/// assert!(fraction > 0.01 && fraction < 0.02);
/// ```
pub fn compute_fraction_for_sample_size(replacement: Replacement, size: u64, count: u64) -> f64 {
    let (size, count) = (size as f64, count as f64);
    match replacement {
        // A Poisson count with a mean of some standard deviations more; a small one needs more of them.
        Replacement::With => {
            let deviations = match size {
                ..6.0 => 12.0,
                6.0..16.0 => 9.0,
                _ => 6.0,
            };
            (size + deviations * size.sqrt()) / count
        }
        // Chernoff's bound for a binomial count, solved for the probability of one row.
        Replacement::Without => {
            let fraction = size / count;
            let gamma = -libm::log(FAILURE) / count;
            (fraction + gamma + (gamma * gamma + 2.0 * gamma * fraction).sqrt()).min(1.0)
        }
    }
}

/// How likely a sample may come out too small.
const FAILURE: f64 = 1e-4;

/// Draws `size` of the rows, in random order; all of them, shuffled, if there are no more.
///
/// ```
/// use firesteel_stats::sampling::draw_exactly;
///
/// let drawn = draw_exactly((0..100).collect(), 5, 7);
/// assert_eq!(drawn.len(), 5);
/// ```
pub fn draw_exactly<T>(mut rows: Vec<T>, size: usize, seed: u64) -> Vec<T> {
    let mut rng = Rng::new(seed);
    let size = size.min(rows.len());
    for place in 0..size {
        let from = place + rng.below(rows.len() - place);
        rows.swap(place, from);
    }
    rows.truncate(size);
    rows
}

#[cfg(test)]
mod tests {
    use super::super::{Sampler, derive_seed};
    use super::*;
    use proptest::prelude::*;
    use statrs::distribution::{Binomial, DiscreteCDF, Poisson};

    #[test]
    fn a_sample_is_large_enough_but_for_one_time_in_ten_thousand() {
        for size in [1, 2, 5, 6, 15, 16, 100, 1000] {
            for count in [size + 1, 2 * size, 10 * size, 1000 * size] {
                let without = compute_fraction_for_sample_size(Replacement::Without, size, count);
                let too_few = Binomial::new(without, count).unwrap().cdf(size - 1);
                assert!(too_few <= FAILURE, "{size} of {count}: {too_few}");

                let with = compute_fraction_for_sample_size(Replacement::With, size, count);
                let too_few = Poisson::new(with * count as f64).unwrap().cdf(size - 1);
                assert!(too_few <= FAILURE, "{size} of {count}: {too_few}");
            }
        }
    }

    #[test]
    fn a_large_sample_is_planned_with_little_more_than_its_share() {
        let without = compute_fraction_for_sample_size(Replacement::Without, 100_000, 1_000_000);
        let with = compute_fraction_for_sample_size(Replacement::With, 100_000, 1_000_000);

        assert!((0.1..0.103).contains(&without), "{without}");
        assert!((0.1..0.103).contains(&with), "{with}");
    }

    #[test]
    fn a_draw_gives_each_order_of_each_choice_equally_often() {
        let mut hits = [[0_u32; 4]; 4];
        for seed in 0..24_000 {
            let drawn = draw_exactly(vec![0, 1, 2, 3], 2, seed);
            hits[drawn[0]][drawn[1]] += 1;
        }

        // Twelve ordered pairs: 2000 each with a standard deviation of 43.
        for (first, second) in (0..16).map(|pair| (pair / 4, pair % 4)) {
            let (expected, allowed) = if first == second { (0, 0) } else { (2000, 220) };
            assert!(hits[first][second].abs_diff(expected) <= allowed, "{hits:?}");
        }
    }

    /// Follows a plan over partitions, as an action would.
    fn take_sample(replacement: Replacement, size: usize, rows: u32, seed: u64) -> Vec<u32> {
        let fraction = match TakeSamplePlan::new(replacement, size as u64, u64::from(rows)) {
            TakeSamplePlan::Nothing => return Vec::new(),
            TakeSamplePlan::Everything => return draw_exactly((0..rows).collect(), size, seed),
            TakeSamplePlan::Fraction(fraction) => fraction,
        };
        let sampler = Sampler::new(replacement, fraction).unwrap();
        let attempt = |attempt| sampler.sample(0..rows, derive_seed(seed, attempt)).collect::<Vec<_>>();
        let enough = (0..9).map(attempt).find(|sample| sample.len() >= size).expect("nine bad samples");
        draw_exactly(enough, size, seed)
    }

    proptest! {
        /// Behaviours: RDD-020.
        #[test]
        fn a_sample_has_exactly_the_size_asked_for_or_all_rows(
            size in 0..60_usize, rows in 0..100_u32, seed: u64,
        ) {
            let with = take_sample(Replacement::With, size, rows, seed);
            let mut without = take_sample(Replacement::Without, size, rows, seed);

            prop_assert_eq!(with.len(), if rows == 0 { 0 } else { size });
            prop_assert_eq!(without.len(), size.min(rows as usize));
            without.sort_unstable();
            prop_assert!(without.is_sorted_by(|a, b| a < b), "no row twice");
        }
    }
}
