//! The transformations of pairs.

use std::hash::Hash;

use super::{Combined, Combiner};
use crate::{
    data::Data,
    partitioner::KeyPartitioner,
    rdd::{Rdd, Transform},
    ship::captures_nothing,
};

/// What makes an RDD from an RDD of pairs of a key and a value.
///
/// Operators that bring equal keys together shuffle, unless the RDD is partitioned by key already. Without a word they
/// take the partitioner that is there, else one partition for each of the largest parent; the twin ending in `_into`
/// takes a number of partitions or a partitioner.
pub trait PairRdd<K: Data, V: Data>: Rdd<Item = (K, V)> {
    /// Combines the values of each key two by two with `f`, which must be associative and commutative.
    ///
    /// Combines in the map tasks first, so that few rows are shuffled.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let counts = ctx.range(0..10).map(|x| (x % 3, 1)).reduce_by_key(|a, b| a + b);
    /// let mut counts = counts.collect()?;
    /// counts.sort();
    /// assert_eq!(counts, [(0, 4), (1, 3), (2, 3)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn reduce_by_key<F>(&self, f: F) -> Combined<K, V, impl Combiner<V, Combined = V>>
    where
        K: Hash + Eq,
        F: Fn(V, V) -> V + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).reduce_by_key(move |(), one, two| f(one, two))
    }

    /// [`reduce_by_key`](PairRdd::reduce_by_key) into given partitions.
    #[track_caller]
    fn reduce_by_key_into<F>(
        &self,
        partitioner: impl Into<KeyPartitioner<K>>,
        f: F,
    ) -> Combined<K, V, impl Combiner<V, Combined = V>>
    where
        K: Hash + Eq,
        F: Fn(V, V) -> V + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).reduce_by_key_into(partitioner, move |(), one, two| f(one, two))
    }
}

impl<K: Data, V: Data, R: Rdd<Item = (K, V)>> PairRdd<K, V> for R {}
