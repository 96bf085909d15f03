//! How many numbers fall into each bucket.

use serde::{Deserialize, Serialize};

use super::buckets::Buckets;

/// Counts of numbers by bucket, which can be merged with those of other numbers.
///
/// ```
/// use firesteel_stats::{Buckets, Histogram};
///
/// let mut histogram = Histogram::new(Buckets::new(vec![1.0, 10.0, 20.0])?);
/// histogram.extend([1.0, 5.0, 10.0, 20.0, 99.0, f64::NAN]);
///
/// assert_eq!(histogram.counts(), [2, 2]);
/// # Ok::<(), firesteel_stats::HistogramError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    buckets: Buckets,
    counts: Vec<u64>,
}

impl Histogram {
    /// Makes a histogram of no numbers.
    pub fn new(buckets: Buckets) -> Self {
        let counts = vec![0; buckets.len()];
        Self { buckets, counts }
    }

    /// Counts a number; one outside of all buckets, or NaN, is ignored.
    #[inline]
    pub fn push(&mut self, value: f64) {
        if let Some(bucket) = self.buckets.find(value) {
            self.counts[bucket] += 1;
        }
    }

    /// Adds the counts of another histogram.
    ///
    /// # Panics
    ///
    /// If the buckets differ.
    pub fn merge(&mut self, other: &Self) {
        assert!(self.buckets == other.buckets, "histograms with different buckets cannot be merged");
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
    }

    /// The buckets.
    pub fn buckets(&self) -> &Buckets {
        &self.buckets
    }

    /// The counts, one for each bucket.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Gives the counts, one for each bucket.
    pub fn into_counts(self) -> Vec<u64> {
        self.counts
    }
}

impl Extend<f64> for Histogram {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.push(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(edges: &[f64], values: &[f64]) -> Vec<u64> {
        let mut histogram = Histogram::new(Buckets::new(edges.to_vec()).unwrap());
        histogram.extend(values.iter().copied());
        histogram.into_counts()
    }

    /// Behaviours: RDD-023.
    #[test]
    fn numbers_are_counted_in_their_bucket_and_those_outside_are_ignored() {
        assert_eq!(counts(&[0.0, 10.0], &[]), [0]);
        assert_eq!(counts(&[0.0, 10.0], &[1.0, 2.0, 3.0, 4.0]), [4]);
        assert_eq!(counts(&[0.0, 10.0], &[10.01, -0.01]), [0]);
        assert_eq!(counts(&[0.0, 4.0, 5.0], &[-0.1, 5.0, 6.0]), [0, 1]);
        assert_eq!(counts(&[0.0, 5.0, 10.0], &[1.0, 2.0, 3.0, 5.0, 6.0]), [3, 2]);
        let wide = [f64::NEG_INFINITY, 0.0, f64::INFINITY];
        assert_eq!(counts(&wide, &[10.01, -0.01, f64::NAN, f64::INFINITY]), [1, 2]);
        let values = [-0.01, 0.0, 1.0, 2.0, 3.0, 5.0, 6.0, 11.0, 12.0, 199.0, 200.0, 200.1, f64::NAN];
        assert_eq!(counts(&[0.0, 5.0, 11.0, 12.0, 200.0], &values), [4, 2, 1, 3]);
    }

    #[test]
    fn a_merge_after_a_journey_adds_the_counts() {
        let mut all = Histogram::new(Buckets::even(0.0, 10.0, 2).unwrap());
        let mut part = all.clone();
        all.extend([1.0, 2.0, 7.0]);
        part.extend([8.0, 1.0]);

        let bytes = postcard::to_stdvec(&part).unwrap();
        all.merge(&postcard::from_bytes(&bytes).unwrap());

        assert_eq!(all.counts(), [3, 2]);
    }

    #[test]
    #[should_panic(expected = "different buckets")]
    fn histograms_of_different_buckets_do_not_merge() {
        let mut one = Histogram::new(Buckets::even(0.0, 10.0, 2).unwrap());

        one.merge(&Histogram::new(Buckets::even(0.0, 20.0, 2).unwrap()));
    }
}
