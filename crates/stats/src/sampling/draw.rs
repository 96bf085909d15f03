//! Numbers drawn from a seeded generator: chances, units and gaps.

use firesteel_types::Rng;

/// 2⁶³: one more than the largest point.
pub(super) const WHOLE: u64 = 1 << 63;

/// A probability as an integer threshold: one draw and one comparison per trial, exact at 0 and at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Chance(u64);

impl Chance {
    /// The chance of `probability`, which lies within 0 and 1.
    pub(super) fn new(probability: f64) -> Self {
        Self(threshold(probability))
    }

    /// Whether the next trial hits.
    #[inline]
    pub(super) fn hits(self, rng: &mut Rng) -> bool {
        point(rng) < self.0
    }
}

/// Where `share` of all points end: a point below is in the share.
#[expect(clippy::cast_sign_loss, reason = "a share lies within 0 and 1")]
pub(super) fn threshold(share: f64) -> u64 {
    // The product is exact, and at most the whole: a power of two only moves the exponent.
    (share * WHOLE as f64) as u64
}

/// A point from 0 up to 2⁶³.
#[inline]
pub(super) fn point(rng: &mut Rng) -> u64 {
    rng.next_u64() >> 1
}

/// A number above 0 and at most 1, so that it has a logarithm.
#[inline]
pub(super) fn positive_unit(rng: &mut Rng) -> f64 {
    const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
    ((rng.next_u64() >> 11) + 1) as f64 * STEP
}

/// How many trials miss before the next hit, drawn at once instead of trial by trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gaps {
    /// 1 / ln(the probability of a miss).
    scale: f64,
}

impl Gaps {
    /// Gaps between hits, given the logarithm of the probability of a miss, which is below 0.
    pub(super) fn between_hits(ln_miss: f64) -> Self {
        Self { scale: 1.0 / ln_miss }
    }

    /// The length of the next gap.
    #[inline]
    #[expect(clippy::cast_sign_loss, reason = "both factors are at most 0")]
    pub(super) fn next(self, rng: &mut Rng) -> usize {
        (libm::log(positive_unit(rng)) * self.scale) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chance_of_one_always_hits_and_of_zero_never() {
        let mut rng = Rng::new(1);

        assert!((0..10_000).all(|_| Chance::new(1.0).hits(&mut rng)));
        assert!(!(0..10_000).any(|_| Chance::new(0.0).hits(&mut rng)));
    }

    #[test]
    fn gaps_have_the_mean_of_a_geometric_distribution() {
        let (mut rng, probability, draws) = (Rng::new(2), 0.05_f64, 200_000);
        let gaps = Gaps::between_hits(libm::log1p(-probability));

        let total: usize = (0..draws).map(|_| gaps.next(&mut rng)).sum();

        // Mean 19 with a standard deviation of 19.5, so of 0.044 over the draws.
        let mean = total as f64 / f64::from(draws);
        assert!((mean - 19.0).abs() < 0.2, "{mean}");
    }
}
