//! The rows of one map task, dealt to reduce partitions: [`Buckets`].

use firesteel_storage::{
    codec::ContentSum,
    memory::is_counting,
    shuffle::files::{ShuffleFileError, SpillFile, SpillWriter},
};

use crate::{
    data::Data,
    spill::{Size, Watch},
    task::{Dealt, RowSink, TaskContext, TypedBuckets, abort_storage},
};

/// One vector of rows for each reduce partition, and what had to go to disk.
pub(crate) struct Buckets<'a, T> {
    rows: Vec<Vec<T>>,
    spills: Vec<SpillFile>,
    records: u64,
    /// The sum of what was spilled, if it is wanted.
    content: Option<ContentSum>,
    watch: Watch<T>,
    task: &'a TaskContext,
}

impl<'a, T: Data> Buckets<'a, T> {
    pub(crate) fn new(partitions: u32, task: &'a TaskContext) -> Self {
        let rows = (0..partitions).map(|_| Vec::new()).collect();
        let content = task.environment().shuffles.sums_content().then(ContentSum::default);
        let watch = Watch::new("shuffle write", task);
        Self { rows, spills: Vec::new(), records: 0, content, watch, task }
    }

    /// Makes room for `rows` rows in all, if they are spread evenly and memory allows.
    pub(crate) fn reserve(&mut self, rows: usize) {
        let each = rows / self.rows.len().max(1);
        // A little more than the mean, so that the usual spread does not make every bucket grow once more.
        let each = each + each / 16;
        let bytes = (each * self.rows.len()).saturating_mul(size_of::<T>());
        if (bytes as u64) < self.task.room() / 2 {
            self.rows.iter_mut().for_each(|bucket| bucket.reserve(each));
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, partition: u32, row: T) {
        let bucket = &mut self.rows[partition as usize];
        if bucket.len() == bucket.capacity() {
            self.grow(partition);
        }
        self.rows[partition as usize].push(row);
        if self.watch.tick() {
            self.look(0);
        }
    }

    /// Doubles a bucket, unless memory is short: then all rows go to disk first.
    #[cold]
    fn grow(&mut self, partition: u32) {
        let wanted = (2 * self.rows[partition as usize].capacity()).max(4);
        self.look(wanted * size_of::<T>());
        let bucket = &mut self.rows[partition as usize];
        if bucket.len() == bucket.capacity() {
            bucket.reserve_exact(bucket.capacity().max(4));
        }
    }

    #[cold]
    fn look(&mut self, growth: usize) {
        // Where everything is measured this is not needed, and there may be very many buckets.
        let held = if is_counting() { 0 } else { self.rows.iter().map(Vec::capacity).sum::<usize>() };
        if self.watch.must_spill(Size { held: held * size_of::<T>(), growth }) {
            self.spill();
        }
    }

    /// Writes all rows to disk, partition by partition.
    pub(crate) fn spill(&mut self) {
        let buckets = self.rows.iter_mut().map(std::mem::take);
        let buckets = buckets.inspect(|rows| self.records += rows.len() as u64);
        match write_spill(buckets, &mut self.content, self.task) {
            Ok(spill) => {
                self.task.count_spill(spill.bytes());
                self.spills.push(spill);
            }
            Err(error) => abort_storage(&error),
        }
        self.watch.spilled();
    }

    /// What became of the rows, and how many there were.
    pub(crate) fn finish(self) -> (Dealt<T>, u64) {
        let Self { rows, spills, records, content, watch, .. } = self;
        let records = records + rows.iter().map(|rows| rows.len() as u64).sum::<u64>();
        let rows = TypedBuckets(rows);
        let bytes = watch.measured_bytes().max(rows.own_bytes());
        (Dealt { spills, rows, bytes, content }, records)
    }
}

fn write_spill<T: Data>(
    buckets: impl Iterator<Item = Vec<T>>,
    content: &mut Option<ContentSum>,
    task: &TaskContext,
) -> Result<SpillFile, ShuffleFileError> {
    let environment = task.environment();
    let mut spill = SpillWriter::new(&environment.disk.dirs()?, environment.spill_compression);
    for (partition, rows) in (0..).zip(buckets).filter(|(_, rows)| !rows.is_empty()) {
        spill.start(partition);
        RowSink { file: &mut spill, content, partition }.write(&rows)?;
    }
    spill.finish()
}
