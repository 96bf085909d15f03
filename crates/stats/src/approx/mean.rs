//! The mean of all numbers, from the partitions that are summed.

use crate::StatCounter;

use super::bounded_double::BoundedDouble;
use super::evaluator::{ApproximateEvaluator, ConfidenceError, Progress, Seen};
use super::quantile;

/// Estimates a mean.
///
/// ```
/// use firesteel_stats::{ApproximateEvaluator, MeanEvaluator};
///
/// let mut mean = MeanEvaluator::new(2, 0.95)?;
/// mean.merge([1.0, 2.0, 3.0].into_iter().collect());
///
/// let estimate = mean.current_result();
/// assert_eq!(estimate.mean, 2.0);
/// assert!(estimate.low < 0.0 && estimate.high > 4.0, "three numbers say little");
/// # Ok::<(), firesteel_stats::ConfidenceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MeanEvaluator {
    progress: Progress,
    stats: StatCounter,
}

impl MeanEvaluator {
    /// Makes an evaluator for this many partitions; an error if the confidence is no probability.
    pub fn new(partitions: u32, confidence: f64) -> Result<Self, ConfidenceError> {
        Ok(Self { progress: Progress::new(partitions, confidence)?, stats: StatCounter::new() })
    }
}

impl ApproximateEvaluator for MeanEvaluator {
    type Output = StatCounter;
    type Result = BoundedDouble;

    fn merge(&mut self, output: StatCounter) {
        self.progress.advance();
        self.stats.merge(&output);
    }

    fn current_result(&self) -> BoundedDouble {
        let mean = self.stats.mean();
        let confidence = self.progress.confidence;
        match (self.progress.seen(), self.stats.count()) {
            (Seen::Everything, _) => BoundedDouble::exact(mean),
            (_, 0) => BoundedDouble::unknown(f64::NEG_INFINITY),
            // One number tells nothing about the spread.
            (_, 1) => BoundedDouble { mean, confidence, low: f64::NEG_INFINITY, high: f64::INFINITY },
            (_, count) => {
                let reach = quantile::deviations(count, confidence)
                    * (self.stats.sample_variance() / count as f64).sqrt();
                BoundedDouble { mean, confidence, low: mean - reach, high: mean + reach }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(partitions: u32, outputs: &[&[f64]]) -> BoundedDouble {
        let mut evaluator = MeanEvaluator::new(partitions, 0.95).unwrap();
        for values in outputs {
            evaluator.merge(values.iter().copied().collect());
        }
        evaluator.current_result()
    }

    #[test]
    fn all_partitions_give_the_exact_mean() {
        assert_eq!(result(2, &[&[1.0, 2.0], &[6.0]]), BoundedDouble::exact(3.0));
    }

    #[test]
    fn nothing_or_one_number_leaves_everything_open() {
        let ends = |estimate: BoundedDouble| (estimate.low, estimate.high);
        let open = (f64::NEG_INFINITY, f64::INFINITY);

        assert_eq!((ends(result(2, &[])), result(2, &[]).confidence), (open, 0.0));
        assert_eq!(ends(result(2, &[&[]])), open);
        assert_eq!((ends(result(2, &[&[4.0]])), result(2, &[&[4.0]]).mean), (open, 4.0));
    }

    #[test]
    fn few_numbers_are_bounded_by_students_distribution_and_many_by_the_normal_one() {
        // Mean 2, sample variance 1, so 4.303 / √3 on each side.
        let few = result(2, &[&[1.0, 2.0, 3.0]]);
        assert!((few.high - 2.0 - 4.3027 / 3.0_f64.sqrt()).abs() < 1e-3, "{few}");
        assert!((few.high + few.low - 4.0).abs() < 1e-9, "{few}");

        let values: Vec<f64> = (0..200).map(|i| f64::from(i % 2)).collect();
        let many = result(2, &[&values]);
        let deviation = (0.25 * 200.0 / 199.0 / 200.0_f64).sqrt();
        assert!((many.high - 0.5 - 1.95996 * deviation).abs() < 1e-6, "{many}");
    }
}
