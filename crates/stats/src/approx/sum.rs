//! The sum of all numbers, from the partitions that are summed.

use crate::StatCounter;

use super::bounded_double::BoundedDouble;
use super::evaluator::{ApproximateEvaluator, ConfidenceError, Progress, Seen};
use super::quantile;

/// Estimates a sum, as what is known plus the product of a count and a mean that are not.
///
/// ```
/// use firesteel_stats::{ApproximateEvaluator, SumEvaluator};
///
/// let mut sum = SumEvaluator::new(4, 0.95)?;
/// sum.merge([1.0, 2.0, 3.0].into_iter().collect());
///
/// assert_eq!(sum.current_result().mean, 24.0);
/// # Ok::<(), firesteel_stats::ConfidenceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SumEvaluator {
    progress: Progress,
    stats: StatCounter,
}

impl SumEvaluator {
    /// Makes an evaluator for this many partitions; an error if the confidence is no probability.
    pub fn new(partitions: u32, confidence: f64) -> Result<Self, ConfidenceError> {
        Ok(Self { progress: Progress::new(partitions, confidence)?, stats: StatCounter::new() })
    }

    /// Estimates from a share of the data that holds at least one number.
    fn estimate(&self, share: f64) -> BoundedDouble {
        let stats = &self.stats;
        let (count, mean, confidence) = (stats.count() as f64, stats.mean(), self.progress.confidence);
        // What was not seen yet is taken to be like what was: as dense, and with the same mean.
        let rest_count = count * (1.0 - share) / share;
        let rest = mean * rest_count;
        let estimate = stats.sum() + rest;
        if stats.count() == 1 {
            let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
            return BoundedDouble { mean: estimate, confidence, low, high };
        }
        // The variance of a product of two independent figures. That of the count is the one of a negative
        // binomial distribution: how many rows are missed until so many were seen, each with probability `share`.
        let count_variance = count * (1.0 - share) / (share * share);
        let mean_variance = stats.sample_variance() / count;
        let variance = mean * mean * count_variance
            + rest_count * rest_count * mean_variance
            + mean_variance * count_variance;
        let reach = quantile::deviations(stats.count(), confidence) * variance.sqrt();
        BoundedDouble { mean: estimate, confidence, low: estimate - reach, high: estimate + reach }
    }
}

impl ApproximateEvaluator for SumEvaluator {
    type Output = StatCounter;
    type Result = BoundedDouble;

    fn merge(&mut self, output: StatCounter) {
        self.progress.advance();
        self.stats.merge(&output);
    }

    fn current_result(&self) -> BoundedDouble {
        match self.progress.seen() {
            Seen::Everything => BoundedDouble::exact(self.stats.sum()),
            Seen::Share(share) if self.stats.count() > 0 => self.estimate(share),
            Seen::Share(_) | Seen::Nothing => BoundedDouble::unknown(f64::NEG_INFINITY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firesteel_types::Rng;

    fn result(partitions: u32, outputs: &[&[f64]]) -> BoundedDouble {
        let mut evaluator = SumEvaluator::new(partitions, 0.95).unwrap();
        for values in outputs {
            evaluator.merge(values.iter().copied().collect());
        }
        evaluator.current_result()
    }

    #[test]
    fn all_partitions_give_the_exact_sum() {
        assert_eq!(result(2, &[&[1.0, 2.0], &[6.0]]), BoundedDouble::exact(9.0));
        assert_eq!(result(1, &[&[]]), BoundedDouble::exact(0.0));
    }

    #[test]
    fn nothing_or_one_number_leaves_everything_open() {
        let ends = |estimate: BoundedDouble| (estimate.low, estimate.high);
        let open = (f64::NEG_INFINITY, f64::INFINITY);

        assert_eq!((ends(result(2, &[])), result(2, &[]).confidence), (open, 0.0));
        assert_eq!(ends(result(2, &[&[]])), open);
        assert_eq!((ends(result(2, &[&[4.0]])), result(2, &[&[4.0]]).mean), (open, 8.0));
    }

    #[test]
    fn the_variance_is_that_of_a_product_of_count_and_mean() {
        // Half of the data: 3 numbers, mean 2, sample variance 1. Variance 4·6 + 9/3 + 6/3 = 29.
        let estimate = result(2, &[&[1.0, 2.0, 3.0]]);

        assert!((estimate.mean - 12.0).abs() < 1e-9, "{estimate}");
        assert!((estimate.high - 12.0 - 4.302_65 * 29.0_f64.sqrt()).abs() < 1e-3, "{estimate}");
        assert!((estimate.low + estimate.high - 24.0).abs() < 1e-9, "{estimate}");
    }

    #[test]
    fn bounds_hold_the_truth_about_as_often_as_they_say() {
        let (runs, mut held) = (400, 0);
        for seed in 0..runs {
            let mut rng = Rng::new(seed);
            let mut evaluator = SumEvaluator::new(10, 0.95).unwrap();
            let mut truth = StatCounter::new();
            // Each row falls into a partition at random; the first four are done.
            let mut done = [StatCounter::new(); 4];
            for _ in 0..500 {
                let value = rng.below(100) as f64;
                truth.push(value);
                if let Some(partition) = done.get_mut(rng.below(10)) {
                    partition.push(value);
                }
            }
            for stats in done {
                evaluator.merge(stats);
            }
            let estimate = evaluator.current_result();
            held += u32::from((estimate.low..=estimate.high).contains(&truth.sum()));
        }

        let share = f64::from(held) / runs as f64;
        assert!(share > 0.91, "{share}");
    }
}
