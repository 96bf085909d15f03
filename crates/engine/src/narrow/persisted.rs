//! The adaptor of `persist` and `cache`.

use firesteel_types::{PartitionId, StorageLevel};

use crate::{
    Error, Result,
    either::Either,
    rdd::{Rdd, RddHandle},
    ship::{Frozen, Ship, ShipError, Thawing},
    task::{TaskContext, keep},
};

/// An [`Rdd`] whose partitions are kept once they are computed. Made by [`cache`](crate::Transform::cache) and
/// [`persist`](crate::Transform::persist).
///
/// The kept rows belong to this RDD and its clones; the RDD it was made from is not changed. A partition that is lost is
/// computed again. Dropping the last clone, and all RDDs made from it, removes the rows.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Persisted<R> {
    parent: R,
    handle: RddHandle,
    /// How partitions are kept, on an executor; the driver asks the handle.
    level: Option<StorageLevel>,
}

crate::rdd::debug_as_handle!(impl[R] Persisted<R>);

impl<R: Rdd> Persisted<R> {
    #[track_caller]
    pub(crate) fn new(parent: &R, operator: &'static str, level: StorageLevel) -> Self {
        let handle = parent.handle().derive(operator).partitioner(parent.handle().partitioner().cloned());
        Self { parent: parent.clone(), handle: handle.storage(level).build(), level: None }
    }

    /// How partitions are kept.
    ///
    /// ```
    /// # use firesteel::{StorageLevel, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let rdd = ctx.range(0..9).cache();
    /// assert_eq!(rdd.storage_level(), StorageLevel::MEMORY_ONLY);
    /// rdd.unpersist();
    /// assert_eq!(rdd.storage_level(), StorageLevel::NONE);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn storage_level(&self) -> StorageLevel {
        self.level.unwrap_or_else(|| self.handle.storage())
    }

    /// Keeps partitions at `level`. Fails if they are kept at another one: unpersist first.
    ///
    /// ```
    /// use firesteel::{StorageLevel, prelude::*};
    ///
    /// let ctx = Context::local(2)?;
    /// let rdd = ctx.range(0..9).cache();
    /// assert!(rdd.persist(StorageLevel::MEMORY_ONLY_SER).is_err());
    /// rdd.unpersist();
    /// assert!(rdd.persist(StorageLevel::MEMORY_ONLY_SER).is_ok());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn persist(&self, level: StorageLevel) -> Result<Self> {
        let now = self.storage_level();
        if now.is_persisted() && now != level {
            return Err(Error::AlreadyPersisted { rdd: self.handle.name().to_string() });
        }
        self.handle.set_storage(level);
        Ok(self.clone())
    }

    /// Removes what is kept, and keeps nothing from now on. Later jobs compute the rows again.
    ///
    /// ```
    /// use firesteel::prelude::*;
    ///
    /// let ctx = Context::local(2)?;
    /// let rdd = ctx.range(0..9).map(|x| x * x).cache();
    /// assert_eq!(rdd.count()?, 9);
    /// rdd.unpersist();
    /// assert_eq!(rdd.count()?, 9);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn unpersist(&self) {
        self.handle.set_storage(StorageLevel::NONE);
        self.handle.driver().remove_blocks(self.handle.id());
    }
}

impl<R: Rdd> Rdd for Persisted<R> {
    type Item = R::Item;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn is_stored(&self) -> bool {
        self.storage_level().is_persisted()
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = R::Item> + 'a {
        let level = self.storage_level();
        if !level.is_persisted() {
            return Either::One(self.parent.compute(partition, task));
        }
        let compute = || self.parent.compute(partition, task);
        Either::Two(keep(self.handle.id(), partition, level, task, compute))
    }
}

impl<R: Rdd> Ship for Persisted<R> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        Ship::freeze(&self.parent, out)?;
        self.handle.freeze(out)?;
        out.value(&self.storage_level())
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Ok(Self { parent: R::thaw(input)?, handle: RddHandle::thaw(input)?, level: Some(input.value()?) })
    }
}
