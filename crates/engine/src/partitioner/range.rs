//! The range partitioner.

use std::ops::Bound;

use serde::{Deserialize, Serialize};

use super::{KeyPartitioner, Order, Partitioner};
use crate::data::Data;

/// Deals keys to partitions by ranges: every key of a partition comes before every key of the next one.
///
/// Two are equal if their bounds and their order are. Made from bounds, or from a
/// [sample](RangePartitioner::sample) of an RDD's keys.
///
/// ```
/// use firesteel::{Order, Partitioner, RangePartitioner};
///
/// let ranges = RangePartitioner::new(vec![10, 20], Order::Ascending);
/// assert_eq!([5, 10, 11, 99].map(|key| ranges.partition(&key)), [0, 0, 1, 2]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangePartitioner<K> {
    /// The last key of each partition but the last one, ascending.
    bounds: Vec<K>,
    order: Order,
}

impl<K: Ord> RangePartitioner<K> {
    /// Makes a partitioner with the given bounds, each the largest key of its range. Equal bounds count once.
    ///
    /// ```
    /// # use firesteel::{Order, RangePartitioner};
    /// let ranges = RangePartitioner::new(vec![20, 10, 20], Order::Ascending);
    /// assert_eq!(ranges, RangePartitioner::new(vec![10, 20], Order::Ascending));
    /// ```
    pub fn new(mut bounds: Vec<K>, order: Order) -> Self {
        bounds.sort_unstable();
        bounds.dedup();
        Self { bounds, order }
    }

    /// The largest key of each range but the last one, ascending.
    ///
    /// ```
    /// # use firesteel::{RangePartitioner, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..100).map(|x| (x, x));
    /// let ranges = RangePartitioner::sample(&pairs, 4, Order::Ascending)?;
    /// assert!(ranges.bounds().len() == 3 && ranges.bounds().is_sorted());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn bounds(&self) -> &[K] {
        &self.bounds
    }

    /// Which partition comes first: the one with the smallest keys or the one with the largest.
    ///
    /// ```
    /// # use firesteel::{Order, RangePartitioner};
    /// assert_eq!(RangePartitioner::new(vec![10, 20], Order::Descending).order(), Order::Descending);
    /// ```
    pub fn order(&self) -> Order {
        self.order
    }

    /// How many partitions there are: one more than bounds.
    ///
    /// ```
    /// # use firesteel::{Order, RangePartitioner};
    /// assert_eq!(RangePartitioner::new(vec![10, 20], Order::Ascending).num_partitions(), 3);
    /// ```
    pub fn num_partitions(&self) -> u32 {
        self.bounds.len() as u32 + 1
    }

    /// The partition of `key`.
    ///
    /// ```
    /// # use firesteel::{Order, RangePartitioner};
    /// let ranges = RangePartitioner::new(vec![10, 20], Order::Descending);
    /// assert_eq!([5, 15, 25].map(|key| ranges.partition_of(&key)), [2, 1, 0]);
    /// ```
    #[inline]
    pub fn partition_of(&self, key: &K) -> u32 {
        self.place(self.bounds.partition_point(|bound| bound < key))
    }

    /// The first partition that can have keys within these limits, and how many such partitions there are.
    pub(crate) fn overlapping(&self, from: Bound<&K>, to: Bound<&K>) -> (u32, u32) {
        let range_of = |key: &K| self.bounds.partition_point(|bound| bound < key);
        let first = match from {
            Bound::Included(key) => range_of(key),
            // What comes after a bound is in the range after it.
            Bound::Excluded(key) => self.bounds.partition_point(|bound| bound <= key),
            Bound::Unbounded => 0,
        };
        let last = match to {
            Bound::Included(key) | Bound::Excluded(key) => range_of(key),
            Bound::Unbounded => self.bounds.len(),
        };
        if first > last {
            return (0, 0);
        }
        let ends = (self.place(first), self.place(last));
        (ends.0.min(ends.1), (last - first) as u32 + 1)
    }

    /// The partition of the range with this number, counted from the smallest keys.
    #[inline]
    fn place(&self, range: usize) -> u32 {
        match self.order {
            Order::Ascending => range as u32,
            Order::Descending => (self.bounds.len() - range) as u32,
        }
    }
}

impl<K: Data + Ord> Partitioner<K> for RangePartitioner<K> {
    fn num_partitions(&self) -> u32 {
        self.num_partitions()
    }

    fn partition(&self, key: &K) -> u32 {
        self.partition_of(key)
    }
}

impl<K: Data + Ord> From<RangePartitioner<K>> for KeyPartitioner<K> {
    fn from(ranges: RangePartitioner<K>) -> Self {
        Self::custom(ranges)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Behaviours: RDD-002.
    #[test]
    fn equal_means_same_bounds_and_same_direction() {
        let ranges = |bounds: &[i32], order| {
            KeyPartitioner::from(RangePartitioner::new(bounds.to_vec(), order)).erased()
        };

        assert_eq!(ranges(&[1, 5], Order::Ascending), ranges(&[5, 1, 5], Order::Ascending));
        assert_ne!(ranges(&[1, 5], Order::Ascending), ranges(&[1, 6], Order::Ascending));
        assert_ne!(ranges(&[1, 5], Order::Ascending), ranges(&[1, 5], Order::Descending));
        assert_ne!(ranges(&[1, 5], Order::Ascending), KeyPartitioner::<i32>::hash(3).erased());
    }

    proptest! {
        /// Behaviours: RDD-002.
        #[test]
        fn keys_in_order_are_in_partitions_in_order(
            bounds in prop::collection::vec(0..40_u32, 0..8), descending: bool,
        ) {
            let order = if descending { Order::Descending } else { Order::Ascending };
            let ranges = RangePartitioner::new(bounds, order);

            let mut partitions: Vec<u32> = (0..41).map(|key| ranges.partition_of(&key)).collect();

            if descending {
                partitions.reverse();
            }
            prop_assert!(partitions.is_sorted());
            prop_assert!(partitions.iter().all(|&partition| partition < ranges.num_partitions()));
        }

        #[test]
        fn a_partition_overlaps_if_it_can_have_a_key_within(
            bounds in prop::collection::vec(0..20_u32, 0..6), from in 0..20_u32, len in 0..8_u32, descending: bool,
        ) {
            let order = if descending { Order::Descending } else { Order::Ascending };
            let ranges = RangePartitioner::new(bounds, order);
            let to = from + len;

            let (first, count) = ranges.overlapping(Bound::Included(&from), Bound::Included(&to));

            let mut expected: Vec<u32> = (from..=to).map(|key| ranges.partition_of(&key)).collect();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!((first..first + count).collect::<Vec<_>>(), expected);
            prop_assert_eq!(ranges.overlapping(Bound::Unbounded, Bound::Unbounded), (0, ranges.num_partitions()));
        }
    }
}
