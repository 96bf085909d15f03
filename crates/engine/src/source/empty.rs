//! No rows at all.

use std::{iter, marker::PhantomData};

use firesteel_types::PartitionId;

use crate::{
    Context,
    data::Data,
    rdd::{Rdd, RddHandle},
    ship::{Frozen, Ship, ShipError, Thawing},
    task::TaskContext,
};

/// An [`Rdd`] without partitions. Made by [`Context::empty_rdd`].
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
pub struct Empty<T> {
    handle: RddHandle,
    rows: PhantomData<fn() -> T>,
}

crate::rdd::debug_as_handle!(impl[T] Empty<T>);

impl<T> Clone for Empty<T> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), rows: PhantomData }
    }
}

impl<T> Ship for Empty<T> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.handle.freeze(out)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Ok(Self { handle: RddHandle::thaw(input)?, rows: PhantomData })
    }
}

impl Context {
    /// An RDD with no partitions and no rows.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let none = ctx.empty_rdd::<String>();
    /// assert_eq!(none.num_partitions(), 0);
    /// assert_eq!(none.count()?, 0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn empty_rdd<T: Data>(&self) -> Empty<T> {
        Empty { handle: RddHandle::builder(self.driver(), "empty_rdd", 0).build(), rows: PhantomData }
    }
}

impl<T: Data> Rdd for Empty<T> {
    type Item = T;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        _partition: PartitionId,
        _task: &'a TaskContext,
    ) -> impl Iterator<Item = T> + 'a {
        iter::empty()
    }
}
