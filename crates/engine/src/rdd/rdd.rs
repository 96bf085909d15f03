//! The contract of an RDD.

use firesteel_types::PartitionId;

use super::RddHandle;
use crate::{data::Data, executor::TaskContext, ship::Ship};

/// A resilient distributed dataset: rows in partitions, computed when an action asks for them, and computed again
/// when they are lost.
///
/// Like `Iterator`, a trait that every transformation implements with a type of its own, so that a stage compiles to one
/// loop. A function of yours takes and returns `impl Rdd<Item = T>`; where one name is needed, in a loop or a struct
/// field, [`boxed`](crate::Transform::boxed) gives a `BoxRdd<T>`. Transformations are in [`Transform`](crate::Transform)
/// and, for rows that are pairs, in [`PairRdd`](crate::PairRdd); actions are in [`Actions`](crate::Actions).
///
/// A clone is the same RDD.
pub trait Rdd: Ship + Clone + Send + Sync + 'static {
    /// The type of the rows.
    type Item: Data;

    /// Its place in the lineage.
    fn handle(&self) -> &RddHandle;

    /// The rows of one partition, in order. The whole contract of an operator.
    ///
    /// Called inside a task, as often as its rows are needed. What cannot go on unwinds the task instead of
    /// returning early; sources call [`TaskContext::check`] between batches of rows.
    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = Self::Item> + 'a;

    /// How many partitions there are.
    fn num_partitions(&self) -> u32 {
        self.handle().partitions()
    }
}
