//! The adaptor of `glom`.

use std::iter;

use firesteel_types::PartitionId;

use crate::{
    rdd::{Rdd, RddHandle},
    ship::Ship,
    task::TaskContext,
};

/// An [`Rdd`] with one row for each partition of its parent: all rows of it. Made by [`glom`](crate::Transform::glom).
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Glom<R> {
    parent: R,
    handle: RddHandle,
}

crate::rdd::debug_as_handle!(impl[R] Glom<R>);

crate::ship!(impl[R: Ship] Glom<R> { parent, handle });

impl<R: Rdd> Glom<R> {
    #[track_caller]
    pub(super) fn new(parent: &R) -> Self {
        // Its rows are lists: in another order they are other rows.
        Self { parent: parent.clone(), handle: parent.handle().derive("glom").order_sensitive().build() }
    }
}

impl<R: Rdd> Rdd for Glom<R> {
    type Item = Vec<R::Item>;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = Vec<R::Item>> + 'a {
        iter::once_with(move || self.parent.compute(partition, task).collect())
    }
}
