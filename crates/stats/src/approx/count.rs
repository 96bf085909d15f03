//! How many rows there are, from the partitions that are counted.

use super::bounded_double::BoundedDouble;
use super::evaluator::{ApproximateEvaluator, ConfidenceError, Progress, Seen};
use super::quantile;

/// Estimates a count of rows.
///
/// ```
/// use firesteel_stats::{ApproximateEvaluator, CountEvaluator};
///
/// let mut count = CountEvaluator::new(4, 0.95)?;
/// count.merge(100);
/// count.merge(104);
///
/// let estimate = count.current_result();
/// assert_eq!(estimate.mean, 408.0);
/// assert!(estimate.low > 370.0 && estimate.high < 440.0);
/// # Ok::<(), firesteel_stats::ConfidenceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CountEvaluator {
    progress: Progress,
    count: u64,
}

impl CountEvaluator {
    /// Makes an evaluator for this many partitions; an error if the confidence is no probability.
    pub fn new(partitions: u32, confidence: f64) -> Result<Self, ConfidenceError> {
        Ok(Self { progress: Progress::new(partitions, confidence)?, count: 0 })
    }
}

impl ApproximateEvaluator for CountEvaluator {
    type Output = u64;
    type Result = BoundedDouble;

    fn merge(&mut self, output: u64) {
        self.progress.advance();
        self.count += output;
    }

    fn current_result(&self) -> BoundedDouble {
        match self.progress.seen() {
            Seen::Everything => BoundedDouble::exact(self.count as f64),
            Seen::Share(share) if self.count > 0 => {
                bounded_count(self.count, share, self.progress.confidence)
            }
            Seen::Share(_) | Seen::Nothing => BoundedDouble::unknown(0.0),
        }
    }
}

/// Estimates a count of which `count` are in the `share` of the data that was seen.
///
/// Rows come at a rate of `count / share` over all data, so those not seen yet are a Poisson count with the rest
/// of that as its mean.
pub(super) fn bounded_count(count: u64, share: f64, confidence: f64) -> BoundedDouble {
    let seen = count as f64;
    let rest = seen * (1.0 - share) / share;
    let tail = (1.0 - confidence) / 2.0;
    BoundedDouble {
        mean: seen + rest,
        confidence,
        low: seen + quantile::poisson(rest, tail),
        high: seen + quantile::poisson(rest, 1.0 - tail),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(partitions: u32, counts: &[u64]) -> BoundedDouble {
        let mut evaluator = CountEvaluator::new(partitions, 0.95).unwrap();
        for &count in counts {
            evaluator.merge(count);
        }
        evaluator.current_result()
    }

    #[test]
    fn all_partitions_give_the_exact_count() {
        assert_eq!(result(3, &[1, 2, 3]), BoundedDouble::exact(6.0));
        assert_eq!(result(0, &[]), BoundedDouble::exact(0.0));
    }

    #[test]
    fn no_rows_so_far_say_nothing() {
        let unknown = BoundedDouble { mean: 0.0, confidence: 0.0, low: 0.0, high: f64::INFINITY };

        assert_eq!([result(3, &[]), result(3, &[0, 0])], [unknown; 2]);
    }

    #[test]
    fn a_part_gives_the_quantiles_of_the_rest() {
        // Ten rows in half of the partitions: ten more, between 4 and 17 of them.
        let estimate = result(4, &[3, 7]);

        assert_eq!(estimate, BoundedDouble { mean: 20.0, confidence: 0.95, low: 14.0, high: 27.0 });
        let large = result(10, &[1_000_000]);
        assert!((large.mean - 10_000_000.0).abs() < 1e-6, "{large}");
        assert!((large.high - large.mean - 1.96 * 3000.0).abs() < 2.0, "{large}");
    }

    #[test]
    fn a_full_confidence_has_no_upper_bound() {
        let mut evaluator = CountEvaluator::new(2, 1.0).unwrap();
        evaluator.merge(5);

        let estimate = evaluator.current_result();
        assert_eq!((estimate.low, estimate.high), (5.0, f64::INFINITY));
    }
}
