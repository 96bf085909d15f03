//! What the driver knows about the keys of an RDD before it fixes the bounds of a range partitioner.

use serde::{Deserialize, Serialize};

use super::range_bounds::determine_bounds;

/// How many keys a range partitioner samples.
///
/// ```
/// use firesteel_stats::RangeSampleSizes;
///
/// let sizes = RangeSampleSizes::new(10, 4);
/// assert_eq!((sizes.total, sizes.per_partition), (200, 150));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangeSampleSizes {
    /// Wanted over all partitions.
    pub total: u32,
    /// Taken from each input partition at most: thrice its even share, for inputs of different size.
    pub per_partition: u32,
}

impl RangeSampleSizes {
    const KEYS_PER_OUTPUT: u32 = 20;
    const KEYS_MAX: u32 = 1_000_000;
    const OVERSAMPLING: u32 = 3;

    /// The sizes for a number of partitions to make and a number of partitions to sample.
    pub fn new(output_partitions: u32, input_partitions: u32) -> Self {
        let total = output_partitions.saturating_mul(Self::KEYS_PER_OUTPUT).min(Self::KEYS_MAX);
        let per_partition = (Self::OVERSAMPLING * total).div_ceil(input_partitions.max(1));
        Self { total, per_partition }
    }
}

/// What a task reports of its partition: how many rows there are and a sample of their keys.
///
/// The sample comes from a [`Reservoir`](crate::sampling::Reservoir) of [`RangeSampleSizes::per_partition`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionSketch<K> {
    /// Which partition it is.
    pub partition: u32,
    /// How many rows it has.
    pub count: u64,
    /// Some of its keys.
    pub sample: Vec<K>,
}

/// The sampled keys of all partitions, weighted with the rows they stand for.
///
/// A partition far above the average is underrepresented by a sample of fixed size. Such partitions are to be
/// sampled again, each row with probability [`RangeSketch::fraction`], and given to [`RangeSketch::add_resampled`].
///
/// ```
/// use firesteel_stats::{PartitionSketch, RangeSampleSizes, RangeSketch};
///
/// let sketch = RangeSketch::new(
///     RangeSampleSizes::new(2, 1),
///     vec![PartitionSketch { partition: 0, count: 4, sample: vec![3, 1, 4, 2] }],
/// );
/// assert!(sketch.oversized().is_empty());
/// assert_eq!(sketch.into_bounds(2), [2]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RangeSketch<K> {
    fraction: f64,
    candidates: Vec<(K, f64)>,
    oversized: Vec<u32>,
}

impl<K: Ord> RangeSketch<K> {
    /// Puts the reports of all partitions together.
    pub fn new(sizes: RangeSampleSizes, partitions: Vec<PartitionSketch<K>>) -> Self {
        let count: u64 = partitions.iter().map(|partition| partition.count).sum();
        let fraction = (f64::from(sizes.total) / count.max(1) as f64).min(1.0);
        let mut sketch = Self { fraction, candidates: Vec::new(), oversized: Vec::new() };
        for PartitionSketch { partition, count, sample } in partitions {
            if fraction * count as f64 > f64::from(sizes.per_partition) {
                sketch.oversized.push(partition);
            } else {
                let weight = count as f64 / sample.len() as f64;
                sketch.candidates.extend(sample.into_iter().map(|key| (key, weight)));
            }
        }
        sketch
    }

    /// The partitions to sample again.
    pub fn oversized(&self) -> &[u32] {
        &self.oversized
    }

    /// The probability of each row when partitions are sampled again.
    pub fn fraction(&self) -> f64 {
        self.fraction
    }

    /// Takes in keys of the oversized partitions.
    pub fn add_resampled(&mut self, keys: impl IntoIterator<Item = K>) {
        let weight = 1.0 / self.fraction;
        self.candidates.extend(keys.into_iter().map(|key| (key, weight)));
    }

    /// Gives the bounds of at most `partitions` partitions; none if there is no data.
    pub fn into_bounds(self, partitions: u32) -> Vec<K> {
        determine_bounds(self.candidates, partitions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::{Bernoulli, Reservoir, derive_seed};
    use std::ops::Range;

    fn sketch_of(partition: u32, rows: Range<u64>, sizes: RangeSampleSizes) -> PartitionSketch<u64> {
        let mut reservoir =
            Reservoir::new(sizes.per_partition as usize, derive_seed(1, u64::from(partition)));
        reservoir.extend(rows);
        let (count, sample) = reservoir.into_parts();
        PartitionSketch { partition, count, sample }
    }

    fn bounds_of(inputs: &[Range<u64>], outputs: u32) -> (Vec<u32>, Vec<u64>) {
        let sizes = RangeSampleSizes::new(outputs, inputs.len() as u32);
        let sketches =
            inputs.iter().zip(0..).map(|(rows, partition)| sketch_of(partition, rows.clone(), sizes));
        let mut sketch = RangeSketch::new(sizes, sketches.collect());
        let oversized = sketch.oversized().to_vec();
        let sampler = Bernoulli::new(sketch.fraction()).unwrap();
        for &partition in &oversized {
            sketch.add_resampled(sampler.sample(inputs[partition as usize].clone(), 2));
        }
        (oversized, sketch.into_bounds(outputs))
    }

    #[test]
    fn twenty_keys_are_sampled_for_each_output_and_thrice_the_share_of_each_input() {
        let sizes = |outputs, inputs| {
            let RangeSampleSizes { total, per_partition } = RangeSampleSizes::new(outputs, inputs);
            (total, per_partition)
        };

        assert_eq!(sizes(10, 4), (200, 150));
        assert_eq!(sizes(1, 7), (20, 9));
        assert_eq!(sizes(50_001, 3), (1_000_000, 1_000_000));
        assert_eq!(sizes(u32::MAX, 1), (1_000_000, 3_000_000));
        assert_eq!(sizes(3, 0), (60, 180));
    }

    #[test]
    fn an_input_is_sampled_again_only_if_its_share_is_above_its_sample() {
        let sizes = RangeSampleSizes { total: 100, per_partition: 30 };
        let sketch = |partition, count, size| PartitionSketch { partition, count, sample: vec![0; size] };

        // A tenth of 1000 rows: partitions with up to 300 rows have 30 keys or more in the sample.
        let range = RangeSketch::new(sizes, vec![sketch(0, 300, 30), sketch(1, 301, 30), sketch(2, 399, 30)]);

        assert_eq!((range.oversized(), range.fraction()), (&[1, 2][..], 0.1));
        assert_eq!(range.candidates, vec![(0, 10.0); 30]);
    }

    #[test]
    fn keys_sampled_again_stand_for_the_rows_passed_over() {
        let sizes = RangeSampleSizes { total: 10, per_partition: 3 };
        let sketch = PartitionSketch { partition: 0, count: 40, sample: vec![1, 2, 3] };
        let mut range = RangeSketch::new(sizes, vec![sketch]);

        range.add_resampled([7, 8]);

        assert_eq!(range.candidates, [(7, 4.0), (8, 4.0)]);
    }

    /// Behaviours: RDD-002.
    #[test]
    fn inputs_of_very_different_size_are_split_evenly() {
        let inputs = [0..100, 100..200, 200..90_200, 90_200..90_210, 90_210..90_210, 90_210..100_000];

        let (oversized, bounds) = bounds_of(&inputs, 8);

        assert_eq!(oversized, [2]);
        assert_eq!(bounds.len(), 7);
        assert!(bounds.is_sorted_by(|a, b| a < b));
        let ends = bounds.iter().copied().chain([100_000]);
        let sizes: Vec<u64> =
            ends.zip([0].into_iter().chain(bounds.iter().copied())).map(|(b, a)| b - a).collect();
        // An even share is 12,500; some 20 keys of the sample make one, which gives or takes a few fifths.
        assert!(sizes.iter().all(|size| (4_000..25_000).contains(size)), "{sizes:?}");
    }

    /// Behaviours: RDD-002.
    #[test]
    fn few_keys_make_fewer_partitions_than_asked_and_no_data_makes_one() {
        assert_eq!(bounds_of(&[0..3, 0..0], 10), (vec![], vec![0, 1]));
        assert_eq!(bounds_of(&[5..6, 5..6, 5..6], 10), (vec![], vec![5]));
        assert_eq!(bounds_of(&[0..0, 0..0], 10), (vec![], vec![]));
        assert_eq!(bounds_of(&[], 10), (vec![], vec![]));
    }
}
