//! The transformations of pairs.

use std::{collections::HashMap, fmt::Debug, hash::Hash};

use super::{
    Combined, Combiner, CountApproxDistinct, FlatMapValues, Grouped, Keys, MapValues, Partitioned,
    SampleByKey, Values, default_partitioner,
};
use crate::{
    Error, Result, data::Data, job::JobHandle, narrow::Transform, partitioner::KeyPartitioner, rdd::Rdd,
    ship::captures_nothing,
};
use firesteel_stats::HyperLogLogPlusPlus;
use firesteel_stats::sampling::{Replacement, StratifiedSampler};

/// What makes an RDD from an RDD of pairs of a key and a value.
///
/// Operators that bring equal keys together shuffle, unless the RDD is partitioned by key already. Without a word they
/// take the partitioner that is there, else one partition for each of the largest parent; the twin ending in `_into`
/// takes a number of partitions or a partitioner.
pub trait PairRdd<K: Data, V: Data>: Rdd<Item = (K, V)> {
    /// Applies `f` to every value. The keys stay where they are, so the partitioner is kept.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let lengths = ctx.parallelize(vec![(1, "one".to_owned()), (3, "three".to_owned())]).map_values(|word| word.len());
    /// assert_eq!(lengths.collect()?, [(1, 3), (3, 5)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn map_values<U, F>(
        &self,
        f: F,
    ) -> MapValues<Self, (), impl Fn(&(), V) -> U + Copy + Send + Sync + 'static + use<Self, K, V, U, F>>
    where
        U: Data,
        F: Fn(V) -> U + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).map_values(move |(), value| f(value))
    }

    /// Gives each key every value that `f` makes of its value. The partitioner is kept.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.parallelize(vec![('a', 2), ('b', 0), ('c', 1)]).flat_map_values(|n| 0..n);
    /// assert_eq!(pairs.collect()?, [('a', 0), ('a', 1), ('c', 0)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn flat_map_values<I, F>(
        &self,
        f: F,
    ) -> FlatMapValues<Self, (), impl Fn(&(), V) -> I + Copy + Send + Sync + 'static + use<Self, K, V, I, F>>
    where
        I: IntoIterator<Item: Data> + 'static,
        F: Fn(V) -> I + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).flat_map_values(move |(), value| f(value))
    }

    /// The keys, duplicates included.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![('a', 1), ('b', 2), ('a', 3)]).keys().collect()?, ['a', 'b', 'a']);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn keys(&self) -> Keys<Self> {
        Keys { parent: self.clone(), handle: self.handle().derive("keys").build() }
    }

    /// The values.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![('a', 1), ('b', 2), ('a', 3)]).values().collect()?, [1, 2, 3]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn values(&self) -> Values<Self> {
        Values { parent: self.clone(), handle: self.handle().derive("values").build() }
    }

    /// Deals the pairs by `partitioner`, a number of partitions or a rule. No shuffle if they are dealt so already.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..100).map(|x| (x, x * x)).partition_by(4);
    /// assert_eq!((pairs.num_partitions(), pairs.count()?), (4, 100));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn partition_by(&self, partitioner: impl Into<KeyPartitioner<K>>) -> Partitioned<K, V> {
        Partitioned::new(self, &partitioner.into())
    }

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
    fn reduce_by_key<F>(&self, f: F) -> Combined<K, V, impl Combiner<V, Combined = V> + use<Self, K, V, F>>
    where
        K: Hash + Eq,
        F: Fn(V, V) -> V + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).reduce_by_key(move |(), one, two| f(one, two))
    }

    /// [`reduce_by_key`](PairRdd::reduce_by_key) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let counts = ctx.range(0..10).map(|x| (x % 3, 1)).reduce_by_key_into(5, |a, b| a + b);
    /// assert_eq!((counts.num_partitions(), counts.count()?), (5, 3));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn reduce_by_key_into<P, F>(
        &self,
        partitioner: P,
        f: F,
    ) -> Combined<K, V, impl Combiner<V, Combined = V> + use<Self, K, V, P, F>>
    where
        P: Into<KeyPartitioner<K>>,
        K: Hash + Eq,
        F: Fn(V, V) -> V + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).reduce_by_key_into(partitioner, move |(), one, two| f(one, two))
    }

    /// Combines the values of each key two by two and gives a map to the driver. An action: it runs a job.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let counts = ctx.range(0..10).map(|x| (x % 3, 1)).reduce_by_key_locally(|a, b| a + b)?;
    /// assert_eq!(counts[&0], 4);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn reduce_by_key_locally<F>(&self, f: F) -> Result<HashMap<K, V>>
    where
        K: Hash + Eq,
        F: Fn(V, V) -> V + Copy + Send + Sync + 'static,
    {
        self.reduce_by_key_locally_async(f).wait()
    }

    /// [`reduce_by_key_locally`](PairRdd::reduce_by_key_locally) in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let counts = ctx.range(0..10).map(|x| (x % 3, 1)).reduce_by_key_locally_async(|a, b| a + b);
    /// assert_eq!(counts.wait()?[&0], 4);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn reduce_by_key_locally_async<F>(&self, f: F) -> JobHandle<HashMap<K, V>>
    where
        K: Hash + Eq,
        F: Fn(V, V) -> V + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).reduce_by_key_locally_async(move |(), one, two| f(one, two))
    }

    /// Brings the values of each key one by one into a copy of `zero` with `f`, which must be associative.
    ///
    /// Combines in the map tasks first. Each map task begins with a `zero` of its own for every key, so it should be
    /// neutral.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let sums = ctx.parallelize(vec![('a', 1), ('b', 2), ('a', 3)]).fold_by_key(0, |a, b| a + b);
    /// let mut sums = sums.collect()?;
    /// sums.sort();
    /// assert_eq!(sums, [('a', 4), ('b', 2)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn fold_by_key<F>(
        &self,
        zero: V,
        f: F,
    ) -> Combined<K, V, impl Combiner<V, Combined = V> + use<Self, K, V, F>>
    where
        K: Hash + Eq,
        F: Fn(V, V) -> V + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).fold_by_key(zero, move |(), one, two| f(one, two))
    }

    /// [`fold_by_key`](PairRdd::fold_by_key) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let sums = ctx.range(0..10).map(|x| (x % 3, x)).fold_by_key_into(5, 0, |a, b| a + b);
    /// assert_eq!((sums.num_partitions(), sums.count()?), (5, 3));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn fold_by_key_into<P, F>(
        &self,
        partitioner: P,
        zero: V,
        f: F,
    ) -> Combined<K, V, impl Combiner<V, Combined = V> + use<Self, K, V, P, F>>
    where
        P: Into<KeyPartitioner<K>>,
        K: Hash + Eq,
        F: Fn(V, V) -> V + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).fold_by_key_into(partitioner, zero, move |(), one, two| f(one, two))
    }

    /// Brings the values of each key one by one into a copy of `zero` with `add`, and what different map tasks made
    /// together with `merge`.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.parallelize(vec![('a', 1), ('b', 2), ('a', 3)]);
    /// // The sum and the number of the values of each key.
    /// let means = pairs.aggregate_by_key((0, 0), |(sum, n), x| (sum + x, n + 1), |a, b| (a.0 + b.0, a.1 + b.1));
    /// let mut means = means.collect()?;
    /// means.sort();
    /// assert_eq!(means, [('a', (4, 2)), ('b', (2, 1))]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn aggregate_by_key<C, A, M>(
        &self,
        zero: C,
        add: A,
        merge: M,
    ) -> Combined<K, V, impl Combiner<V, Combined = C> + use<Self, K, V, C, A, M>>
    where
        K: Hash + Eq,
        C: Data,
        A: Fn(C, V) -> C + Copy + Send + Sync + 'static,
        M: Fn(C, C) -> C + Copy + Send + Sync + 'static,
    {
        captures_nothing::<(A, M)>();
        self.with(()).aggregate_by_key(
            zero,
            move |(), c, value| add(c, value),
            move |(), one, two| merge(one, two),
        )
    }

    /// [`aggregate_by_key`](PairRdd::aggregate_by_key) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let counts = ctx.range(0..10).map(|x| (x % 3, x)).aggregate_by_key_into(5, 0, |n, _| n + 1, |a, b| a + b);
    /// assert_eq!((counts.num_partitions(), counts.count()?), (5, 3));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn aggregate_by_key_into<P, C, A, M>(
        &self,
        partitioner: P,
        zero: C,
        add: A,
        merge: M,
    ) -> Combined<K, V, impl Combiner<V, Combined = C> + use<Self, K, V, P, C, A, M>>
    where
        P: Into<KeyPartitioner<K>>,
        K: Hash + Eq,
        C: Data,
        A: Fn(C, V) -> C + Copy + Send + Sync + 'static,
        M: Fn(C, C) -> C + Copy + Send + Sync + 'static,
    {
        captures_nothing::<(A, M)>();
        let (add, merge) =
            (move |&(): &(), c, value| add(c, value), move |&(): &(), one, two| merge(one, two));
        self.with(()).aggregate_by_key_into(partitioner, zero, add, merge)
    }

    /// Combines the values of each key: `create` makes something of the first value, `add` brings one more value in,
    /// and `merge` puts together what different map tasks made.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.parallelize(vec![('a', 1), ('b', 2), ('a', 3)]);
    /// let largest = pairs.combine_by_key(|x| x, |most: i32, x| most.max(x), |a, b| a.max(b));
    /// let mut largest = largest.collect()?;
    /// largest.sort();
    /// assert_eq!(largest, [('a', 3), ('b', 2)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn combine_by_key<C, F, A, M>(
        &self,
        create: F,
        add: A,
        merge: M,
    ) -> Combined<K, V, impl Combiner<V, Combined = C> + use<Self, K, V, C, F, A, M>>
    where
        K: Hash + Eq,
        C: Data,
        F: Fn(V) -> C + Copy + Send + Sync + 'static,
        A: Fn(C, V) -> C + Copy + Send + Sync + 'static,
        M: Fn(C, C) -> C + Copy + Send + Sync + 'static,
    {
        self.combine_by_key_into(default_partitioner(&[self.handle()]), create, add, merge)
    }

    /// [`combine_by_key`](PairRdd::combine_by_key) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..10).map(|x| (x % 3, x));
    /// let sums = pairs.combine_by_key_into(5, |x| x, |sum, x| sum + x, |a, b| a + b);
    /// assert_eq!((sums.num_partitions(), sums.count()?), (5, 3));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn combine_by_key_into<P, C, F, A, M>(
        &self,
        partitioner: P,
        create: F,
        add: A,
        merge: M,
    ) -> Combined<K, V, impl Combiner<V, Combined = C> + use<Self, K, V, P, C, F, A, M>>
    where
        P: Into<KeyPartitioner<K>>,
        K: Hash + Eq,
        C: Data,
        F: Fn(V) -> C + Copy + Send + Sync + 'static,
        A: Fn(C, V) -> C + Copy + Send + Sync + 'static,
        M: Fn(C, C) -> C + Copy + Send + Sync + 'static,
    {
        captures_nothing::<(F, A, M)>();
        let create = move |&(): &(), value| create(value);
        let (add, merge) =
            (move |&(): &(), c, value| add(c, value), move |&(): &(), one, two| merge(one, two));
        self.with(()).combine_by_key_into(partitioner, create, add, merge)
    }

    /// Puts all values of each key side by side, in the order of the parent's partitions.
    ///
    /// Shuffles every row: to sum or count, [`reduce_by_key`](PairRdd::reduce_by_key) is cheaper. Each
    /// [`Group`](crate::Group) can be used like a slice; one that does not fit into memory lies on disk.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let groups = ctx.parallelize(vec![('a', 1), ('b', 2), ('a', 3)]).group_by_key();
    /// let groups = groups.collect_as_map()?;
    /// assert_eq!((groups.len(), &groups[&'a'][..], groups[&'b'][0]), (2, &[1, 3][..], 2));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn group_by_key(&self) -> Grouped<K, V>
    where
        K: Hash + Eq,
    {
        self.group_by_key_into(default_partitioner(&[self.handle()]))
    }

    /// [`group_by_key`](PairRdd::group_by_key) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let groups = ctx.range(0..10).map(|x| (x % 2, x)).group_by_key_into(3);
    /// assert_eq!((groups.num_partitions(), groups.count()?), (3, 2));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn group_by_key_into(&self, partitioner: impl Into<KeyPartitioner<K>>) -> Grouped<K, V>
    where
        K: Hash + Eq,
    {
        Grouped::new(self, "group_by_key", &partitioner.into())
    }

    /// Estimates how many different values each key has; the estimate has the relative standard deviation
    /// `relative_sd`, for instance 0.05. An error below 0.000258.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..1000).map(|x| (x % 2, x % 10));
    /// let mut counts = pairs.count_approx_distinct_by_key(0.05)?.collect()?;
    /// counts.sort();
    /// assert_eq!(counts, [(0, 5), (1, 5)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn count_approx_distinct_by_key(
        &self,
        relative_sd: f64,
    ) -> Result<impl Rdd<Item = (K, u64)> + use<Self, K, V>>
    where
        K: Hash + Eq,
        V: Hash,
    {
        self.count_approx_distinct_by_key_into(default_partitioner(&[self.handle()]), relative_sd)
    }

    /// [`count_approx_distinct_by_key`](PairRdd::count_approx_distinct_by_key) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let counts = ctx.range(0..10).map(|x| (x % 3, x)).count_approx_distinct_by_key_into(5, 0.05)?;
    /// assert_eq!((counts.num_partitions(), counts.count()?), (5, 3));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn count_approx_distinct_by_key_into<P>(
        &self,
        partitioner: P,
        relative_sd: f64,
    ) -> Result<impl Rdd<Item = (K, u64)> + use<Self, K, V, P>>
    where
        P: Into<KeyPartitioner<K>>,
        K: Hash + Eq,
        V: Hash,
    {
        let empty =
            HyperLogLogPlusPlus::new(relative_sd).map_err(|error| Error::invalid(error.to_string()))?;
        let combiner = CountApproxDistinct { empty };
        let combined = Combined::new(self, "count_approx_distinct_by_key", &partitioner.into(), |_| combiner);
        Ok(combined.map_values(|sketch| sketch.count()))
    }

    /// Draws a random sample with a fraction of its own for each key.
    ///
    /// The same data, partitions and `seed` give the same sample. An error if a fraction is negative, or above 1
    /// without replacement. A key without a fraction fails the job: those that are to be left out have the fraction 0.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..3000).map(|x| (x % 3, x));
    /// let sample = pairs.sample_by_key(Replacement::Without, [(0, 1.0), (1, 0.1), (2, 0.0)], 7)?.reduce_by_key_locally(|a, _| a)?;
    /// assert!(sample.contains_key(&0) && !sample.contains_key(&2));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn sample_by_key(
        &self,
        replacement: Replacement,
        fractions: impl IntoIterator<Item = (K, f64)>,
        seed: u64,
    ) -> Result<SampleByKey<Self, K>>
    where
        K: Hash + Eq + Debug,
    {
        let sampler = StratifiedSampler::new(replacement, fractions);
        let sampler = sampler.map_err(|error| Error::invalid(error.to_string()))?;
        Ok(SampleByKey::new(self, sampler, seed))
    }
}

impl<K: Data, V: Data, R: Rdd<Item = (K, V)>> PairRdd<K, V> for R {}
