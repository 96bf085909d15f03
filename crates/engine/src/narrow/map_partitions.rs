//! The adaptor of `map_partitions` and its relatives.

use firesteel_types::PartitionId;

use super::Rows;
use crate::{
    data::Data,
    rdd::{Rdd, RddHandle},
    ship::{Func, Ship},
    task::TaskContext,
};

/// An [`Rdd`] that applies a function to all rows of a partition at once. Made by
/// [`map_partitions`](crate::Transform::map_partitions) and
/// [`map_partitions_with_index`](crate::Transform::map_partitions_with_index).
///
/// A narrow dependency: partition *i* comes from the parent's partition *i*.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
pub struct MapPartitions<R, E, F> {
    pub(super) parent: R,
    pub(super) handle: RddHandle,
    pub(super) function: Func<E, F>,
}

crate::rdd::debug_as_handle!(impl[R, E, F] MapPartitions<R, E, F>);

crate::ship!(impl[R: Ship, E: Data, F: 'static] MapPartitions<R, E, F> { parent, handle, function });

impl<R: Clone, E, F> Clone for MapPartitions<R, E, F> {
    fn clone(&self) -> Self {
        Self { parent: self.parent.clone(), handle: self.handle.clone(), function: self.function.clone() }
    }
}

impl<R, E, F, U> Rdd for MapPartitions<R, E, F>
where
    R: Rdd,
    E: Data,
    U: Data,
    F: for<'r> Fn(&'r E, u32, Rows<'r, R::Item>) -> Rows<'r, U> + Copy + Send + Sync + 'static,
{
    type Item = U;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> impl Iterator<Item = U> + 'a {
        let (f, env) = (self.function.function(), self.function.env());
        let rows = Rows::new(self.parent.compute(partition, task));
        let rows = self.function.blame().on(|| f(env, partition.0, rows));
        rows.watched(task, self.handle.id())
    }
}
