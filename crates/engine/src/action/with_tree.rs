//! Actions that merge in a tree and whose functions need an environment.

use super::{
    fold::{FoldRows, ReduceRows},
    tree::{LastStep, Shape},
};
use crate::{
    Result,
    data::Data,
    job::{Call, JobHandle},
    narrow::With,
    rdd::Rdd,
};

/// Actions that merge in a tree. See [`FoldActions`](crate::FoldActions).
impl<R: Rdd, E: Data> With<R, E> {
    /// [`reduce`](With::reduce) in a tree. See [`FoldActions::tree_reduce`](crate::FoldActions::tree_reduce).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..100_u64, 20).with(97_u64);
    /// assert_eq!(rows.tree_reduce(|modulus, a, b| (a + b) % modulus, 2)?, 3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn tree_reduce<F>(self, f: F, depth: u32) -> Result<R::Item>
    where
        F: Fn(&E, R::Item, R::Item) -> R::Item + Copy + Send + Sync + 'static,
    {
        self.tree_reduce_async(f, depth).wait()
    }

    /// [`tree_reduce`](With::tree_reduce) in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let capped = ctx.range_into(0..100_u64, 20).with(50_u64).tree_reduce_async(|cap, a, b| (a + b).min(*cap), 2);
    /// assert_eq!(capped.wait()?, 50);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
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
        call.tree(
            &rdd,
            (function, merge, env.clone()),
            Shape { depth, last: LastStep::OnDriver },
            move |parts| {
                parts
                    .into_iter()
                    .reduce(|one, two| merge(&env, one, two))
                    .flatten()
                    .ok_or_else(|| call.empty())
            },
        )
    }

    /// [`aggregate`](With::aggregate) in a tree. See
    /// [`FoldActions::tree_aggregate`](crate::FoldActions::tree_aggregate).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..100_i32, 20).with(90_i32);
    /// let large = rows.tree_aggregate(0_u64, |from, n, x| n + u64::from(x >= *from), |_, a, b| a + b, 2)?;
    /// assert_eq!(large, 10);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
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
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..100_i32, 20).with(3_i32);
    /// let hits = rows.tree_aggregate_async(0_u64, |by, n, x| n + u64::from(x % by == 0), |_, a, b| a + b, 2);
    /// assert_eq!(hits.wait()?, 34);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn tree_aggregate_async<U, A, M>(self, zero: U, add: A, merge: M, depth: u32) -> JobHandle<U>
    where
        U: Data,
        A: Fn(&E, U, R::Item) -> U + Copy + Send + Sync + 'static,
        M: Fn(&E, U, U) -> U + Copy + Send + Sync + 'static,
    {
        self.tree_aggregate_at(Call::new("tree_aggregate"), zero, (add, merge), depth, LastStep::OnDriver)
    }

    /// [`tree_aggregate`](With::tree_aggregate) whose last step is a task. See
    /// [`FoldActions::tree_aggregate_on_executors`](crate::FoldActions::tree_aggregate_on_executors).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..100_i32, 20).with(90_i32);
    /// let large = rows.tree_aggregate_on_executors(0, |from, n, x| n + i32::from(x >= *from), |_, a, b| a + b, 2)?;
    /// assert_eq!(large, 10);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn tree_aggregate_on_executors<U, A, M>(self, zero: U, add: A, merge: M, depth: u32) -> Result<U>
    where
        U: Data,
        A: Fn(&E, U, R::Item) -> U + Copy + Send + Sync + 'static,
        M: Fn(&E, U, U) -> U + Copy + Send + Sync + 'static,
    {
        self.tree_aggregate_on_executors_async(zero, add, merge, depth).wait()
    }

    /// [`tree_aggregate_on_executors`](With::tree_aggregate_on_executors) in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..100_i32, 20).with(3_i32);
    /// let sum = rows.tree_aggregate_on_executors_async(0, |by, sum, x| sum + by * x, |_, a, b| a + b, 2);
    /// assert_eq!(sum.wait()?, 14_850);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn tree_aggregate_on_executors_async<U, A, M>(
        self,
        zero: U,
        add: A,
        merge: M,
        depth: u32,
    ) -> JobHandle<U>
    where
        U: Data,
        A: Fn(&E, U, R::Item) -> U + Copy + Send + Sync + 'static,
        M: Fn(&E, U, U) -> U + Copy + Send + Sync + 'static,
    {
        self.tree_aggregate_at(Call::new("tree_aggregate"), zero, (add, merge), depth, LastStep::OnExecutor)
    }

    #[track_caller]
    fn tree_aggregate_at<U, A, M>(
        self,
        call: Call,
        zero: U,
        (add, merge): (A, M),
        depth: u32,
        last: LastStep,
    ) -> JobHandle<U>
    where
        U: Data,
        A: Fn(&E, U, R::Item) -> U + Copy + Send + Sync + 'static,
        M: Fn(&E, U, U) -> U + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        let function = FoldRows::new(&rdd, zero.clone(), env.clone(), add);
        call.tree(&rdd, (function, merge, env.clone()), Shape { depth, last }, move |parts| {
            Ok(parts.into_iter().fold(zero, |one, two| merge(&env, one, two)))
        })
    }
}
