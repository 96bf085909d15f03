//! The adaptor of `map`.

use firesteel_types::PartitionId;

use crate::{
    data::Data,
    rdd::{Rdd, RddHandle},
    ship::{Func, Ship},
    task::TaskContext,
};

/// An [`Rdd`] that applies a function to every row of its parent. Made by [`map`](crate::Transform::map).
///
/// A narrow dependency: partition *i* comes from the parent's partition *i*, in one pass with nothing in between.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
pub struct Map<R, E, F> {
    pub(super) parent: R,
    pub(super) handle: RddHandle,
    pub(super) function: Func<E, F>,
}

crate::rdd::debug_as_handle!(impl[R, E, F] Map<R, E, F>);

crate::ship!(impl[R: Ship, E: Data, F: 'static] Map<R, E, F> { parent, handle, function });

impl<R: Clone, E, F> Clone for Map<R, E, F> {
    fn clone(&self) -> Self {
        Self { parent: self.parent.clone(), handle: self.handle.clone(), function: self.function.clone() }
    }
}

impl<R, E, F, U> Rdd for Map<R, E, F>
where
    R: Rdd,
    E: Data,
    U: Data,
    F: Fn(&E, R::Item) -> U + Copy + Send + Sync + 'static,
{
    type Item = U;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> impl Iterator<Item = U> + 'a {
        let (f, env) = (self.function.function(), self.function.env());
        self.parent.compute(partition, task).map(move |row| self.function.blame().on(|| f(env, row)))
    }
}
