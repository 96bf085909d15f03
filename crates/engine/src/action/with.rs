//! Actions whose functions need an environment.

use std::cmp::{Ordering, Reverse};

use serde::{Serialize, de::DeserializeOwned};

use super::{fold::FoldRows, order::Keyed};
use crate::{
    Result,
    data::Data,
    job::{Call, JobHandle},
    narrow::{Rows, With},
    rdd::Rdd,
};

/// Actions over whole partitions and single rows. See [`Actions`](crate::Actions).
impl<R: Rdd, E: Data> With<R, E> {
    /// Calls `f` with every row, for its effects. See [`Actions::for_each`](crate::Actions::for_each).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let large = ctx.long_accumulator("large rows");
    /// let rows = ctx.range(0..10).with((large.clone(), 6));
    /// rows.for_each(|(large, limit), x| if x > *limit { large.add(1) })?;
    /// assert_eq!(large.value().sum, 3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn for_each<F>(self, f: F) -> Result<()>
    where
        F: Fn(&E, R::Item) + Copy + Send + Sync + 'static,
    {
        self.for_each_async(f).wait()
    }

    /// Calls `f` with every row, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.long_accumulator("rows");
    /// ctx.range(0..10).with(rows.clone()).for_each_async(|rows, _| rows.add(1)).wait()?;
    /// assert_eq!(rows.value().sum, 10);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn for_each_async<F>(self, f: F) -> JobHandle<()>
    where
        F: Fn(&E, R::Item) + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        let function = FoldRows::new(&rdd, (), env, move |env: &E, (), row| f(env, row));
        Call::new("for_each").run(&rdd, function, |_| Ok(()))
    }

    /// Calls `f` with the rows of every partition. See
    /// [`Actions::for_each_partition`](crate::Actions::for_each_partition).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let sizes = ctx.collection_accumulator::<usize>("sizes");
    /// ctx.range_into(0..5, 2).with(sizes.clone()).for_each_partition(|sizes, rows| sizes.add(rows.count()))?;
    /// assert_eq!(sizes.value().0.iter().max(), Some(&3));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn for_each_partition<F>(self, f: F) -> Result<()>
    where
        F: Fn(&E, Rows<'_, R::Item>) + Copy + Send + Sync + 'static,
    {
        self.for_each_partition_async(f).wait()
    }

    /// Calls `f` with the rows of every partition, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let sums = ctx.long_accumulator("sums");
    /// let rows = ctx.range_into(0..5_i64, 2).with(sums.clone());
    /// rows.for_each_partition_async(|sums, rows| sums.add(rows.sum())).wait()?;
    /// assert_eq!((sums.value().sum, sums.value().count), (10, 2));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn for_each_partition_async<F>(self, f: F) -> JobHandle<()>
    where
        F: Fn(&E, Rows<'_, R::Item>) + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        Call::new("for_each_partition").on_rows(&rdd, None, env, f, |_| Ok(()))
    }

    /// What `f` makes of each partition. See [`Actions::run_job`](crate::Actions::run_job).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let large = ctx.range_into(0..6, 3).with(3).run_job(|limit, rows| rows.filter(|x| x >= limit).count());
    /// assert_eq!(large?, [0, 1, 2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn run_job<U, F>(self, f: F) -> Result<Vec<U>>
    where
        U: Serialize + DeserializeOwned + Send + 'static,
        F: Fn(&E, Rows<'_, R::Item>) -> U + Copy + Send + Sync + 'static,
    {
        self.run_job_async(f).wait()
    }

    /// What `f` makes of each partition, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..6_i32, 3).with(10_i32);
    /// assert_eq!(rows.run_job_async(|factor, rows| rows.sum::<i32>() * factor).wait()?, [10, 50, 90]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn run_job_async<U, F>(self, f: F) -> JobHandle<Vec<U>>
    where
        U: Serialize + DeserializeOwned + Send + 'static,
        F: Fn(&E, Rows<'_, R::Item>) -> U + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        Call::new("run_job").on_rows(&rdd, None, env, f, Ok)
    }

    /// What `f` makes of some partitions. See [`Actions::run_job_on`](crate::Actions::run_job_on).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..6_i32, 3).with(100_i32);
    /// assert_eq!(rows.run_job_on([2, 0], |base, rows| rows.sum::<i32>() + base)?, [109, 101]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn run_job_on<U, F>(self, partitions: impl IntoIterator<Item = u32>, f: F) -> Result<Vec<U>>
    where
        U: Serialize + DeserializeOwned + Send + 'static,
        F: Fn(&E, Rows<'_, R::Item>) -> U + Copy + Send + Sync + 'static,
    {
        self.run_job_on_async(partitions, f).wait()
    }

    /// What `f` makes of some partitions, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..6_usize, 3).with(vec!['a', 'b', 'c', 'd', 'e', 'f']);
    /// let last = rows.run_job_on_async([2], |names, rows| rows.last().map(|x| names[x]));
    /// assert_eq!(last.wait()?, [Some('f')]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn run_job_on_async<U, F>(self, partitions: impl IntoIterator<Item = u32>, f: F) -> JobHandle<Vec<U>>
    where
        U: Serialize + DeserializeOwned + Send + 'static,
        F: Fn(&E, Rows<'_, R::Item>) -> U + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        Call::new("run_job").on_rows(&rdd, Some(partitions.into_iter().collect()), env, f, Ok)
    }
}

/// Actions that make one value of all rows. See [`FoldActions`](crate::FoldActions).
impl<R: Rdd, E: Data> With<R, E> {
    /// Combines all rows two by two. See [`FoldActions::reduce`](crate::FoldActions::reduce).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(1..6_i64).with(7_i64).reduce(|modulus, a, b| a * b % modulus)?, 1);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn reduce<F>(self, f: F) -> Result<R::Item>
    where
        F: Fn(&E, R::Item, R::Item) -> R::Item + Copy + Send + Sync + 'static,
    {
        self.reduce_async(f).wait()
    }

    /// Combines all rows two by two, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let capped = ctx.range(0..50_i32).with(100_i32).reduce_async(|cap, a, b| (a + b).min(*cap));
    /// assert_eq!(capped.wait()?, 100);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn reduce_async<F>(self, f: F) -> JobHandle<R::Item>
    where
        F: Fn(&E, R::Item, R::Item) -> R::Item + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        Call::new("reduce").reduce(&rdd, env, f)
    }

    /// Combines all rows with a start value. See [`FoldActions::fold`](crate::FoldActions::fold).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let bits = ctx.parallelize(vec![3_u32, 5, 1]).with(0b110_u32).fold(0, |mask, a, b| a | (b & mask))?;
    /// assert_eq!(bits, 0b110);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn fold<F>(self, zero: R::Item, f: F) -> Result<R::Item>
    where
        F: Fn(&E, R::Item, R::Item) -> R::Item + Copy + Send + Sync + 'static,
    {
        self.fold_async(zero, f).wait()
    }

    /// Combines all rows with a start value, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let sum = ctx.range(0..5_i32).with(7_i32).fold_async(0, |modulus, a, b| (a + b) % modulus);
    /// assert_eq!(sum.wait()?, 3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn fold_async<F>(self, zero: R::Item, f: F) -> JobHandle<R::Item>
    where
        F: Fn(&E, R::Item, R::Item) -> R::Item + Copy + Send + Sync + 'static,
    {
        self.aggregate_by(Call::new("fold"), zero, f, f)
    }

    /// Folds rows into values of another type. See [`FoldActions::aggregate`](crate::FoldActions::aggregate).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range(0..10_i32).with(6_i32);
    /// let large = rows.aggregate(0_u64, |limit, n, x| n + u64::from(x > *limit), |_, a, b| a + b)?;
    /// assert_eq!(large, 3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn aggregate<U, A, M>(self, zero: U, add: A, merge: M) -> Result<U>
    where
        U: Data,
        A: Fn(&E, U, R::Item) -> U + Copy + Send + Sync + 'static,
        M: Fn(&E, U, U) -> U + Copy + Send + Sync + 'static,
    {
        self.aggregate_async(zero, add, merge).wait()
    }

    /// Folds rows into values of another type, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range(0..4_i32).with("-".to_owned());
    /// let text = rows.aggregate_async(String::new(), |dash, text, x| text + dash + &x.to_string(), |_, a, b| a + &b);
    /// assert_eq!(text.wait()?, "-0-1-2-3");
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn aggregate_async<U, A, M>(self, zero: U, add: A, merge: M) -> JobHandle<U>
    where
        U: Data,
        A: Fn(&E, U, R::Item) -> U + Copy + Send + Sync + 'static,
        M: Fn(&E, U, U) -> U + Copy + Send + Sync + 'static,
    {
        self.aggregate_by(Call::new("aggregate"), zero, add, merge)
    }

    fn aggregate_by<U, A, M>(self, call: Call, zero: U, add: A, merge: M) -> JobHandle<U>
    where
        U: Data,
        A: Fn(&E, U, R::Item) -> U + Copy + Send + Sync + 'static,
        M: Fn(&E, U, U) -> U + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        call.run(&rdd, FoldRows::new(&rdd, zero.clone(), env.clone(), add), move |parts| {
            Ok(parts.into_iter().fold(zero, |one, two| merge(&env, one, two)))
        })
    }
}

/// Actions that choose rows by an order. See [`OrderActions`](crate::OrderActions).
impl<R: Rdd, E: Data> With<R, E> {
    /// The least row in the order of `compare`. See [`OrderActions::min_by`](crate::OrderActions::min_by).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let near = ctx.range(0..10_i32).with(6_i32).min_by(|goal, a, b| a.abs_diff(*goal).cmp(&b.abs_diff(*goal)))?;
    /// assert_eq!(near, 6);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn min_by<F>(self, compare: F) -> Result<R::Item>
    where
        F: Fn(&E, &R::Item, &R::Item) -> Ordering + Copy + Send + Sync + 'static,
    {
        self.min_by_async(compare).wait()
    }

    /// The least row in the order of `compare`, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.parallelize(vec![1.0_f64, 2.0, 4.0]).with(2.5_f64);
    /// let near = rows.min_by_async(|goal, a, b| (a - goal).abs().total_cmp(&(b - goal).abs()));
    /// assert_eq!(near.wait()?, 2.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn min_by_async<F>(self, compare: F) -> JobHandle<R::Item>
    where
        F: Fn(&E, &R::Item, &R::Item) -> Ordering + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        Call::new("min_by").first_by(&rdd, env, compare)
    }

    /// The greatest row in the order of `compare`. See [`OrderActions::max_by`](crate::OrderActions::max_by).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let far = ctx.range(0..10_i32).with(6_i32).max_by(|from, a, b| a.abs_diff(*from).cmp(&b.abs_diff(*from)))?;
    /// assert_eq!(far, 0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn max_by<F>(self, compare: F) -> Result<R::Item>
    where
        F: Fn(&E, &R::Item, &R::Item) -> Ordering + Copy + Send + Sync + 'static,
    {
        self.max_by_async(compare).wait()
    }

    /// The greatest row in the order of `compare`, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.parallelize(vec![1.0_f64, 2.0, 4.0]).with(1.5_f64);
    /// let far = rows.max_by_async(|from, a, b| (a - from).abs().total_cmp(&(b - from).abs()));
    /// assert_eq!(far.wait()?, 4.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn max_by_async<F>(self, compare: F) -> JobHandle<R::Item>
    where
        F: Fn(&E, &R::Item, &R::Item) -> Ordering + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        Call::new("max_by").first_by(&rdd, env, move |env, one, two| compare(env, two, one))
    }

    /// The row with the least key. See [`OrderActions::min_by_key`](crate::OrderActions::min_by_key).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let scores = vec![5, 9, 1];
    /// assert_eq!(ctx.range(0..3_usize).with(scores).min_by_key(|scores, x| scores[*x])?, 2);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn min_by_key<K: Ord + 'static, F>(self, key: F) -> Result<R::Item>
    where
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        self.min_by_key_async(key).wait()
    }

    /// The row with the least key, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let near = ctx.range(0..10_i32).with(6_i32).min_by_key_async(|goal, x| x.abs_diff(*goal));
    /// assert_eq!(near.wait()?, 6);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn min_by_key_async<K: Ord + 'static, F>(self, key: F) -> JobHandle<R::Item>
    where
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        let rank = move |env: &E, row| Keyed::new(row, |row| key(env, row));
        Call::new("min_by_key").first_row(&rdd, env, rank)
    }

    /// The row with the greatest key. See [`OrderActions::max_by_key`](crate::OrderActions::max_by_key).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let scores = vec![5, 9, 1];
    /// assert_eq!(ctx.range(0..3_usize).with(scores).max_by_key(|scores, x| scores[*x])?, 1);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn max_by_key<K: Ord + 'static, F>(self, key: F) -> Result<R::Item>
    where
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        self.max_by_key_async(key).wait()
    }

    /// The row with the greatest key, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let far = ctx.range(0..10_i32).with(6_i32).max_by_key_async(|from, x| x.abs_diff(*from));
    /// assert_eq!(far.wait()?, 0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn max_by_key_async<K: Ord + 'static, F>(self, key: F) -> JobHandle<R::Item>
    where
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        let rank = move |env: &E, row| Keyed::new(row, |row| Reverse(key(env, row)));
        Call::new("max_by_key").first_row(&rdd, env, rank)
    }

    /// The rows with the least keys. See [`OrderActions::take_ordered_by`](crate::OrderActions::take_ordered_by).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let scores = vec![5, 9, 1];
    /// assert_eq!(ctx.range(0..3_usize).with(scores).take_ordered_by(2, |scores, x| scores[*x])?, [2, 0]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn take_ordered_by<K: Ord + 'static, F>(self, most: usize, key: F) -> Result<Vec<R::Item>>
    where
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        self.take_ordered_by_async(most, key).wait()
    }

    /// The rows with the least keys, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let near = ctx.range(0..10_i32).with(9_i32).take_ordered_by_async(2, |goal, x| x.abs_diff(*goal));
    /// assert_eq!(near.wait()?, [9, 8]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn take_ordered_by_async<K: Ord + 'static, F>(self, most: usize, key: F) -> JobHandle<Vec<R::Item>>
    where
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        let rank = move |env: &E, row| Keyed::new(row, |row| key(env, row));
        Call::new("take_ordered_by").first_rows(&rdd, most, (env, rank), Ok)
    }

    /// The rows with the greatest keys. See [`OrderActions::top_by`](crate::OrderActions::top_by).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let scores = vec![5, 9, 1];
    /// assert_eq!(ctx.range(0..3_usize).with(scores).top_by(2, |scores, x| scores[*x])?, [1, 0]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn top_by<K: Ord + 'static, F>(self, most: usize, key: F) -> Result<Vec<R::Item>>
    where
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        self.top_by_async(most, key).wait()
    }

    /// The rows with the greatest keys, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let far = ctx.range(0..10_i32).with(9_i32).top_by_async(2, |from, x| x.abs_diff(*from));
    /// assert_eq!(far.wait()?, [0, 1]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn top_by_async<K: Ord + 'static, F>(self, most: usize, key: F) -> JobHandle<Vec<R::Item>>
    where
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        let rank = move |env: &E, row| Keyed::new(row, |row| Reverse(key(env, row)));
        Call::new("top_by").first_rows(&rdd, most, (env, rank), Ok)
    }
}
