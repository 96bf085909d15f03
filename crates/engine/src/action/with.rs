//! Actions whose functions need an environment.

use std::cmp::{Ordering, Reverse};

use serde::{Serialize, de::DeserializeOwned};

use super::{
    Call, JobHandle,
    fold::{FoldRows, ReduceRows},
    order::Keyed,
};
use crate::{
    Result,
    data::Data,
    rdd::{Rdd, Rows, With},
};

/// Actions over whole partitions and single rows. See [`Actions`](crate::Actions).
impl<R: Rdd, E: Data> With<R, E> {
    /// Calls `f` with every row, for its effects. See [`Actions::for_each`](crate::Actions::for_each).
    #[track_caller]
    pub fn for_each<F>(self, f: F) -> Result<()>
    where
        F: Fn(&E, R::Item) + Copy + Send + Sync + 'static,
    {
        self.for_each_async(f).wait()
    }

    /// Calls `f` with every row, in the background.
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
    #[track_caller]
    pub fn for_each_partition<F>(self, f: F) -> Result<()>
    where
        F: Fn(&E, Rows<'_, R::Item>) + Copy + Send + Sync + 'static,
    {
        self.for_each_partition_async(f).wait()
    }

    /// Calls `f` with the rows of every partition, in the background.
    #[track_caller]
    pub fn for_each_partition_async<F>(self, f: F) -> JobHandle<()>
    where
        F: Fn(&E, Rows<'_, R::Item>) + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        Call::new("for_each_partition").on_rows(&rdd, None, env, f, |_| Ok(()))
    }

    /// What `f` makes of each partition. See [`Actions::run_job`](crate::Actions::run_job).
    #[track_caller]
    pub fn run_job<U, F>(self, f: F) -> Result<Vec<U>>
    where
        U: Serialize + DeserializeOwned + Send + 'static,
        F: Fn(&E, Rows<'_, R::Item>) -> U + Copy + Send + Sync + 'static,
    {
        self.run_job_async(f).wait()
    }

    /// What `f` makes of each partition, in the background.
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
    #[track_caller]
    pub fn run_job_on<U, F>(self, partitions: impl IntoIterator<Item = u32>, f: F) -> Result<Vec<U>>
    where
        U: Serialize + DeserializeOwned + Send + 'static,
        F: Fn(&E, Rows<'_, R::Item>) -> U + Copy + Send + Sync + 'static,
    {
        self.run_job_on_async(partitions, f).wait()
    }

    /// What `f` makes of some partitions, in the background.
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
    #[track_caller]
    pub fn reduce<F>(self, f: F) -> Result<R::Item>
    where
        F: Fn(&E, R::Item, R::Item) -> R::Item + Copy + Send + Sync + 'static,
    {
        self.reduce_async(f).wait()
    }

    /// Combines all rows two by two, in the background.
    #[track_caller]
    pub fn reduce_async<F>(self, f: F) -> JobHandle<R::Item>
    where
        F: Fn(&E, R::Item, R::Item) -> R::Item + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        Call::new("reduce").reduce(&rdd, env, f)
    }

    /// Combines all rows with a start value. See [`FoldActions::fold`](crate::FoldActions::fold).
    #[track_caller]
    pub fn fold<F>(self, zero: R::Item, f: F) -> Result<R::Item>
    where
        F: Fn(&E, R::Item, R::Item) -> R::Item + Copy + Send + Sync + 'static,
    {
        self.fold_async(zero, f).wait()
    }

    /// Combines all rows with a start value, in the background.
    #[track_caller]
    pub fn fold_async<F>(self, zero: R::Item, f: F) -> JobHandle<R::Item>
    where
        F: Fn(&E, R::Item, R::Item) -> R::Item + Copy + Send + Sync + 'static,
    {
        self.aggregate_by(Call::new("fold"), zero, f, f)
    }

    /// Folds rows into values of another type. See [`FoldActions::aggregate`](crate::FoldActions::aggregate).
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
    #[track_caller]
    pub fn aggregate_async<U, A, M>(self, zero: U, add: A, merge: M) -> JobHandle<U>
    where
        U: Data,
        A: Fn(&E, U, R::Item) -> U + Copy + Send + Sync + 'static,
        M: Fn(&E, U, U) -> U + Copy + Send + Sync + 'static,
    {
        self.aggregate_by(Call::new("aggregate"), zero, add, merge)
    }

    /// [`reduce`](With::reduce) in a tree. See [`FoldActions::tree_reduce`](crate::FoldActions::tree_reduce).
    #[track_caller]
    pub fn tree_reduce<F>(self, f: F, depth: u32) -> Result<R::Item>
    where
        F: Fn(&E, R::Item, R::Item) -> R::Item + Copy + Send + Sync + 'static,
    {
        self.tree_reduce_async(f, depth).wait()
    }

    /// [`tree_reduce`](With::tree_reduce) in the background.
    #[track_caller]
    pub fn tree_reduce_async<F>(self, f: F, depth: u32) -> JobHandle<R::Item>
    where
        F: Fn(&E, R::Item, R::Item) -> R::Item + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        let call = Call::new("tree_reduce");
        // A partition without rows gives nothing to merge.
        let merge = move |env: &E, one: Option<R::Item>, two: Option<R::Item>| match (one, two) {
            (Some(one), Some(two)) => Some(f(env, one, two)),
            (one, two) => one.or(two),
        };
        let function = ReduceRows::new(&rdd, env.clone(), f);
        call.tree(&rdd, (function, merge, env.clone()), depth, move |parts| {
            parts.into_iter().reduce(|one, two| merge(&env, one, two)).flatten().ok_or_else(|| call.empty())
        })
    }

    /// [`aggregate`](With::aggregate) in a tree. See
    /// [`FoldActions::tree_aggregate`](crate::FoldActions::tree_aggregate).
    #[track_caller]
    pub fn tree_aggregate<U, A, M>(self, zero: U, add: A, merge: M, depth: u32) -> Result<U>
    where
        U: Data,
        A: Fn(&E, U, R::Item) -> U + Copy + Send + Sync + 'static,
        M: Fn(&E, U, U) -> U + Copy + Send + Sync + 'static,
    {
        self.tree_aggregate_async(zero, add, merge, depth).wait()
    }

    /// [`tree_aggregate`](With::tree_aggregate) in the background.
    #[track_caller]
    pub fn tree_aggregate_async<U, A, M>(self, zero: U, add: A, merge: M, depth: u32) -> JobHandle<U>
    where
        U: Data,
        A: Fn(&E, U, R::Item) -> U + Copy + Send + Sync + 'static,
        M: Fn(&E, U, U) -> U + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        let function = FoldRows::new(&rdd, zero.clone(), env.clone(), add);
        let call = Call::new("tree_aggregate");
        call.tree(&rdd, (function, merge, env.clone()), depth, move |parts| {
            Ok(parts.into_iter().fold(zero, |one, two| merge(&env, one, two)))
        })
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
    #[track_caller]
    pub fn min_by<F>(self, compare: F) -> Result<R::Item>
    where
        F: Fn(&E, &R::Item, &R::Item) -> Ordering + Copy + Send + Sync + 'static,
    {
        self.min_by_async(compare).wait()
    }

    /// The least row in the order of `compare`, in the background.
    #[track_caller]
    pub fn min_by_async<F>(self, compare: F) -> JobHandle<R::Item>
    where
        F: Fn(&E, &R::Item, &R::Item) -> Ordering + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        Call::new("min_by").first_by(&rdd, env, compare)
    }

    /// The greatest row in the order of `compare`. See [`OrderActions::max_by`](crate::OrderActions::max_by).
    #[track_caller]
    pub fn max_by<F>(self, compare: F) -> Result<R::Item>
    where
        F: Fn(&E, &R::Item, &R::Item) -> Ordering + Copy + Send + Sync + 'static,
    {
        self.max_by_async(compare).wait()
    }

    /// The greatest row in the order of `compare`, in the background.
    #[track_caller]
    pub fn max_by_async<F>(self, compare: F) -> JobHandle<R::Item>
    where
        F: Fn(&E, &R::Item, &R::Item) -> Ordering + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        Call::new("max_by").first_by(&rdd, env, move |env, one, two| compare(env, two, one))
    }

    /// The row with the least key. See [`OrderActions::min_by_key`](crate::OrderActions::min_by_key).
    #[track_caller]
    pub fn min_by_key<K: Ord + 'static, F>(self, key: F) -> Result<R::Item>
    where
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        self.min_by_key_async(key).wait()
    }

    /// The row with the least key, in the background.
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
    #[track_caller]
    pub fn max_by_key<K: Ord + 'static, F>(self, key: F) -> Result<R::Item>
    where
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        self.max_by_key_async(key).wait()
    }

    /// The row with the greatest key, in the background.
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
    #[track_caller]
    pub fn take_ordered_by<K: Ord + 'static, F>(self, most: usize, key: F) -> Result<Vec<R::Item>>
    where
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        self.take_ordered_by_async(most, key).wait()
    }

    /// The rows with the least keys, in the background.
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
    #[track_caller]
    pub fn top_by<K: Ord + 'static, F>(self, most: usize, key: F) -> Result<Vec<R::Item>>
    where
        F: Fn(&E, &R::Item) -> K + Copy + Send + Sync + 'static,
    {
        self.top_by_async(most, key).wait()
    }

    /// The rows with the greatest keys, in the background.
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
