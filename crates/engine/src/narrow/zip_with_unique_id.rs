//! The adaptor of `zip_with_unique_id`.

use firesteel_types::PartitionId;

use crate::{
    rdd::{Rdd, RddHandle},
    ship::Ship,
    task::TaskContext,
};

/// An [`Rdd`] of its parent's rows with a number that no other row has. Made by
/// [`zip_with_unique_id`](crate::Transform::zip_with_unique_id).
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct ZipWithUniqueId<R> {
    parent: R,
    handle: RddHandle,
}

crate::rdd::debug_as_handle!(impl[R] ZipWithUniqueId<R>);

crate::ship!(impl[R: Ship] ZipWithUniqueId<R> { parent, handle });

impl<R: Rdd> ZipWithUniqueId<R> {
    #[track_caller]
    pub(super) fn new(parent: &R) -> Self {
        Self {
            parent: parent.clone(),
            handle: parent.handle().derive("zip_with_unique_id").order_sensitive().build(),
        }
    }
}

impl<R: Rdd> Rdd for ZipWithUniqueId<R> {
    type Item = (R::Item, u64);

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = Self::Item> + 'a {
        let step = u64::from(self.handle.partitions());
        let mut next = u64::from(partition.0);
        self.parent.compute(partition, task).map(move |row| {
            let id = next;
            next = next.wrapping_add(step);
            (row, id)
        })
    }
}
