//! The actions that make one value of all rows.

use crate::{Result, data::Data, job::JobHandle, narrow::Transform, rdd::Rdd, ship::captures_nothing};

/// What makes one value of all rows: each partition is folded by its task, the results on the driver.
///
/// The functions must be associative; results of partitions are merged in the order of the partitions, in a tree in any
/// order.
pub trait FoldActions: Rdd {
    /// Combines all rows two by two with `f`. An error if there is no row.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(1..6).reduce(|a, b| a * b)?, 120);
    /// assert!(matches!(ctx.range(1..1).reduce(|a, b| a * b), Err(Error::Empty { .. })));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn reduce<F>(&self, f: F) -> Result<Self::Item>
    where
        F: Fn(Self::Item, Self::Item) -> Self::Item + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.reduce_async(f).wait()
    }

    /// Combines all rows two by two, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(1..6).reduce_async(|a, b| a * b).wait()?, 120);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn reduce_async<F>(&self, f: F) -> JobHandle<Self::Item>
    where
        F: Fn(Self::Item, Self::Item) -> Self::Item + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).reduce_async(move |(), one, two| f(one, two))
    }

    /// Combines all rows with `f`, beginning with `zero`.
    ///
    /// `zero` is used once for each partition and once on the driver, so it should be neutral.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..5).fold(0, |a, b| a + b)?, 10);
    /// assert_eq!(ctx.range_into(0..5, 2).fold(100, |a, b| a + b)?, 310);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn fold<F>(&self, zero: Self::Item, f: F) -> Result<Self::Item>
    where
        F: Fn(Self::Item, Self::Item) -> Self::Item + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.fold_async(zero, f).wait()
    }

    /// Combines all rows with a start value, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..5).fold_async(0, |a, b| a + b).wait()?, 10);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn fold_async<F>(&self, zero: Self::Item, f: F) -> JobHandle<Self::Item>
    where
        F: Fn(Self::Item, Self::Item) -> Self::Item + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).fold_async(zero, move |(), one, two| f(one, two))
    }

    /// Folds the rows of each partition into a value of another type with `add`, and merges those with `merge`.
    ///
    /// `zero` is used once for each partition and once on the driver, so it should be neutral.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let words = ctx.parallelize(vec!["one".to_owned(), "three".to_owned()]);
    /// assert_eq!(words.aggregate(0, |letters, word| letters + word.len(), |a, b| a + b)?, 8);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn aggregate<U, A, M>(&self, zero: U, add: A, merge: M) -> Result<U>
    where
        U: Data,
        A: Fn(U, Self::Item) -> U + Copy + Send + Sync + 'static,
        M: Fn(U, U) -> U + Copy + Send + Sync + 'static,
    {
        captures_nothing::<(A, M)>();
        self.aggregate_async(zero, add, merge).wait()
    }

    /// Folds rows into values of another type, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let count = ctx.range(0..9).aggregate_async(0_u64, |n, _| n + 1, |a, b| a + b);
    /// assert_eq!(count.wait()?, 9);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn aggregate_async<U, A, M>(&self, zero: U, add: A, merge: M) -> JobHandle<U>
    where
        U: Data,
        A: Fn(U, Self::Item) -> U + Copy + Send + Sync + 'static,
        M: Fn(U, U) -> U + Copy + Send + Sync + 'static,
    {
        captures_nothing::<(A, M)>();
        self.with(()).aggregate_async(
            zero,
            move |(), value, row| add(value, row),
            move |(), one, two| merge(one, two),
        )
    }

    /// [`reduce`](FoldActions::reduce) with a tree of about this depth: results of partitions are shuffled and merged by
    /// tasks before the driver gets them. For many partitions and large rows.
    ///
    /// `f` must be commutative too. An error if there is no row, or if the depth is 0.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range_into(0..100, 20).tree_reduce(|a, b| a + b, 2)?, 4950);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn tree_reduce<F>(&self, f: F, depth: u32) -> Result<Self::Item>
    where
        F: Fn(Self::Item, Self::Item) -> Self::Item + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.tree_reduce_async(f, depth).wait()
    }

    /// [`tree_reduce`](FoldActions::tree_reduce) in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let sum = ctx.range_into(0..100, 20).tree_reduce_async(|a, b| a + b, 2);
    /// assert_eq!(sum.wait()?, 4950);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn tree_reduce_async<F>(&self, f: F, depth: u32) -> JobHandle<Self::Item>
    where
        F: Fn(Self::Item, Self::Item) -> Self::Item + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).tree_reduce_async(move |(), one, two| f(one, two), depth)
    }

    /// [`aggregate`](FoldActions::aggregate) with a tree of about this depth: results of partitions are shuffled and
    /// merged by tasks before the driver gets them. For many partitions and large values.
    ///
    /// `merge` must be commutative too. An error if the depth is 0.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let even = ctx.range_into(0..100, 20).tree_aggregate(0, |n, x| n + u64::from(x % 2 == 0), |a, b| a + b, 2)?;
    /// assert_eq!(even, 50);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn tree_aggregate<U, A, M>(&self, zero: U, add: A, merge: M, depth: u32) -> Result<U>
    where
        U: Data,
        A: Fn(U, Self::Item) -> U + Copy + Send + Sync + 'static,
        M: Fn(U, U) -> U + Copy + Send + Sync + 'static,
    {
        captures_nothing::<(A, M)>();
        self.tree_aggregate_async(zero, add, merge, depth).wait()
    }

    /// [`tree_aggregate`](FoldActions::tree_aggregate) in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..100, 20);
    /// let count = rows.tree_aggregate_async(0_u64, |n, _| n + 1, |a, b| a + b, 3);
    /// assert_eq!(count.wait()?, 100);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn tree_aggregate_async<U, A, M>(&self, zero: U, add: A, merge: M, depth: u32) -> JobHandle<U>
    where
        U: Data,
        A: Fn(U, Self::Item) -> U + Copy + Send + Sync + 'static,
        M: Fn(U, U) -> U + Copy + Send + Sync + 'static,
    {
        captures_nothing::<(A, M)>();
        let (add, merge) =
            (move |(): &(), value, row| add(value, row), move |(): &(), one, two| merge(one, two));
        self.with(()).tree_aggregate_async(zero, add, merge, depth)
    }

    /// [`tree_aggregate`](FoldActions::tree_aggregate) whose last step is one more task, so that the driver gets a
    /// single value, however large the tree is.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..100, 20);
    /// assert_eq!(rows.tree_aggregate_on_executors(0, |sum, x| sum + x, |a, b| a + b, 2)?, 4950);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn tree_aggregate_on_executors<U, A, M>(&self, zero: U, add: A, merge: M, depth: u32) -> Result<U>
    where
        U: Data,
        A: Fn(U, Self::Item) -> U + Copy + Send + Sync + 'static,
        M: Fn(U, U) -> U + Copy + Send + Sync + 'static,
    {
        captures_nothing::<(A, M)>();
        self.tree_aggregate_on_executors_async(zero, add, merge, depth).wait()
    }

    /// [`tree_aggregate_on_executors`](FoldActions::tree_aggregate_on_executors) in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..100, 20);
    /// let count = rows.tree_aggregate_on_executors_async(0_u64, |n, _| n + 1, |a, b| a + b, 3);
    /// assert_eq!(count.wait()?, 100);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn tree_aggregate_on_executors_async<U, A, M>(
        &self,
        zero: U,
        add: A,
        merge: M,
        depth: u32,
    ) -> JobHandle<U>
    where
        U: Data,
        A: Fn(U, Self::Item) -> U + Copy + Send + Sync + 'static,
        M: Fn(U, U) -> U + Copy + Send + Sync + 'static,
    {
        captures_nothing::<(A, M)>();
        let (add, merge) =
            (move |(): &(), value, row| add(value, row), move |(): &(), one, two| merge(one, two));
        self.with(()).tree_aggregate_on_executors_async(zero, add, merge, depth)
    }
}

impl<R: Rdd> FoldActions for R {}
