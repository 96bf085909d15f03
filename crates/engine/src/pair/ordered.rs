//! The transformations of pairs whose keys have an order.

use std::ops::RangeBounds;

use super::{FilterByRange, Sorted};
use crate::{
    Result,
    data::Data,
    job::{Call, JobHandle},
    partitioner::{KeyPartitioner, Order, RangePartitioner},
    rdd::Rdd,
};

/// What makes an RDD from an RDD of pairs whose keys can be compared.
///
/// Numbers with a fraction have no total order of their own: wrap them into a [`TotalOrd`](crate::TotalOrd).
pub trait OrderedPairRdd<K: Data + Ord, V: Data>: Rdd<Item = (K, V)> {
    /// Sorts by key: over all partitions, one after the other, keys are in order. Pairs with equal keys stay in the
    /// order they have.
    ///
    /// Runs a job at once, which samples the keys to make partitions of about the same size. The sorted RDD has at
    /// most as many partitions as this one.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let sorted = ctx.parallelize(vec![(2, 'b'), (3, 'c'), (1, 'a')]).sort_by_key(Order::Descending)?;
    /// assert_eq!(sorted.values().collect()?, ['c', 'b', 'a']);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn sort_by_key(&self, order: Order) -> Result<Sorted<K, V>> {
        self.sort_by_key_into(order, self.num_partitions().max(1))
    }

    /// [`sort_by_key`](OrderedPairRdd::sort_by_key) into at most `partitions` partitions, of which there must be one.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let sorted = ctx.range(0..1000).map(|x| (x % 100, x)).sort_by_key_into(Order::Ascending, 5)?;
    /// assert_eq!(sorted.num_partitions(), 5);
    /// assert!(sorted.keys().collect()?.is_sorted());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn sort_by_key_into(&self, order: Order, partitions: u32) -> Result<Sorted<K, V>> {
        self.sort_by_key_into_async(order, partitions).wait()
    }

    /// [`sort_by_key`](OrderedPairRdd::sort_by_key) without a wait: the keys are sampled in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.parallelize(vec![(2, 'b'), (3, 'c'), (1, 'a')]);
    /// // Both samples are taken at the same time.
    /// let (up, down) = (pairs.sort_by_key_async(Order::Ascending), pairs.sort_by_key_async(Order::Descending));
    /// assert_eq!(up.wait()?.values().collect()?, ['a', 'b', 'c']);
    /// assert_eq!(down.wait()?.values().collect()?, ['c', 'b', 'a']);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn sort_by_key_async(&self, order: Order) -> JobHandle<Sorted<K, V>> {
        self.sort_by_key_into_async(order, self.num_partitions().max(1))
    }

    /// [`sort_by_key_into`](OrderedPairRdd::sort_by_key_into) without a wait.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let sorted = ctx.range(0..1000).map(|x| (x % 100, x)).sort_by_key_into_async(Order::Ascending, 5);
    /// assert_eq!(sorted.wait()?.num_partitions(), 5);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn sort_by_key_into_async(&self, order: Order, partitions: u32) -> JobHandle<Sorted<K, V>> {
        let (parent, builder) = (self.clone(), self.handle().derive_into("sort_by_key", 0));
        RangePartitioner::sample_for(Call::new("sort_by_key"), self, partitions, order, move |ranges| {
            Sorted::by_ranges(builder, &parent, ranges)
        })
    }

    /// Deals the pairs by `partitioner` and sorts each partition by key. No shuffle if they are dealt so already.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let sorted = ctx.parallelize(vec![(2, 'b'), (3, 'c'), (1, 'a')]).repartition_and_sort_within_partitions(1);
    /// assert_eq!(sorted.values().collect()?, ['a', 'b', 'c']);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn repartition_and_sort_within_partitions(
        &self,
        partitioner: impl Into<KeyPartitioner<K>>,
    ) -> Sorted<K, V> {
        Sorted::within(self, "repartition_and_sort_within_partitions", &partitioner.into())
    }

    /// Keeps the pairs whose keys lie in `range`.
    ///
    /// If the RDD is partitioned by ranges, as after [`sort_by_key`](OrderedPairRdd::sort_by_key), only the partitions
    /// that can have such keys are computed, and the result has no others.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let sorted = ctx.range(0..1000).map(|x| (x, ())).sort_by_key_into(Order::Ascending, 10)?;
    /// let some = sorted.filter_by_range(20..=23);
    /// assert_eq!(some.keys().collect()?, [20, 21, 22, 23]);
    /// assert!(some.num_partitions() < 10);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn filter_by_range(&self, range: impl RangeBounds<K>) -> FilterByRange<Self, K> {
        FilterByRange::new(self, range)
    }
}

impl<K: Data + Ord, V: Data, R: Rdd<Item = (K, V)>> OrderedPairRdd<K, V> for R {}
