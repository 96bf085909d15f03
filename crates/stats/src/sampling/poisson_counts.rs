//! Counts drawn from a Poisson distribution.

use firesteel_types::Rng;
use serde::{Deserialize, Serialize};

use super::draw;

/// The largest mean drawn from one table, so that e^-mean stays far from underflow and the table short.
const TABLE_MEAN_MAX: f64 = 16.0;

/// How many of the 63 bits of a point choose its entry in the guide.
const GUIDE_BITS: u32 = 6;

/// A source of counts with a Poisson distribution, as a table of cumulative probabilities.
///
/// A draw costs one random number and mostly one comparison, because the first bits of the number lead to its
/// place in the table: a search from the start would end at a random place, which no processor can foresee.
/// Only the mean travels; the table is made again from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "f64", into = "f64")]
pub(super) struct PoissonCounts {
    /// The count of the table's first entry.
    first: u32,
    /// `ends[i]` is where the points of the counts up to `first + i` end; the last is where all points end.
    ends: Vec<u64>,
    /// For each value of the first bits the first place in `ends` that points with these bits can have.
    guide: [u8; 1 << GUIDE_BITS],
    /// How many draws make one count: a sum of Poisson counts is one, with the sum of the means.
    draws: u32,
    /// The mean of all counts.
    mean: f64,
}

impl PoissonCounts {
    /// Counts with this mean, which is at least 0 and finite.
    #[expect(clippy::cast_sign_loss, reason = "the mean is at least 0")]
    pub(super) fn new(mean: f64) -> Self {
        let draws = (mean / TABLE_MEAN_MAX).ceil().max(1.0) as u32;
        let of_one = mean / f64::from(draws);
        let ends = ends(0, libm::exp(-of_one), of_one);
        Self { first: 0, guide: guide(&ends), ends, draws, mean }
    }

    /// Counts with this mean, of which only those above 0 are drawn; the mean is small and not 0.
    pub(super) fn above_zero(mean: f64) -> Self {
        // The probability of 1 among the counts above 0; `expm1` keeps it exact for a tiny mean.
        let ends = ends(1, mean / libm::expm1(mean), mean);
        Self { first: 1, guide: guide(&ends), ends, draws: 1, mean }
    }

    /// The next count.
    #[inline]
    pub(super) fn next(&self, rng: &mut Rng) -> u32 {
        (0..self.draws).map(|_| self.draw(rng)).sum()
    }

    #[inline]
    fn draw(&self, rng: &mut Rng) -> u32 {
        let point = draw::point(rng);
        let mut place = usize::from(self.guide[(point >> (63 - GUIDE_BITS)) as usize]);
        while point >= self.ends[place] {
            place += 1;
        }
        self.first + place as u32
    }
}

/// The ends of the counts from `first` on, which itself has `probability`.
fn ends(first: u32, mut probability: f64, mean: f64) -> Vec<u64> {
    let (mut count, mut total, mut ends) = (f64::from(first), 0.0, Vec::new());
    // Past the mean the probabilities only fall; below one point in 2⁶³ nothing is left to tell apart.
    while draw::threshold(probability) > 0 || count <= mean {
        total += probability;
        ends.push(draw::threshold(total));
        count += 1.0;
        probability *= mean / count;
    }
    // Rounding may leave a few points of 2⁶³ over; they belong to the next count.
    ends.push(draw::WHOLE);
    ends
}

/// The guide to these ends.
fn guide(ends: &[u64]) -> [u8; 1 << GUIDE_BITS] {
    std::array::from_fn(|bits| {
        let first_point = (bits as u64) << (63 - GUIDE_BITS);
        ends.partition_point(|&end| end <= first_point) as u8
    })
}

impl From<f64> for PoissonCounts {
    fn from(mean: f64) -> Self {
        Self::new(mean)
    }
}

impl From<PoissonCounts> for f64 {
    fn from(counts: PoissonCounts) -> Self {
        counts.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StatCounter;

    #[test]
    fn counts_have_the_mean_and_the_variance_of_their_distribution() {
        let draws = 200_000;
        for mean in [0.0, 0.01, 0.7, 1.0, 3.5, 15.9, 16.1, 200.0] {
            let (counts, mut rng) = (PoissonCounts::new(mean), Rng::new(4));

            let stats: StatCounter = (0..draws).map(|_| f64::from(counts.next(&mut rng))).collect();

            let deviation = (mean / f64::from(draws)).sqrt();
            assert!((stats.mean() - mean).abs() <= 5.0 * deviation, "{mean}: {stats}");
            assert!((stats.variance() - mean).abs() <= 0.03 * mean, "{mean}: {stats}");
        }
    }

    #[test]
    fn counts_above_zero_are_the_others_without_zero() {
        let (mean, draws) = (0.3_f64, 200_000);
        let (counts, mut rng) = (PoissonCounts::above_zero(mean), Rng::new(4));

        let stats: StatCounter = (0..draws).map(|_| f64::from(counts.next(&mut rng))).collect();

        let expected = mean / (1.0 - (-mean).exp());
        assert!((stats.mean() - expected).abs() < 5.0 * (stats.variance() / f64::from(draws)).sqrt());
        assert!(stats.min() >= 1.0);
    }

    #[test]
    fn probabilities_are_those_of_the_formula() {
        let ends = PoissonCounts::new(2.0).ends;
        let shares: Vec<f64> = ends.iter().take(4).map(|&end| end as f64 / (1_u64 << 63) as f64).collect();

        let expected = [0.135_335_283, 0.406_005_850, 0.676_676_416, 0.857_123_460];
        for (share, expected) in shares.iter().zip(expected) {
            assert!((share - expected).abs() < 1e-8, "{shares:?}");
        }
    }
}
