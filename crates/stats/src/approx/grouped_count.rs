//! How often each value occurs, from the partitions that are counted.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::FixedState;

use super::bounded_double::BoundedDouble;
use super::count::bounded_count;
use super::evaluator::{ApproximateEvaluator, ConfidenceError, Progress, Seen};

/// Estimates a count for each value seen so far; values not seen are not in the answer.
///
/// ```
/// use firesteel_stats::{ApproximateEvaluator, BoundedDouble, GroupedCountEvaluator};
///
/// let mut counts = GroupedCountEvaluator::new(2, 0.95)?;
/// counts.merge(vec![("a", 3), ("b", 1)]);
/// counts.merge(vec![("a", 4)]);
///
/// assert_eq!(counts.current_result()["a"], BoundedDouble::exact(7.0));
/// # Ok::<(), firesteel_stats::ConfidenceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GroupedCountEvaluator<K> {
    progress: Progress,
    counts: HashMap<K, u64, FixedState>,
}

impl<K: Eq + Hash + Clone> GroupedCountEvaluator<K> {
    /// Makes an evaluator for this many partitions; an error if the confidence is no probability.
    pub fn new(partitions: u32, confidence: f64) -> Result<Self, ConfidenceError> {
        Ok(Self { progress: Progress::new(partitions, confidence)?, counts: HashMap::default() })
    }

    fn map(&self, mut bounded: impl FnMut(u64) -> BoundedDouble) -> HashMap<K, BoundedDouble> {
        self.counts.iter().map(|(key, &count)| (key.clone(), bounded(count))).collect()
    }
}

impl<K: Eq + Hash + Clone> ApproximateEvaluator for GroupedCountEvaluator<K> {
    type Output = Vec<(K, u64)>;
    type Result = HashMap<K, BoundedDouble>;

    fn merge(&mut self, output: Vec<(K, u64)>) {
        self.progress.advance();
        for (key, count) in output {
            *self.counts.entry(key).or_default() += count;
        }
    }

    fn current_result(&self) -> HashMap<K, BoundedDouble> {
        match self.progress.seen() {
            Seen::Nothing => HashMap::new(),
            Seen::Everything => self.map(|count| BoundedDouble::exact(count as f64)),
            Seen::Share(share) => {
                // Many values share a count, and a quantile costs far more than a look into a table.
                let mut known: HashMap<u64, BoundedDouble, FixedState> = HashMap::default();
                let confidence = self.progress.confidence;
                self.map(|count| {
                    *known.entry(count).or_insert_with(|| bounded_count(count, share, confidence))
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_estimated_as_a_count_of_its_own() {
        let mut evaluator = GroupedCountEvaluator::new(4, 0.95).unwrap();
        assert_eq!(evaluator.current_result(), HashMap::new());

        evaluator.merge(vec![('a', 3), ('b', 1)]);
        evaluator.merge(vec![('a', 7)]);

        let result = evaluator.current_result();
        assert_eq!(result[&'a'], BoundedDouble { mean: 20.0, confidence: 0.95, low: 14.0, high: 27.0 });
        assert_eq!(result[&'b'], BoundedDouble { mean: 2.0, confidence: 0.95, low: 1.0, high: 4.0 });
        assert_eq!(result.len(), 2);
    }

    #[test]
    fn all_partitions_give_the_exact_counts() {
        let mut evaluator = GroupedCountEvaluator::new(2, 0.95).unwrap();
        evaluator.merge(vec![('a', 3), ('b', 1)]);
        evaluator.merge(vec![('a', 7)]);

        let exact = |key, count| (key, BoundedDouble::exact(count));
        assert_eq!(evaluator.current_result(), HashMap::from([exact('a', 10.0), exact('b', 1.0)]));
    }
}
