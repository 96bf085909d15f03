//! The adaptors of `map_values` and `flat_map_values`.

use firesteel_types::PartitionId;

use crate::{
    data::Data,
    rdd::{Rdd, RddHandle},
    ship::{Blame, Func, Ship},
    task::TaskContext,
};

/// An [`Rdd`] with the keys of its parent and changed values. Made by [`map_values`](crate::PairRdd::map_values).
///
/// A narrow dependency. Keys stay where they are, so the partitioner is kept.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
pub struct MapValues<R, E, F> {
    pub(super) parent: R,
    pub(super) handle: RddHandle,
    pub(super) function: Func<E, F>,
}

crate::rdd::debug_as_handle!(impl[R, E, F] MapValues<R, E, F>);

crate::ship!(impl[R: Ship, E: Data, F: 'static] MapValues<R, E, F> { parent, handle, function });

impl<R: Clone, E, F> Clone for MapValues<R, E, F> {
    fn clone(&self) -> Self {
        Self { parent: self.parent.clone(), handle: self.handle.clone(), function: self.function.clone() }
    }
}

impl<R, E, F, K, V, U> Rdd for MapValues<R, E, F>
where
    R: Rdd<Item = (K, V)>,
    E: Data,
    K: Data,
    V: Data,
    U: Data,
    F: Fn(&E, V) -> U + Copy + Send + Sync + 'static,
{
    type Item = (K, U);

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = (K, U)> + 'a {
        let (f, env) = (self.function.function(), self.function.env());
        let rows = self.parent.compute(partition, task);
        rows.map(move |(key, value)| (key, self.function.blame().on(|| f(env, value))))
    }
}

/// An [`Rdd`] with any number of values for each pair of its parent. Made by
/// [`flat_map_values`](crate::PairRdd::flat_map_values).
///
/// A narrow dependency. Keys stay where they are, so the partitioner is kept.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
pub struct FlatMapValues<R, E, F> {
    pub(super) parent: R,
    pub(super) handle: RddHandle,
    pub(super) function: Func<E, F>,
}

crate::rdd::debug_as_handle!(impl[R, E, F] FlatMapValues<R, E, F>);

crate::ship!(impl[R: Ship, E: Data, F: 'static] FlatMapValues<R, E, F> { parent, handle, function });

impl<R: Clone, E, F> Clone for FlatMapValues<R, E, F> {
    fn clone(&self) -> Self {
        Self { parent: self.parent.clone(), handle: self.handle.clone(), function: self.function.clone() }
    }
}

impl<R, E, F, K, V, I> Rdd for FlatMapValues<R, E, F>
where
    R: Rdd<Item = (K, V)>,
    E: Data,
    K: Data,
    V: Data,
    I: IntoIterator<Item: Data> + 'static,
    F: Fn(&E, V) -> I + Copy + Send + Sync + 'static,
{
    type Item = (K, I::Item);

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = Self::Item> + 'a {
        let (f, env) = (self.function.function(), self.function.env());
        let rows = self.parent.compute(partition, task);
        rows.flat_map(move |(key, value)| {
            task.check();
            let values = self.function.blame().on(|| f(env, value).into_iter());
            Blamed { values, rdd: self.handle.id() }.map(move |value| (key.clone(), value))
        })
    }
}

/// The values that a user's iterator gives, each step under guard.
struct Blamed<I> {
    values: I,
    rdd: firesteel_types::RddId,
}

impl<I: Iterator> Iterator for Blamed<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        Blame::new(self.rdd).on(|| self.values.next())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.values.size_hint()
    }
}
