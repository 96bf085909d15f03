//! Job functions that make one value from the rows of a partition, with a function of the user's.
//!
//! The functions are called without a guard that blames an operator: the error of an action names the action and its
//! line already.

use std::sync::Arc;

use super::fours;
use crate::{
    Result,
    data::Data,
    job::{Call, JobFunction, JobHandle},
    rdd::Rdd,
    ship::{Func, Ship},
    task::TaskContext,
};

/// Folds rows into a start value.
pub(crate) struct FoldRows<A, E, F> {
    start: A,
    function: Func<E, F>,
}

crate::ship!(impl[A: Data, E: Data, F: 'static] FoldRows<A, E, F> { function; values start });

impl<A: Data, E: Data, F: Copy + 'static> FoldRows<A, E, F> {
    pub(crate) fn new<R: Rdd>(rdd: &R, start: A, env: Arc<E>, f: F) -> Self
    where
        F: Fn(&E, A, R::Item) -> A,
    {
        Self { start, function: Func::new(env, f, rdd.handle().id()) }
    }
}

impl<A: Clone, E, F> Clone for FoldRows<A, E, F> {
    fn clone(&self) -> Self {
        Self { start: self.start.clone(), function: self.function.clone() }
    }
}

impl<T, A: Data, E: Data, F> JobFunction<T> for FoldRows<A, E, F>
where
    F: Fn(&E, A, T) -> A + Copy + Send + Sync + 'static,
{
    type Output = A;

    fn run(&self, rows: impl Iterator<Item = T>, _task: &TaskContext) -> A {
        let (f, env) = (self.function.function(), self.function.env());
        rows.fold(self.start.clone(), |folded, row| f(env, folded, row))
    }
}

/// Reduces rows two by two; none is left of no rows.
pub(crate) struct ReduceRows<E, F>(Func<E, F>);

impl<E: Data, F: 'static> Ship for ReduceRows<E, F> {
    fn freeze(&self, out: &mut crate::ship::Frozen) -> Result<(), crate::ship::ShipError> {
        self.0.freeze(out)
    }

    fn thaw(input: &mut crate::ship::Thawing<'_>) -> Result<Self, crate::ship::ShipError> {
        Func::thaw(input).map(Self)
    }
}

impl<E, F> Clone for ReduceRows<E, F> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<E: Data, F: Copy + 'static> ReduceRows<E, F> {
    pub(crate) fn new<R: Rdd>(rdd: &R, env: Arc<E>, f: F) -> Self
    where
        F: Fn(&E, R::Item, R::Item) -> R::Item,
    {
        Self(Func::new(env, f, rdd.handle().id()))
    }
}

impl<T: Data, E: Data, F> JobFunction<T> for ReduceRows<E, F>
where
    F: Fn(&E, T, T) -> T + Copy + Send + Sync + 'static,
{
    type Output = Option<T>;

    fn run(&self, rows: impl Iterator<Item = T>, _task: &TaskContext) -> Option<T> {
        let (f, env) = (self.0.function(), self.0.env());
        fours::reduce(rows, |one, two| f(env, one, two))
    }
}

impl Call {
    /// Folds every partition, then gives the results in the order of the partitions to `finish`.
    pub(crate) fn fold<R: Rdd, A: Data, T: Send + 'static, F>(
        self,
        rdd: &R,
        start: A,
        f: F,
        finish: impl FnOnce(Vec<A>) -> Result<T> + Send + 'static,
    ) -> JobHandle<T>
    where
        F: Fn(&(), A, R::Item) -> A + Copy + Send + Sync + 'static,
    {
        self.run(rdd, FoldRows::new(rdd, start, Arc::new(()), f), finish)
    }

    /// Reduces every partition, then the results of those that are not empty.
    pub(crate) fn reduce<R: Rdd, E: Data, F>(self, rdd: &R, env: Arc<E>, f: F) -> JobHandle<R::Item>
    where
        F: Fn(&E, R::Item, R::Item) -> R::Item + Copy + Send + Sync + 'static,
    {
        self.run(rdd, ReduceRows::new(rdd, env.clone(), f), move |parts| {
            parts.into_iter().flatten().reduce(|one, two| f(&env, one, two)).ok_or_else(|| self.empty())
        })
    }
}
