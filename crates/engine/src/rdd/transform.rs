//! The transformations of any RDD.

use firesteel_types::StorageLevel;

use super::{BoxRdd, Filter, Map, Rdd, With};
use crate::{Result, cache::Persisted, checkpoint::Checkpointed, data::Data, ship::captures_nothing};

/// What makes an RDD from an RDD. Lazy: nothing runs until an action asks for rows.
pub trait Transform: Rdd {
    /// Brings values along for the function of the next operator, which gets them as its first argument.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let limit = 2;
    /// assert_eq!(ctx.range(0..5).with(limit).filter(|limit, x| x > limit).collect()?, [3, 4]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    fn with<E: Data>(&self, env: E) -> With<Self, E> {
        With::new(self.clone(), env)
    }

    /// The same RDD under a type that names its rows only, for loops and struct fields.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let mut rdd = ctx.range(0..3).boxed();
    /// for _ in 0..3 {
    ///     rdd = rdd.map(|x| x * 10).boxed();
    /// }
    /// assert_eq!(rdd.collect()?, [0, 1000, 2000]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    fn boxed(&self) -> BoxRdd<Self::Item> {
        BoxRdd::new(self.clone())
    }

    /// Keeps the partitions in memory once they are computed. See [`persist`](Transform::persist).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let squares = ctx.range(0..1000_u64).map(|x| x * x).cache();
    /// assert_eq!(squares.count()?, 1000);
    /// assert_eq!(squares.filter(|x| x % 2 == 0).count()?, 500);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn cache(&self) -> Persisted<Self> {
        Persisted::new(self, "cache", StorageLevel::MEMORY_ONLY)
    }

    /// Keeps the partitions once they are computed, in the way of `level`.
    ///
    /// What is kept belongs to the RDD that is returned: use it from then on.
    ///
    /// ```
    /// # use firesteel::{StorageLevel, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let rdd = ctx.range(0..10).persist(StorageLevel::MEMORY_ONLY_SER);
    /// assert_eq!(rdd.count()?, 10);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn persist(&self, level: StorageLevel) -> Persisted<Self> {
        Persisted::new(self, "persist", level)
    }

    /// Writes the rows to files of the checkpoint directory after the first job that uses them; later jobs read them from
    /// there, and the lineage behind is cut.
    ///
    /// Fails if there is no checkpoint directory (see [`Context::set_checkpoint_dir`](crate::Context::set_checkpoint_dir)).
    /// The rows are computed again to be written: persist the RDD if that is expensive. Use the RDD that is returned.
    #[track_caller]
    fn checkpoint(&self) -> Result<Checkpointed<Self>> {
        Checkpointed::reliable(self)
    }

    /// Keeps the rows on the executors that compute them in the first job, and cuts the lineage behind after it.
    ///
    /// Faster than [`checkpoint`](Transform::checkpoint) and needs no directory; but what is lost with an executor is lost.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rdd = ctx.range(0..9).map(|x| x * 2).local_checkpoint();
    /// assert_eq!(rdd.count()?, 9);
    /// assert!(rdd.is_checkpointed());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn local_checkpoint(&self) -> Checkpointed<Self> {
        Checkpointed::local(self)
    }

    /// Applies `f` to every row.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..4).map(|x| x * x).collect()?, [0, 1, 4, 9]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn map<U, F>(&self, f: F) -> Map<Self, (), impl Fn(&(), Self::Item) -> U + Copy + Send + Sync + 'static>
    where
        U: Data,
        F: Fn(Self::Item) -> U + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).map(move |(), row| f(row))
    }

    /// Keeps the rows for which `f` holds.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..10).filter(|x| x % 3 == 0).collect()?, [0, 3, 6, 9]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn filter<F>(
        &self,
        f: F,
    ) -> Filter<Self, (), impl Fn(&(), &Self::Item) -> bool + Copy + Send + Sync + 'static>
    where
        F: Fn(&Self::Item) -> bool + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).filter(move |(), row| f(row))
    }
}

impl<R: Rdd> Transform for R {}
