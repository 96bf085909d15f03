//! The contract of an RDD.

use firesteel_types::PartitionId;

use super::RddHandle;
use crate::{data::Data, ship::Ship, task::TaskContext};

/// A resilient distributed dataset: rows in partitions, computed when an action asks for them, and computed again
/// when they are lost.
///
/// Like `Iterator`, a trait that every transformation implements with a type of its own, so that a stage compiles to one
/// loop. A function of yours takes and returns `impl Rdd<Item = T>`; where one name is needed, in a loop or a struct
/// field, [`boxed`](crate::Transform::boxed) gives a `BoxRdd<T>`. Transformations are in [`Transform`](crate::Transform)
/// and, for rows that are pairs, in [`PairRdd`](crate::PairRdd); actions are in [`Actions`](crate::Actions).
///
/// A clone is the same RDD.
///
/// # An RDD of your own
///
/// A source of rows, or an operator that is not there, is a struct with a handle and two methods.
/// [`Context::new_rdd`](crate::Context::new_rdd) begins the handle of a source; for an operator, `derive` of the parent's
/// [handle](RddHandle) does. The [`ship!`](crate::ship) macro lists the fields that travel to executors.
/// [`Parent`](super::Parent)s declare what partitions read, and `compute` must ask its parents for just those.
///
/// ```
/// use firesteel::{PartitionId, RddHandle, Ship, prelude::*, ship};
///
/// /// Counts down to zero, once in each partition.
/// #[derive(Clone)]
/// struct Countdown {
///     handle: RddHandle,
///     from: u32,
/// }
///
/// ship!(impl[] Countdown { handle; values from });
///
/// impl Rdd for Countdown {
///     type Item = u32;
///
///     fn handle(&self) -> &RddHandle {
///         &self.handle
///     }
///
///     fn compute<'a>(&'a self, _: PartitionId, _: &'a TaskContext) -> impl Iterator<Item = u32> + 'a {
///         (0..=self.from).rev()
///     }
/// }
///
/// /// Every second row.
/// #[derive(Clone)]
/// struct EverySecond<R> {
///     parent: R,
///     handle: RddHandle,
/// }
///
/// ship!(impl[R: Ship] EverySecond<R> { parent, handle });
///
/// impl<R: Rdd> Rdd for EverySecond<R> {
///     type Item = R::Item;
///
///     fn handle(&self) -> &RddHandle {
///         &self.handle
///     }
///
///     fn compute<'a>(&'a self, split: PartitionId, task: &'a TaskContext) -> impl Iterator<Item = R::Item> + 'a {
///         self.parent.compute(split, task).step_by(2)
///     }
/// }
///
/// let ctx = Context::local(2)?;
/// let countdown = Countdown { handle: ctx.new_rdd("countdown", 2).build(), from: 3 };
/// let fewer = EverySecond { handle: countdown.handle().derive("every second").build(), parent: countdown };
/// assert_eq!(fewer.map(|x| x * 10).collect()?, [30, 10, 30, 10]);
/// # Ok::<(), firesteel::Error>(())
/// ```
pub trait Rdd: Ship + Clone + Send + Sync + 'static {
    /// The type of the rows.
    type Item: Data;

    /// Its place in the lineage.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range(0..4);
    /// assert_eq!(rows.handle().id(), rows.clone().handle().id());
    /// assert_eq!(rows.map(|x| x + 1).handle().parents()[0].handle().id(), rows.handle().id());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
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

    /// Whether its rows are stored after they were computed once, so that computing them again means to read them.
    ///
    /// An operator that needs the rows of a parent several times keeps them itself if they are not.
    #[doc(hidden)]
    fn is_stored(&self) -> bool {
        false
    }

    /// How many partitions there are.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range_into(0..4, 3).map(|x| x + 1).num_partitions(), 3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    fn num_partitions(&self) -> u32 {
        self.handle().partitions()
    }
}
