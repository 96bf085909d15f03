//! RDDs without their type, where one name is needed.

use std::{fmt, marker::PhantomData, sync::Arc};

use firesteel_types::PartitionId;

use super::Rows;
use crate::{
    bury::bury,
    data::Data,
    rdd::{Rdd, RddHandle},
    ship::{Entry, Frozen, Ship, ShipError, Thaw, Thawing},
    task::TaskContext,
};

/// Any [`Rdd`] with rows of type `T`. Made by [`boxed`](crate::Transform::boxed).
///
/// For loops, where every turn would give another type, and for struct fields. The same RDD as before: nothing is added
/// to the lineage. Rows pass the border in the small batches of [`Rows`], one virtual call for each.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
pub struct BoxRdd<T: Data>(Option<Arc<dyn AnyRdd<T>>>);

/// An RDD whose operators cannot be seen.
trait AnyRdd<T>: Send + Sync {
    fn handle(&self) -> &RddHandle;
    fn rows<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> Rows<'a, T>;
    fn is_stored(&self) -> bool;
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError>;
}

impl<R: Rdd> AnyRdd<R::Item> for R {
    fn handle(&self) -> &RddHandle {
        Rdd::handle(self)
    }

    fn rows<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> Rows<'a, R::Item> {
        Rows::new(self.compute(partition, task))
    }

    fn is_stored(&self) -> bool {
        Rdd::is_stored(self)
    }

    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        Entry::of::<ThawBoxed<R>>().freeze(out)?;
        Ship::freeze(self, out)
    }
}

/// Builds an RDD of type `R` and boxes it.
struct ThawBoxed<R>(PhantomData<R>);

impl<R: Rdd> Thaw<BoxRdd<R::Item>> for ThawBoxed<R> {
    fn thaw(input: &mut Thawing<'_>) -> Result<BoxRdd<R::Item>, ShipError> {
        Ok(BoxRdd::new(R::thaw(input)?))
    }
}

impl<T: Data> BoxRdd<T> {
    pub(crate) fn new(rdd: impl Rdd<Item = T>) -> Self {
        Self(Some(Arc::new(rdd)))
    }

    /// The rows of one partition.
    pub(crate) fn rows<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> Rows<'a, T> {
        self.inner().rows(partition, task)
    }

    fn inner(&self) -> &dyn AnyRdd<T> {
        self.0.as_deref().expect("it is taken by drop only")
    }
}

/// The last handle of a long lineage takes it apart step by step.
impl<T: Data> Drop for BoxRdd<T> {
    fn drop(&mut self) {
        bury(self.0.take());
    }
}

impl<T: Data> Clone for BoxRdd<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Data> fmt::Debug for BoxRdd<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner().handle().debug_as("BoxRdd", out)
    }
}

impl<T: Data> Ship for BoxRdd<T> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.inner().freeze(out)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Entry::<Self>::thaw(input)?.build(input)
    }
}

impl<T: Data> Rdd for BoxRdd<T> {
    type Item = T;

    fn handle(&self) -> &RddHandle {
        self.inner().handle()
    }

    fn is_stored(&self) -> bool {
        self.inner().is_stored()
    }

    fn compute<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> impl Iterator<Item = T> + 'a {
        self.rows(partition, task)
    }
}
