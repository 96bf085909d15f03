//! The transformations that bring the rows of any RDD into other partitions.

use std::hash::Hash;

use super::{
    Combined, Combiner, Distinct, Emit, Grouped, Repartitioned, Sorted, Values, default_partitioner,
};
use crate::{
    Result,
    data::Data,
    job::{Call, JobHandle},
    narrow::{Transform, With},
    partitioner::{KeyPartitioner, Order, RangePartitioner},
    rdd::{Parent, Rdd},
    ship::captures_nothing,
};

/// What makes an RDD from an RDD by a shuffle of its rows.
pub trait Rearrange: Rdd {
    /// Deals the rows evenly to `partitions` partitions: in turn, from a start that each partition of this RDD draws by its
    /// index, so that equal RDDs are dealt alike. Always shuffles. Into no partitions is an error, which the first action
    /// returns.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let spread = ctx.range_into(0..100, 1).repartition(4);
    /// assert_eq!((spread.num_partitions(), spread.count()?), (4, 100));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn repartition(&self, partitions: u32) -> Repartitioned<Self::Item> {
        Repartitioned::new(self, partitions)
    }

    /// Lets every row emit pairs, and combines the values of each key two by two with `reduce`, which must be associative
    /// and commutative.
    ///
    /// What [`flat_map`](Transform::flat_map) and [`reduce_by_key`](crate::PairRdd::reduce_by_key) do together, for keys
    /// that are parts of rows: they are combined where they lie, and only those that a task has not seen are copied. The
    /// words of a text are counted without a `String` for each of them.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let lines = ctx.parallelize(vec!["to be".to_owned(), "or not to be".to_owned()]);
    /// let counts = lines.map_reduce(
    ///     |line, emit| line.split(' ').for_each(|word| emit.pair(word, 1)),
    ///     |a, b| a + b,
    /// );
    /// assert_eq!(counts.lookup(&"be".to_owned())?, [2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn map_reduce<Q, V, F, G>(
        &self,
        emit: F,
        reduce: G,
    ) -> Combined<Q::Owned, V, impl Combiner<V, Combined = V> + use<Self, Q, V, F, G>>
    where
        Q: ToOwned<Owned: Data + Hash + Eq> + Hash + Eq + ?Sized + 'static,
        V: Data,
        F: for<'row> Fn(&'row Self::Item, &mut Emit<'row, Q, V>) + Copy + Send + Sync + 'static,
        G: Fn(V, V) -> V + Copy + Send + Sync + 'static,
    {
        self.map_reduce_into(default_partitioner::<Q::Owned>(&[self.handle()]), emit, reduce)
    }

    /// [`map_reduce`](Rearrange::map_reduce) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let lines = ctx.parallelize(vec!["to be".to_owned(), "or not to be".to_owned()]);
    /// let counts = lines.map_reduce_into(
    ///     3,
    ///     |line, emit| line.split(' ').for_each(|word| emit.pair(word, 1)),
    ///     |a: u32, b| a + b,
    /// );
    /// assert_eq!((counts.num_partitions(), counts.count()?), (3, 4));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn map_reduce_into<Q, V, P, F, G>(
        &self,
        partitioner: P,
        emit: F,
        reduce: G,
    ) -> Combined<Q::Owned, V, impl Combiner<V, Combined = V> + use<Self, Q, V, P, F, G>>
    where
        Q: ToOwned<Owned: Data + Hash + Eq> + Hash + Eq + ?Sized + 'static,
        V: Data,
        P: Into<KeyPartitioner<Q::Owned>>,
        F: for<'row> Fn(&'row Self::Item, &mut Emit<'row, Q, V>) + Copy + Send + Sync + 'static,
        G: Fn(V, V) -> V + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        captures_nothing::<G>();
        let pairs = self.with(());
        pairs.map_reduce_into(
            partitioner,
            move |(), row, to| emit(row, to),
            move |(), one, two| reduce(one, two),
        )
    }

    /// Drops duplicates. The number of partitions stays the same.
    ///
    /// Equal rows meet by a shuffle, for which each map task drops its own duplicates first; without one if the RDD has
    /// a partitioner.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let mut digits = ctx.range(0..100).map(|x| x % 10).distinct().collect()?;
    /// digits.sort();
    /// assert_eq!(digits, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn distinct(&self) -> Distinct<Self::Item>
    where
        Self::Item: Hash + Eq,
    {
        Distinct::new(self, self.num_partitions().max(1))
    }

    /// [`distinct`](Rearrange::distinct) into `partitions` partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let digits = ctx.range(0..100).map(|x| x % 10).distinct_into(3);
    /// assert_eq!((digits.num_partitions(), digits.count()?), (3, 10));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn distinct_into(&self, partitions: u32) -> Distinct<Self::Item>
    where
        Self::Item: Hash + Eq,
    {
        Distinct::new(self, partitions)
    }

    /// Puts all rows for which `f` gives the same key side by side.
    ///
    /// Shuffles every row: to sum or count, [`reduce_by_key`](crate::PairRdd::reduce_by_key) is cheaper.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let groups = ctx.range(0..6).group_by(|x| x % 2).collect_as_map()?;
    /// assert!(groups[&0] == [0, 2, 4] && groups[&1] == [1, 3, 5]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn group_by<K, F>(&self, f: F) -> Grouped<K, Self::Item>
    where
        K: Data + Hash + Eq,
        F: Fn(&Self::Item) -> K + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).group_by(move |(), row| f(row))
    }

    /// [`group_by`](Rearrange::group_by) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let groups = ctx.range(0..6).group_by_into(3, |x| x % 2);
    /// assert_eq!((groups.num_partitions(), groups.count()?), (3, 2));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn group_by_into<K, F>(&self, partitioner: impl Into<KeyPartitioner<K>>, f: F) -> Grouped<K, Self::Item>
    where
        K: Data + Hash + Eq,
        F: Fn(&Self::Item) -> K + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).group_by_into(partitioner, move |(), row| f(row))
    }

    /// Sorts by the key that `f` gives. Rows with equal keys stay in the order they have.
    ///
    /// Runs a job at once, as [`sort_by_key`](crate::OrderedPairRdd::sort_by_key) does. Numbers with a fraction are
    /// sorted by a [`TotalOrd`](crate::TotalOrd) of them.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let words = vec!["three".to_owned(), "one".to_owned(), "twelve".to_owned()];
    /// let sorted = ctx.parallelize(words).sort_by(|word| word.len(), Order::Ascending)?;
    /// assert_eq!(sorted.collect()?, ["one", "three", "twelve"]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn sort_by<K, F>(&self, f: F, order: Order) -> Result<Values<Sorted<K, Self::Item>>>
    where
        K: Data + Ord,
        F: Fn(&Self::Item) -> K + Copy + Send + Sync + 'static,
    {
        self.sort_by_into(f, order, self.num_partitions().max(1))
    }

    /// [`sort_by`](Rearrange::sort_by) into at most `partitions` partitions, of which there must be one.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let sorted = ctx.range(0..100).sort_by_into(|x| x * 7 % 100, Order::Ascending, 3)?;
    /// assert_eq!((sorted.num_partitions(), sorted.collect()?[1]), (3, 43));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn sort_by_into<K, F>(&self, f: F, order: Order, partitions: u32) -> Result<Values<Sorted<K, Self::Item>>>
    where
        K: Data + Ord,
        F: Fn(&Self::Item) -> K + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).sort_by_into(move |(), row| f(row), order, partitions)
    }

    /// [`sort_by`](Rearrange::sort_by) without a wait: the keys are sampled in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let words = ctx.parallelize(vec!["ccc".to_owned(), "a".to_owned(), "bb".to_owned()]);
    /// let sorted = words.sort_by_async(|word| word.len(), Order::Ascending);
    /// assert_eq!(sorted.wait()?.collect()?, ["a", "bb", "ccc"]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn sort_by_async<K, F>(&self, f: F, order: Order) -> JobHandle<Values<Sorted<K, Self::Item>>>
    where
        K: Data + Ord,
        F: Fn(&Self::Item) -> K + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).sort_by_async(move |(), row| f(row), order)
    }
}

impl<R: Rdd> Rearrange for R {}

impl<R: Rdd, E: Data> With<R, E> {
    /// Puts all rows with the same key side by side. See [`Rearrange::group_by`](crate::Rearrange::group_by).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let groups = ctx.range(0..6).with(3).group_by(|by, x| x % by).collect_as_map()?;
    /// assert!(groups[&0] == [0, 3] && groups[&1] == [1, 4] && groups[&2] == [2, 5]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn group_by<K, F>(self, f: F) -> Grouped<K, R::Item>
    where
        K: Data + Hash + Eq,
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        let keyed = self.map(move |env, row| (f(env, &row), row));
        let partitioner = default_partitioner(&[keyed.handle()]);
        Grouped::new(&keyed, "group_by", &partitioner)
    }

    /// The same into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let groups = ctx.range(0..6).with(3).group_by_into(4, |by, x| x % by);
    /// assert_eq!((groups.num_partitions(), groups.count()?), (4, 3));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn group_by_into<K, F>(self, partitioner: impl Into<KeyPartitioner<K>>, f: F) -> Grouped<K, R::Item>
    where
        K: Data + Hash + Eq,
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        let keyed = self.map(move |env, row| (f(env, &row), row));
        Grouped::new(&keyed, "group_by", &partitioner.into())
    }

    /// Sorts by the key that `f` gives. See [`Rearrange::sort_by`](crate::Rearrange::sort_by).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rank = vec![2, 0, 1];
    /// let sorted = ctx.range(0..3_usize).with(rank).sort_by(|rank, x| rank[*x], Order::Ascending)?;
    /// assert_eq!(sorted.collect()?, [1, 2, 0]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn sort_by<K, F>(self, f: F, order: Order) -> Result<Values<Sorted<K, R::Item>>>
    where
        K: Data + Ord,
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        let partitions = self.rdd().num_partitions().max(1);
        self.sort_by_into(f, order, partitions)
    }

    /// The same into at most `partitions` partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let near = ctx.range(0..10_i32).with(7_i32).sort_by_into(|goal, x| x.abs_diff(*goal), Order::Ascending, 3)?;
    /// assert_eq!((near.num_partitions(), near.first()?), (3, 7));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn sort_by_into<K, F>(self, f: F, order: Order, partitions: u32) -> Result<Values<Sorted<K, R::Item>>>
    where
        K: Data + Ord,
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        self.sort_by_into_async(f, order, partitions).wait()
    }

    /// [`sort_by`](With::sort_by) without a wait: the keys are sampled in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let sorted = ctx.range(0..6).with(3).sort_by_async(|third, x| x % third, Order::Ascending);
    /// assert_eq!(sorted.wait()?.collect()?, [0, 3, 1, 4, 2, 5]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn sort_by_async<K, F>(self, f: F, order: Order) -> JobHandle<Values<Sorted<K, R::Item>>>
    where
        K: Data + Ord,
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        let partitions = self.rdd().num_partitions().max(1);
        self.sort_by_into_async(f, order, partitions)
    }

    #[track_caller]
    fn sort_by_into_async<K, F>(
        self,
        f: F,
        order: Order,
        partitions: u32,
    ) -> JobHandle<Values<Sorted<K, R::Item>>>
    where
        K: Data + Ord,
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        let keyed = self.map(move |env, row| (f(env, &row), row));
        // Here and not in a closure, which has no caller: both are shown with the line of the application.
        let (sorted, values) =
            (keyed.handle().derive_into("sort_by", 0), keyed.handle().derive_into("values", 0));
        let parent = keyed.clone();
        RangePartitioner::sample_for(Call::new("sort_by"), &keyed, partitions, order, move |ranges| {
            let parent = Sorted::by_ranges(sorted, &parent, ranges);
            let values = values.partitions(parent.num_partitions());
            Values { handle: values.parents(vec![Parent::one_to_one(parent.handle())]).build(), parent }
        })
    }
}
