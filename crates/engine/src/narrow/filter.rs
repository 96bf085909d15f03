//! The adaptor of `filter`.

use firesteel_types::PartitionId;

use crate::{
    data::Data,
    rdd::{Rdd, RddHandle},
    ship::{Func, Ship},
    task::TaskContext,
};

/// An [`Rdd`] that keeps the rows of its parent for which a function holds. Made by [`filter`](crate::Transform::filter).
///
/// A narrow dependency: partition *i* comes from the parent's partition *i*, in one pass with nothing in between.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
pub struct Filter<R, E, F> {
    pub(super) parent: R,
    pub(super) handle: RddHandle,
    pub(super) function: Func<E, F>,
}

crate::rdd::debug_as_handle!(impl[R, E, F] Filter<R, E, F>);

crate::ship!(impl[R: Ship, E: Data, F: 'static] Filter<R, E, F> { parent, handle, function });

impl<R: Clone, E, F> Clone for Filter<R, E, F> {
    fn clone(&self) -> Self {
        Self { parent: self.parent.clone(), handle: self.handle.clone(), function: self.function.clone() }
    }
}

impl<R, E, F> Rdd for Filter<R, E, F>
where
    R: Rdd,
    E: Data,
    F: Fn(&E, &R::Item) -> bool + Copy + Send + Sync + 'static,
{
    type Item = R::Item;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = R::Item> + 'a {
        let (f, env) = (self.function.function(), self.function.env());
        self.parent.compute(partition, task).filter(move |row| self.function.blame().on(|| f(env, row)))
    }
}
