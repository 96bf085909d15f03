//! Rows from a collection of the driver.

use firesteel_types::PartitionId;

use crate::{
    Context,
    data::Data,
    rdd::{MAX_PARTITIONS, NO_PARTITIONS, PartitionValues, Rdd, RddHandle},
    task::TaskContext,
};

/// An [`Rdd`] over a collection that the driver holds. Made by [`Context::parallelize`].
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Parallelize<T> {
    handle: RddHandle,
    slices: PartitionValues<Vec<T>>,
}

crate::rdd::debug_as_handle!(impl[T] Parallelize<T>);

crate::ship!(impl[T: Data] Parallelize<T> { handle, slices });

impl Context {
    /// Spreads `rows` over as many partitions as there are cores.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rdd = ctx.parallelize(vec![1, 2, 3]);
    /// assert_eq!(rdd.num_partitions(), 2);
    /// assert_eq!(rdd.collect()?, [1, 2, 3]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn parallelize<T: Data>(&self, rows: Vec<T>) -> Parallelize<T> {
        self.parallelize_into(rows, self.default_parallelism())
    }

    /// Spreads `rows` over `partitions` partitions: partition *i* of *n* holds the rows from *i* × len / *n* up to
    /// (*i* + 1) × len / *n*. Into no partitions is an error, which the first action returns.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.parallelize_into(vec![1, 2, 3, 4, 5], 3);
    /// assert_eq!(rows.glom().collect()?, [vec![1], vec![2, 3], vec![4, 5]]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn parallelize_into<T: Data>(&self, rows: Vec<T>, partitions: u32) -> Parallelize<T> {
        // What is refused below needs no slices.
        let slices = if partitions > MAX_PARTITIONS { Vec::new() } else { slice(rows, partitions) };
        let slices = PartitionValues::new(slices);
        let handle = RddHandle::builder(self.driver(), "parallelize", partitions);
        let handle = if partitions == 0 { handle.invalid(NO_PARTITIONS) } else { handle };
        Parallelize { handle: handle.partition_data(slices.data()).build(), slices }
    }
}

fn slice<T>(rows: Vec<T>, partitions: u32) -> Vec<Vec<T>> {
    let len = rows.len() as u64;
    let end = |slice: u32| (u64::from(slice) + 1) * len / u64::from(partitions);
    let mut rows = rows.into_iter();
    let mut start = 0;
    let take = |slice| {
        let size = end(slice) - start;
        start = end(slice);
        rows.by_ref().take(size as usize).collect()
    };
    (0..partitions).map(take).collect()
}

impl<T: Data> Rdd for Parallelize<T> {
    type Item = T;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> impl Iterator<Item = T> + 'a {
        let rows = self.slices.get(&self.handle, partition, task);
        task.count_input(rows.len() as u64, size_of_val(rows.as_slice()) as u64);
        task.batches(rows).flat_map(|rows| rows.iter().cloned())
    }
}
