//! The actions of any RDD that give its rows, or run a function over them.

use serde::{Serialize, de::DeserializeOwned};

use super::{
    LocalRows,
    collect::{Collect, Count, concat},
    sample::SampleSteps,
    take::TakeSteps,
};
use crate::{
    Result,
    job::{Call, JobHandle},
    narrow::{Rows, Transform},
    rdd::Rdd,
    ship::captures_nothing,
};
use firesteel_stats::sampling::Replacement;

/// What makes an RDD run: each action submits a job and waits for its value.
///
/// Each has a twin with `_async` at the end of its name that returns a [`JobHandle`] at once. Actions that make one
/// value of all rows are in [`FoldActions`](crate::FoldActions), those that go by an order in
/// [`OrderActions`](crate::OrderActions), those that count in [`CountActions`](crate::CountActions); rows that are
/// numbers have [`NumericActions`](crate::NumericActions), pairs have [`PairActions`](crate::PairActions).
pub trait Actions: Rdd {
    /// All rows, in the order of the partitions.
    ///
    /// They must fit into the driver's memory.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..3).collect()?, [0, 1, 2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn collect(&self) -> Result<Vec<Self::Item>> {
        self.collect_async().wait()
    }

    /// All rows, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let (low, high) = (ctx.range(0..3).collect_async(), ctx.range(7..9).collect_async());
    /// assert_eq!((low.wait()?, high.wait()?), (vec![0, 1, 2], vec![7, 8]));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn collect_async(&self) -> JobHandle<Vec<Self::Item>> {
        Call::new("collect").run(self, Collect, |parts| Ok(concat(parts)))
    }

    /// All rows, with a vector for each partition.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range_into(0..5, 2).collect_partitions()?, [vec![0, 1], vec![2, 3, 4]]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn collect_partitions(&self) -> Result<Vec<Vec<Self::Item>>> {
        self.collect_partitions_async().wait()
    }

    /// All rows, with a vector for each partition, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range_into(0..4, 2).collect_partitions_async().wait()?, [[0, 1], [2, 3]]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn collect_partitions_async(&self) -> JobHandle<Vec<Vec<Self::Item>>> {
        Call::new("collect_partitions").run(self, Collect, Ok)
    }

    /// Counts the rows.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..1000).filter(|x| x % 7 == 0).count()?, 143);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn count(&self) -> Result<u64> {
        self.count_async().wait()
    }

    /// Counts the rows, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..4).count_async().wait()?, 4);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn count_async(&self) -> JobHandle<u64> {
        Call::new("count").run(self, Count, |counts| Ok(counts.into_iter().sum()))
    }

    /// The first `n` rows in the order of the partitions; fewer if there are fewer.
    ///
    /// Runs the first partition, then more of them, in one job after the other, as long as rows are missing. `take(0)`
    /// runs nothing.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range_into(0..1000, 100).take(3)?, [0, 1, 2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn take(&self, n: usize) -> Result<Vec<Self::Item>> {
        self.take_async(n).wait()
    }

    /// The first `n` rows, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..1000).take_async(2).wait()?, [0, 1]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn take_async(&self, n: usize) -> JobHandle<Vec<Self::Item>> {
        let call = Call::new("take");
        call.start(self, TakeSteps::new(self, n, Ok))
    }

    /// The first row. An error if there is none.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(7..100).first()?, 7);
    /// assert!(matches!(ctx.range(7..7).first(), Err(Error::Empty { .. })));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn first(&self) -> Result<Self::Item> {
        self.first_async().wait()
    }

    /// The first row, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(7..100).first_async().wait()?, 7);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn first_async(&self) -> JobHandle<Self::Item> {
        let call = Call::new("first");
        let first = move |mut rows: Vec<Self::Item>| rows.pop().ok_or_else(|| call.empty());
        call.start(self, TakeSteps::new(self, 1, first))
    }

    /// Whether there is no row. Runs as few partitions as [`first`](Actions::first).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert!(ctx.range(0..9).filter(|x| *x > 10).is_empty()?);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn is_empty(&self) -> Result<bool> {
        self.is_empty_async().wait()
    }

    /// Whether there is no row, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert!(!ctx.range(0..9).is_empty_async().wait()?);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn is_empty_async(&self) -> JobHandle<bool> {
        let call = Call::new("is_empty");
        call.start(self, TakeSteps::new(self, 1, |rows: Vec<Self::Item>| Ok(rows.is_empty())))
    }

    /// The rows one after the other, of which the driver holds those of one partition at a time.
    ///
    /// Runs one job for each partition, when its first row is asked for.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let mut sum = 0;
    /// for row in ctx.range(0..5).to_local_iterator() {
    ///     sum += row?;
    /// }
    /// assert_eq!(sum, 10);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn to_local_iterator(&self) -> LocalRows<Self> {
        LocalRows::new(Call::new("to_local_iterator"), self)
    }

    /// A random sample of `n` rows in random order; without replacement all rows if there are no more.
    ///
    /// Depends on the rows, their partitions and the seed only. Counts the rows first, in a job of its own. Of no rows
    /// the sample is empty, also with replacement.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range(0..100);
    /// let sample = rows.take_sample(Replacement::Without, 10, 42)?;
    /// assert_eq!(sample.len(), 10);
    /// assert_eq!(rows.take_sample(Replacement::Without, 10, 42)?, sample);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn take_sample(&self, replacement: Replacement, n: usize, seed: u64) -> Result<Vec<Self::Item>> {
        self.take_sample_async(replacement, n, seed).wait()
    }

    /// A random sample, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let sample = ctx.range(0..100).take_sample_async(Replacement::With, 200, 42);
    /// assert_eq!(sample.wait()?.len(), 200);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn take_sample_async(&self, replacement: Replacement, n: usize, seed: u64) -> JobHandle<Vec<Self::Item>> {
        let call = Call::new("take_sample");
        call.start(self, SampleSteps::new(self, replacement, n, seed))
    }

    /// Calls `f` with every row, on the executors, for its effects. A task that is run again calls it again.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::sync::atomic::{AtomicU64, Ordering};
    /// # let ctx = Context::local(2)?;
    /// static SUM: AtomicU64 = AtomicU64::new(0);
    /// ctx.range(0_u64..5).for_each(|x| {
    ///     SUM.fetch_add(x, Ordering::Relaxed);
    /// })?;
    /// assert_eq!(SUM.load(Ordering::Relaxed), 10);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn for_each<F>(&self, f: F) -> Result<()>
    where
        F: Fn(Self::Item) + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.for_each_async(f).wait()
    }

    /// Calls `f` with every row, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::sync::atomic::{AtomicU64, Ordering};
    /// # let ctx = Context::local(2)?;
    /// static ROWS: AtomicU64 = AtomicU64::new(0);
    /// let job = ctx.range(0..5).for_each_async(|_| {
    ///     ROWS.fetch_add(1, Ordering::Relaxed);
    /// });
    /// job.wait()?;
    /// assert_eq!(ROWS.load(Ordering::Relaxed), 5);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn for_each_async<F>(&self, f: F) -> JobHandle<()>
    where
        F: Fn(Self::Item) + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).for_each_async(move |(), row| f(row))
    }

    /// Calls `f` with the rows of every partition, on the executors, for its effects: to open a connection once for many
    /// rows.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::sync::atomic::{AtomicUsize, Ordering};
    /// # let ctx = Context::local(2)?;
    /// static LARGEST: AtomicUsize = AtomicUsize::new(0);
    /// ctx.range_into(0..5, 2).for_each_partition(|rows| {
    ///     LARGEST.fetch_max(rows.count(), Ordering::Relaxed);
    /// })?;
    /// assert_eq!(LARGEST.load(Ordering::Relaxed), 3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn for_each_partition<F>(&self, f: F) -> Result<()>
    where
        F: Fn(Rows<'_, Self::Item>) + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.for_each_partition_async(f).wait()
    }

    /// Calls `f` with the rows of every partition, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::sync::atomic::{AtomicUsize, Ordering};
    /// # let ctx = Context::local(2)?;
    /// static ROWS: AtomicUsize = AtomicUsize::new(0);
    /// let job = ctx.range_into(0..5, 2).for_each_partition_async(|rows| {
    ///     ROWS.fetch_add(rows.count(), Ordering::Relaxed);
    /// });
    /// job.wait()?;
    /// assert_eq!(ROWS.load(Ordering::Relaxed), 5);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn for_each_partition_async<F>(&self, f: F) -> JobHandle<()>
    where
        F: Fn(Rows<'_, Self::Item>) + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).for_each_partition_async(move |(), rows| f(rows))
    }

    /// What `f` makes of each partition: the action under all others, for one of your own.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range_into(0..6, 3).run_job(|rows| rows.last())?, [Some(1), Some(3), Some(5)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn run_job<U, F>(&self, f: F) -> Result<Vec<U>>
    where
        U: Serialize + DeserializeOwned + Send + 'static,
        F: Fn(Rows<'_, Self::Item>) -> U + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.run_job_async(f).wait()
    }

    /// What `f` makes of each partition, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range_into(0..6, 3).run_job_async(|rows| rows.count()).wait()?, [2, 2, 2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn run_job_async<U, F>(&self, f: F) -> JobHandle<Vec<U>>
    where
        U: Serialize + DeserializeOwned + Send + 'static,
        F: Fn(Rows<'_, Self::Item>) -> U + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).run_job_async(move |(), rows| f(rows))
    }

    /// What `f` makes of some partitions, in the order in which they are named. No other partition is computed.
    ///
    /// An error if a partition does not exist.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range_into(0..6, 3).run_job_on([2, 0], |rows| rows.sum::<i32>())?, [9, 1]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn run_job_on<U, F>(&self, partitions: impl IntoIterator<Item = u32>, f: F) -> Result<Vec<U>>
    where
        U: Serialize + DeserializeOwned + Send + 'static,
        F: Fn(Rows<'_, Self::Item>) -> U + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.run_job_on_async(partitions, f).wait()
    }

    /// What `f` makes of some partitions, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let last = ctx.range_into(0..6, 3).run_job_on_async([2], |rows| rows.last());
    /// assert_eq!(last.wait()?, [Some(5)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn run_job_on_async<U, F>(&self, partitions: impl IntoIterator<Item = u32>, f: F) -> JobHandle<Vec<U>>
    where
        U: Serialize + DeserializeOwned + Send + 'static,
        F: Fn(Rows<'_, Self::Item>) -> U + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).run_job_on_async(partitions, move |(), rows| f(rows))
    }
}

impl<R: Rdd> Actions for R {}
