//! The transformations of any RDD.

use std::fmt::Display;

use firesteel_types::StorageLevel;

use super::{
    BoxRdd, Cartesian, Coalesced, Filter, FlatMap, Glom, Map, MapPartitions, Pipe, PipeCommand, Pruned, Rows,
    Sample, Split, Union, With, Zip, ZipPartitions, ZipWithIndex, ZipWithUniqueId,
    debug_string::debug_string,
};
use crate::{
    Result, checkpoint::Checkpointed, data::Data, job::JobHandle, narrow::Persisted, rdd::Rdd,
    ship::captures_nothing,
};
use firesteel_stats::sampling::Replacement;

/// What makes an RDD from an RDD. Lazy: nothing runs until an action asks for rows.
///
/// An argument that cannot be (no partitions, a negative fraction, sides that do not fit together) does not fail here: the
/// first action on the RDD, or on anything made from it, returns an error that names the operator and its line.
///
/// ```
/// use firesteel::prelude::*;
///
/// let ctx = Context::local(2)?;
/// let error = ctx.range(0..10).coalesce(0).map(|x| x + 1).count().unwrap_err();
/// assert!(error.to_string().contains("coalesce at "));
/// # Ok::<(), firesteel::Error>(())
/// ```
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
    /// | Level | Where and how | What does not fit in memory |
    /// |---|---|---|
    /// | `MEMORY_ONLY` | in memory, as they are: the fastest | is computed again each time |
    /// | `MEMORY_ONLY_SER` | in memory, serialized: smaller, slower to read | is computed again each time |
    /// | `MEMORY_AND_DISK` | in memory, as they are | is on disk |
    /// | `MEMORY_AND_DISK_SER` | in memory, serialized | is on disk |
    /// | `DISK_ONLY` | on disk | |
    ///
    /// With `_2` behind its name, and `DISK_ONLY` also with `_3`, a level asks for as many copies on different executors;
    /// where there are too few of them there are fewer copies. Serialized rows are compressed unless
    /// `firesteel.rdd.compress` is off. When memory is short, those partitions make room that were not used for the longest
    /// time, but never for another one of the same RDD.
    ///
    /// What is kept belongs to the RDD that is returned: use it from then on.
    ///
    /// ```
    /// # use firesteel::{StorageLevel, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let rdd = ctx.range(0..10).persist(StorageLevel::MEMORY_AND_DISK);
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
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert!(ctx.range(0..9).checkpoint().is_err(), "there is no directory yet");
    /// let folder = std::env::temp_dir().join(format!("firesteel-doc-checkpoint-{}", std::process::id()));
    /// ctx.set_checkpoint_dir(folder.to_str().unwrap())?;
    /// let rdd = ctx.range(0..9).map(|x| x * 2).checkpoint()?;
    /// assert_eq!(rdd.count()?, 9);
    /// assert!(rdd.handle().parents().is_empty(), "the lineage is cut");
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    fn checkpoint(&self) -> Result<Checkpointed<Self>> {
        Checkpointed::reliable(self)
    }

    /// Keeps the rows on the executors that compute them in the first job, and cuts the lineage behind after it.
    ///
    /// Kept in memory, and on disk where that is short. Faster than [`checkpoint`](Transform::checkpoint) and needs no
    /// directory; but what is lost with an executor is lost.
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
    fn map<U, F>(
        &self,
        f: F,
    ) -> Map<Self, (), impl Fn(&(), Self::Item) -> U + Copy + Send + Sync + 'static + use<Self, U, F>>
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
    ) -> Filter<Self, (), impl Fn(&(), &Self::Item) -> bool + Copy + Send + Sync + 'static + use<Self, F>>
    where
        F: Fn(&Self::Item) -> bool + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).filter(move |(), row| f(row))
    }

    /// Makes any number of rows from every row: those of the collection or iterator that `f` gives.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..4).flat_map(|x| 0..x).collect()?, [0, 0, 1, 0, 1, 2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn flat_map<I, F>(
        &self,
        f: F,
    ) -> FlatMap<Self, (), impl Fn(&(), Self::Item) -> I + Copy + Send + Sync + 'static + use<Self, I, F>>
    where
        I: IntoIterator<Item: Data, IntoIter: 'static>,
        F: Fn(Self::Item) -> I + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).flat_map(move |(), row| f(row))
    }

    /// Puts a key before every row.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(4..7).key_by(|x| x % 2).collect()?, [(0, 4), (1, 5), (0, 6)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn key_by<K, F>(
        &self,
        f: F,
    ) -> Map<
        Self,
        (),
        impl Fn(&(), Self::Item) -> (K, Self::Item) + Copy + Send + Sync + 'static + use<Self, K, F>,
    >
    where
        K: Data,
        F: Fn(&Self::Item) -> K + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).key_by(move |(), row| f(row))
    }

    /// Applies `f` to all rows of each partition at once: for work that is worth doing once for many rows.
    ///
    /// `f` gets and gives [`Rows`], an iterator; if it is lazy, no more rows are held than it keeps itself and one batch
    /// of [`Rows`], which is small: of large rows, one.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let largest = ctx.range_into(0..10, 3).map_partitions(|rows| Rows::new(rows.max()));
    /// assert_eq!(largest.collect()?, [2, 5, 9]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn map_partitions<U, F>(
        &self,
        f: F,
    ) -> MapPartitions<
        Self,
        (),
        impl for<'r> Fn(&'r (), u32, Rows<'r, Self::Item>) -> Rows<'r, U>
        + Copy
        + Send
        + Sync
        + 'static
        + use<Self, U, F>,
    >
    where
        U: Data,
        F: Fn(Rows<'_, Self::Item>) -> Rows<'_, U> + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).map_partitions(move |(), rows| f(rows))
    }

    /// As [`map_partitions`](Transform::map_partitions), for an `f` that leaves every key in its partition: later
    /// operators by key need no shuffle if none was needed before.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let counts = ctx.range(0..6).map(|x| (x % 3, 1)).reduce_by_key(|a, b| a + b);
    /// let doubled = counts.map_partitions_keeping_partitioner(|rows| Rows::new(rows.map(|(key, n)| (key, 2 * n))));
    /// assert_eq!(doubled.handle().partitioner(), counts.handle().partitioner());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn map_partitions_keeping_partitioner<U, F>(
        &self,
        f: F,
    ) -> MapPartitions<
        Self,
        (),
        impl for<'r> Fn(&'r (), u32, Rows<'r, Self::Item>) -> Rows<'r, U>
        + Copy
        + Send
        + Sync
        + 'static
        + use<Self, U, F>,
    >
    where
        U: Data,
        F: Fn(Rows<'_, Self::Item>) -> Rows<'_, U> + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).map_partitions_keeping_partitioner(move |(), rows| f(rows))
    }

    /// As [`map_partitions`](Transform::map_partitions); `f` also gets the number of the partition.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let placed = ctx.range_into(0..4, 2);
    /// let placed = placed.map_partitions_with_index(|partition, rows| Rows::new(rows.map(move |x| (partition, x))));
    /// assert_eq!(placed.collect()?, [(0, 0), (0, 1), (1, 2), (1, 3)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn map_partitions_with_index<U, F>(
        &self,
        f: F,
    ) -> MapPartitions<
        Self,
        (),
        impl for<'r> Fn(&'r (), u32, Rows<'r, Self::Item>) -> Rows<'r, U>
        + Copy
        + Send
        + Sync
        + 'static
        + use<Self, U, F>,
    >
    where
        U: Data,
        F: Fn(u32, Rows<'_, Self::Item>) -> Rows<'_, U> + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).map_partitions_with_index(move |(), partition, rows| f(partition, rows))
    }

    /// Makes each partition one row: a vector of its rows.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range_into(0..3, 2).glom().collect()?, [vec![0], vec![1, 2]]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn glom(&self) -> Glom<Self> {
        Glom::new(self)
    }

    /// Takes about `fraction` of the rows at random. With replacement a row may be taken several times, and the
    /// fraction is the number of times to expect.
    ///
    /// The same rows, partitions and seed give the same sample. The partitioner is kept.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let sample = ctx.range(0..1000).sample(Replacement::Without, 0.1, 42);
    /// let rows = sample.collect()?;
    /// assert!((60..140).contains(&rows.len()));
    /// assert_eq!(sample.collect()?, rows);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn sample(&self, replacement: Replacement, fraction: f64, seed: u64) -> Sample<Self> {
        Sample::new(self, replacement, fraction, seed)
    }

    /// Deals the rows at random into as many RDDs as there are weights, each of which gets its share of them.
    ///
    /// Every row is in exactly one of them. Each computes this RDD again unless it is kept in memory.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let parts = ctx.range(0..1000).random_split(&[3.0, 1.0], 7);
    /// assert_eq!(parts[0].count()? + parts[1].count()?, 1000);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn random_split(&self, weights: &[f64], seed: u64) -> Vec<Split<Self>> {
        Split::all(self, weights, seed)
    }

    /// All rows of both, doubles included: the partitions of this RDD, then those of the other.
    ///
    /// If both have the same partitioner, partition *i* has the rows of both partitions *i* instead, and the partitioner is
    /// kept. An RDD without partitions changes nothing.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..3).union(&ctx.range(2..4)).collect()?, [0, 1, 2, 2, 3]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn union<R: Rdd<Item = Self::Item>>(&self, other: &R) -> Union<Self, R> {
        Union::new(self, other)
    }

    /// Every row with every row of `other`. Has as many partitions as both numbers multiplied.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range_into(0..2, 1).cartesian(&ctx.range_into(5..7, 1));
    /// assert_eq!(pairs.collect()?, [(0, 5), (0, 6), (1, 5), (1, 6)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn cartesian<R: Rdd>(&self, other: &R) -> Cartesian<Self, R> {
        Cartesian::new(self, other)
    }

    /// Pairs the rows of both, one by one.
    ///
    /// Both need the same number of partitions, which the first action checks, and the same number of rows in each,
    /// which its tasks check: both hold when one was made from the other with `map`.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let numbers = ctx.range(1..4);
    /// assert_eq!(numbers.zip(&numbers.map(|x| x * x)).collect()?, [(1, 1), (2, 4), (3, 9)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn zip<R: Rdd>(&self, other: &R) -> Zip<Self, R> {
        Zip::new(self, other)
    }

    /// Applies `f` to the rows of each partition and those of the same partition of `other`.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let (left, right) = (ctx.range_into(0..4, 2), ctx.range_into(10..12, 2));
    /// let both = left.zip_partitions(&right, |left, right| Rows::new(left.chain(right)));
    /// assert_eq!(both.collect()?, [0, 1, 10, 2, 3, 11]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn zip_partitions<R, U, F>(
        &self,
        other: &R,
        f: F,
    ) -> ZipPartitions<
        Self,
        R,
        (),
        impl for<'r> Fn(&'r (), Rows<'r, Self::Item>, Rows<'r, R::Item>) -> Rows<'r, U>
        + Copy
        + Send
        + Sync
        + 'static
        + use<Self, R, U, F>,
    >
    where
        R: Rdd,
        U: Data,
        F: for<'r> Fn(Rows<'r, Self::Item>, Rows<'r, R::Item>) -> Rows<'r, U> + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).zip_partitions(other, move |(), left, right| f(left, right))
    }

    /// Puts its place among all rows behind every row.
    ///
    /// With more than one partition a job counts the rows of all but the last, here and now. A partition that has another
    /// number of rows when it is computed later fails its task.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(7..10).zip_with_index()?.collect()?, [(7, 0), (8, 1), (9, 2)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn zip_with_index(&self) -> Result<ZipWithIndex<Self>> {
        self.zip_with_index_async().wait()
    }

    /// [`zip_with_index`](Transform::zip_with_index) without a wait: the rows are counted in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let numbered = ctx.range(7..10).zip_with_index_async();
    /// assert_eq!(numbered.wait()?.collect()?, [(7, 0), (8, 1), (9, 2)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn zip_with_index_async(&self) -> JobHandle<ZipWithIndex<Self>> {
        ZipWithIndex::new(self)
    }

    /// Puts a number behind every row that no other row has, without a job: row *k* of partition *i* of n gets
    /// *k* × n + *i*.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range_into(5..8, 2).zip_with_unique_id().collect()?, [(5, 0), (6, 1), (7, 3)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn zip_with_unique_id(&self) -> ZipWithUniqueId<Self> {
        ZipWithUniqueId::new(self)
    }

    /// Puts partitions together until `partitions` are left, without moving any row; never makes more.
    ///
    /// Neighbours go together, in groups of about the same size; or, if partitions prefer hosts, those that prefer the
    /// same one.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let fewer = ctx.range_into(0..10, 10).coalesce(3);
    /// assert_eq!(fewer.glom().collect()?, [vec![0, 1, 2], vec![3, 4, 5], vec![6, 7, 8, 9]]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn coalesce(&self, partitions: u32) -> Coalesced<Self> {
        Coalesced::new(self, partitions)
    }

    /// Keeps the partitions for whose number `keep` holds; the others are not computed at all.
    ///
    /// `keep` is called here, on the driver, and may capture what it likes.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range_into(0..8, 4).prune_partitions(|partition| partition % 2 == 1).collect()?, [2, 3, 6, 7]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn prune_partitions(&self, mut keep: impl FnMut(u32) -> bool) -> Pruned<Self> {
        Pruned::new(self, (0..self.num_partitions()).filter(|partition| keep(*partition)).collect())
    }

    /// Gives the rows of each partition to an external program, as lines, and takes the lines that it prints.
    ///
    /// The words are the program and its arguments; nothing is split or expanded. A program that cannot be started or ends
    /// with a failure fails the task. It is started for empty partitions, too.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(9..12).pipe(["tr", "1", "x"]).collect()?, ["9", "x0", "xx"]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn pipe(&self, words: impl IntoIterator<Item = impl Into<String>>) -> Pipe<Self>
    where
        Self::Item: Display,
    {
        Pipe::new(self, PipeCommand::new(words))
    }

    /// As [`pipe`](Transform::pipe), with an environment or a working directory for the program.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use firesteel::PipeCommand;
    /// # let ctx = Context::local(2)?;
    /// let command = PipeCommand::new(["sh", "-c", "cat; echo $LAST"]).env("LAST", "end");
    /// assert_eq!(ctx.range_into(0..2, 1).pipe_with(command).collect()?, ["0", "1", "end"]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn pipe_with(&self, command: PipeCommand) -> Pipe<Self>
    where
        Self::Item: Display,
    {
        Pipe::new(self, command)
    }

    /// Gives the RDD a name, for people who look at jobs and lineages. Its clones have it, too.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rdd = ctx.range(0..3);
    /// assert_eq!(rdd.set_name("numbers").name(), "numbers");
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    fn set_name(&self, name: impl AsRef<str>) -> &Self {
        self.handle().set_name(name.as_ref());
        self
    }

    /// The name, or the operator and the line that made the RDD if it was given none.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert!(ctx.range(0..3).name().starts_with("range at "));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    fn name(&self) -> String {
        self.handle().name().to_string()
    }

    /// The lineage as text: one line for each RDD behind this one, indented at shuffles, with numbers of partitions and
    /// storage levels.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let counts = ctx.range(0..9).map(|x| (x % 3, 1)).reduce_by_key(|a, b| a + b);
    /// let text = counts.to_debug_string();
    /// let lines: Vec<&str> = text.lines().map(|line| line.split(" at ").next().unwrap()).collect();
    /// assert_eq!(lines, ["(2) reduce_by_key[2]", " +-(2) map[1]", "    |  range[0]"]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    fn to_debug_string(&self) -> String {
        debug_string(self.handle())
    }
}

impl<R: Rdd> Transform for R {}
