//! Closures with an environment.

use std::{fmt, sync::Arc};

use super::{Filter, FlatMap, Map, MapPartitions, Rows, ZipPartitions, zip_partitions::zipped};
use crate::{
    data::Data,
    rdd::{HandleBuilder, Rdd},
    ship::{Func, captures_nothing},
};

/// An [`Rdd`] together with the values that its next operator's function needs. Made by
/// [`with`](crate::Transform::with).
///
/// A closure may not capture variables: it would have to travel to executors. What it needs is passed as its first
/// argument instead.
///
/// ```
/// use firesteel::prelude::*;
///
/// let ctx = Context::local(2)?;
/// let factor = 3;
/// let scaled = ctx.range(0..4).with(factor).map(|factor, x| x * factor);
/// assert_eq!(scaled.collect()?, [0, 3, 6, 9]);
/// # Ok::<(), firesteel::Error>(())
/// ```
#[must_use = "an environment alone does nothing; call an operator on it"]
pub struct With<R, E> {
    rdd: R,
    env: Arc<E>,
}

/// Without the environment, which need not have it.
impl<R: fmt::Debug, E> fmt::Debug for With<R, E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("With").field("rdd", &self.rdd).finish_non_exhaustive()
    }
}

impl<R: Rdd, E: Data> With<R, E> {
    pub(crate) fn new(rdd: R, env: E) -> Self {
        Self { rdd, env: Arc::new(env) }
    }

    pub(crate) fn rdd(&self) -> &R {
        &self.rdd
    }

    pub(crate) fn into_parts(self) -> (R, Arc<E>) {
        (self.rdd, self.env)
    }

    /// Applies `f` to every row. See [`Transform::map`](crate::Transform::map).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let names = vec!["zero".to_owned(), "one".to_owned()];
    /// let named = ctx.range(0..2_usize).with(names).map(|names, x| names[x].clone());
    /// assert_eq!(named.collect()?, ["zero", "one"]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn map<U: Data, F>(self, f: F) -> Map<R, E, F>
    where
        F: Fn(&E, R::Item) -> U + Copy + Send + Sync + 'static,
    {
        let handle = self.rdd.handle().derive("map").build();
        Map { function: Func::new(self.env, f, handle.id()), parent: self.rdd, handle }
    }

    /// Keeps the rows for which `f` holds. See [`Transform::filter`](crate::Transform::filter).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let wanted = vec![2, 3, 5];
    /// assert_eq!(ctx.range(0..5).with(wanted).filter(|wanted, x| wanted.contains(x)).collect()?, [2, 3]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn filter<F>(self, f: F) -> Filter<R, E, F>
    where
        F: Fn(&E, &R::Item) -> bool + Copy + Send + Sync + 'static,
    {
        let parent = self.rdd.handle();
        let handle = parent.derive("filter").partitioner(parent.partitioner().cloned()).build();
        Filter { function: Func::new(self.env, f, handle.id()), parent: self.rdd, handle }
    }

    /// Makes any number of rows from every row. See [`Transform::flat_map`](crate::Transform::flat_map).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..3_usize).with(2).flat_map(|n, x| vec![x; *n]).collect()?, [0, 0, 1, 1, 2, 2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn flat_map<I, F>(self, f: F) -> FlatMap<R, E, F>
    where
        I: IntoIterator<Item: Data, IntoIter: 'static>,
        F: Fn(&E, R::Item) -> I + Copy + Send + Sync + 'static,
    {
        let handle = self.rdd.handle().derive("flat_map").build();
        FlatMap { function: Func::new(self.env, f, handle.id()), parent: self.rdd, handle }
    }

    /// Puts a key before every row. See [`Transform::key_by`](crate::Transform::key_by).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(4..7).with(3).key_by(|by, x| x % by).collect()?, [(1, 4), (2, 5), (0, 6)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn key_by<K, F>(
        self,
        f: F,
    ) -> Map<R, E, impl Fn(&E, R::Item) -> (K, R::Item) + Copy + Send + Sync + 'static>
    where
        K: Data,
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        let handle = self.rdd.handle().derive("key_by").build();
        let with_key = move |env: &E, row: R::Item| (f(env, &row), row);
        Map { function: Func::new(self.env, with_key, handle.id()), parent: self.rdd, handle }
    }

    /// Applies `f` to all rows of each partition. See [`Transform::map_partitions`](crate::Transform::map_partitions).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..6_i32, 2).with(10_i32);
    /// let sums = rows.map_partitions(|factor, rows| Rows::new([rows.sum::<i32>() * factor]));
    /// assert_eq!(sums.collect()?, [30, 120]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn map_partitions<U, F>(
        self,
        f: F,
    ) -> MapPartitions<
        R,
        E,
        impl for<'r> Fn(&'r E, u32, Rows<'r, R::Item>) -> Rows<'r, U> + Copy + Send + Sync + 'static,
    >
    where
        U: Data,
        F: for<'r> Fn(&'r E, Rows<'r, R::Item>) -> Rows<'r, U> + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        let builder = self.rdd.handle().derive("map_partitions");
        self.over_partitions(builder, move |env, _, rows| f(env, rows))
    }

    /// Applies `f` to all rows of each partition and keeps the partitioner. See
    /// [`Transform::map_partitions_keeping_partitioner`](crate::Transform::map_partitions_keeping_partitioner).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..6).map(|x| (x, x)).partition_by(2).with(10);
    /// let scaled = pairs.map_partitions_keeping_partitioner(|factor, rows| {
    ///     Rows::new(rows.map(move |(key, x)| (key, x * *factor)))
    /// });
    /// assert!(scaled.handle().partitioner().is_some());
    /// assert_eq!(scaled.lookup(&4)?, [40]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn map_partitions_keeping_partitioner<U, F>(
        self,
        f: F,
    ) -> MapPartitions<
        R,
        E,
        impl for<'r> Fn(&'r E, u32, Rows<'r, R::Item>) -> Rows<'r, U> + Copy + Send + Sync + 'static,
    >
    where
        U: Data,
        F: for<'r> Fn(&'r E, Rows<'r, R::Item>) -> Rows<'r, U> + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        let parent = self.rdd.handle();
        let builder = parent.derive("map_partitions").partitioner(parent.partitioner().cloned());
        self.over_partitions(builder, move |env, _, rows| f(env, rows))
    }

    /// Applies `f` to the number and all rows of each partition. See
    /// [`Transform::map_partitions_with_index`](crate::Transform::map_partitions_with_index).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..4, 2).with(vec!['a', 'b']);
    /// let named = rows.map_partitions_with_index(|names, index, rows| {
    ///     Rows::new(rows.map(move |x| (names[index as usize], x)))
    /// });
    /// assert_eq!(named.collect()?, [('a', 0), ('a', 1), ('b', 2), ('b', 3)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn map_partitions_with_index<U, F>(self, f: F) -> MapPartitions<R, E, F>
    where
        U: Data,
        F: for<'r> Fn(&'r E, u32, Rows<'r, R::Item>) -> Rows<'r, U> + Copy + Send + Sync + 'static,
    {
        let builder = self.rdd.handle().derive("map_partitions_with_index");
        self.over_partitions(builder, f)
    }

    /// Applies `f` to the rows of the same partition of two RDDs. See
    /// [`Transform::zip_partitions`](crate::Transform::zip_partitions).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let (left, right) = (ctx.range_into(0..4_i32, 2), ctx.range_into(4..8_i32, 2));
    /// let sums = left.with(10_i32).zip_partitions(&right, |factor, left, right| {
    ///     Rows::new(left.zip(right).map(move |(a, b)| (a + b) * factor))
    /// });
    /// assert_eq!(sums.collect()?, [40, 60, 80, 100]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn zip_partitions<B, U, F>(self, other: &B, f: F) -> ZipPartitions<R, B, E, F>
    where
        B: Rdd,
        U: Data,
        F: for<'r> Fn(&'r E, Rows<'r, R::Item>, Rows<'r, B::Item>) -> Rows<'r, U>
            + Copy
            + Send
            + Sync
            + 'static,
    {
        let handle = zipped("zip_partitions", self.rdd.handle(), other.handle()).build();
        let function = Func::new(self.env, f, handle.id());
        ZipPartitions { left: self.rdd, right: other.clone(), handle, function }
    }

    fn over_partitions<U, F>(self, builder: HandleBuilder, f: F) -> MapPartitions<R, E, F>
    where
        U: Data,
        F: for<'r> Fn(&'r E, u32, Rows<'r, R::Item>) -> Rows<'r, U> + Copy + Send + Sync + 'static,
    {
        let handle = builder.build();
        MapPartitions { function: Func::new(self.env, f, handle.id()), parent: self.rdd, handle }
    }
}
