//! Sorting more rows than fit in memory: [`SpillSort`].

use std::{cmp::Ordering, collections::BinaryHeap, mem};

use firesteel_storage::memory::meter;

use super::{RowFile, RowFileWriter, Watch, watch::Size};
use crate::{data::Data, task::TaskContext};

/// Bytes of rows that are sorted at once. Small enough that the scratch space of a sort does not matter.
const CHUNK_BYTES: usize = 1 << 20;
/// The most runs that are merged at once.
const FAN_IN_MAX: usize = 64;
/// The next rows of merged runs may take so much, regardless of the task's free memory.
const HEADS_BYTES_MIN: u64 = 1 << 20;

/// Rows in any order in, sorted rows out; rows that compare equal stay in the order in which they came.
pub(crate) struct SpillSort<'a, T, C> {
    compare: C,
    /// Being filled.
    chunk: Vec<T>,
    chunk_rows: usize,
    /// Sorted, in memory.
    chunks: Vec<Vec<T>>,
    /// Sorted, on disk; all before any chunk. Those of higher levels come first.
    runs: Vec<Run<T>>,
    /// What a row takes in memory: the mean of the run with the largest rows.
    row_bytes: u64,
    watch: Watch<T>,
    task: &'a TaskContext,
}

/// Sorted rows on disk.
struct Run<T> {
    file: RowFile<T>,
    /// How often its rows were merged. As many runs of one level as can be merged become one of the next, so that no row
    /// is written more often than the logarithm of the number of runs.
    level: u32,
}

impl<'a, T: Data, C: Fn(&T, &T) -> Ordering + Copy> SpillSort<'a, T, C> {
    pub(crate) fn new(compare: C, name: &'static str, task: &'a TaskContext) -> Self {
        let bytes = CHUNK_BYTES.min(task.room() as usize / 32);
        let chunk_rows = (bytes / size_of::<T>().max(1)).max(1);
        let watch = Watch::new(name, task);
        let (chunk, chunks, runs, row_bytes) = (Vec::new(), Vec::new(), Vec::new(), size_of::<T>() as u64);
        Self { compare, chunk, chunk_rows, chunks, runs, row_bytes, watch, task }
    }

    #[inline]
    pub(crate) fn push(&mut self, row: T) {
        if self.chunk.len() == self.chunk.capacity() {
            self.make_room();
        }
        self.chunk.push(row);
        if self.watch.tick() {
            self.look();
        }
    }

    /// The chunk is full, or there is none.
    #[cold]
    fn make_room(&mut self) {
        self.close_chunk();
        self.chunk.reserve_exact(self.chunk_rows);
    }

    fn close_chunk(&mut self) {
        if !self.chunk.is_empty() {
            self.chunk.sort_by(self.compare);
            self.chunks.push(mem::take(&mut self.chunk));
        }
    }

    #[cold]
    fn look(&mut self) {
        let held = (self.chunks.len() + 1) * self.chunk_rows * size_of::<T>();
        if self.watch.must_spill(Size { held, growth: 0 }) {
            self.spill();
        }
    }

    /// Writes all rows that are in memory as a run.
    fn spill(&mut self) {
        self.close_chunk();
        let chunks = mem::take(&mut self.chunks);
        let rows = chunks.iter().map(Vec::len).sum::<usize>() as u64;
        let own_bytes = chunks.iter().map(|rows| rows.capacity() * size_of::<T>()).sum::<usize>();
        let live = meter::live().saturating_sub_unsigned(own_bytes as u64);
        let sources = chunks.into_iter().map(|rows| Source::Memory(rows.into_iter()));
        self.write_run(sources.collect(), 0);
        // What rows own elsewhere is what is free now and was not in the chunks.
        let freed = live.saturating_sub(meter::live()).max(0).cast_unsigned();
        self.row_bytes = self.row_bytes.max(size_of::<T>() as u64 + freed.checked_div(rows).unwrap_or(0));
        self.watch.spilled();
        while let Some(level) = self.full_level() {
            self.merge_from(level);
        }
    }

    /// How many runs can be merged at once: one row of each is in memory.
    fn fan_in(&self) -> usize {
        let room = (self.task.room() / 2).max(HEADS_BYTES_MIN);
        ((room / self.row_bytes.max(1)) as usize).clamp(2, FAN_IN_MAX)
    }

    /// Where the runs of the last level begin, if there are as many as can be merged.
    fn full_level(&self) -> Option<usize> {
        let level = self.runs.last()?.level;
        let begin = self.runs.partition_point(|run| run.level > level);
        (self.runs.len() - begin >= self.fan_in()).then_some(begin)
    }

    /// Merges the runs from this one on, which are all behind each other, to one.
    fn merge_from(&mut self, begin: usize) {
        let runs = self.runs.split_off(begin);
        let level = runs.iter().map(|run| run.level + 1).max().unwrap_or(0);
        self.write_run(runs.into_iter().map(Source::from).collect(), level);
    }

    fn write_run(&mut self, sources: Vec<Source<'a, T>>, level: u32) {
        let mut run = RowFileWriter::new(self.task);
        for row in Merge::new(sources, self.compare, None) {
            run.push(&row);
        }
        let run = run.finish();
        self.task.count_spill(run.as_ref().map_or(0, RowFile::bytes));
        self.runs.extend(run.map(|file| Run { file, level }));
    }

    /// All rows, sorted.
    pub(crate) fn into_rows(mut self) -> Merge<'a, T, C> {
        self.close_chunk();
        if self.runs.len() > self.fan_in() {
            // There is more room for the next rows of runs when no other rows are in memory.
            self.spill();
        }
        while let Some(too_many) = self.runs.len().checked_sub(self.fan_in()).filter(|runs| *runs > 0) {
            // The last runs are the shortest ones. One takes the place of those that are merged.
            self.merge_from(self.runs.len() - self.fan_in().min(too_many + 1));
        }
        let Self { compare, chunks, runs, watch, .. } = self;
        // Chunks in the middle of a merge cannot go to disk any more.
        watch.pin();
        let memory = chunks.into_iter().map(|rows| Source::Memory(rows.into_iter()));
        Merge::new(runs.into_iter().map(Source::from).chain(memory).collect(), compare, Some(watch))
    }
}

enum Source<'a, T> {
    Memory(std::vec::IntoIter<T>),
    Disk(Box<dyn Iterator<Item = T> + 'a>),
}

impl<T: Data> From<Run<T>> for Source<'_, T> {
    fn from(run: Run<T>) -> Self {
        Self::Disk(Box::new(run.file.rows()))
    }
}

impl<T> Source<'_, T> {
    fn next(&mut self) -> Option<T> {
        match self {
            Self::Memory(rows) => rows.next(),
            Self::Disk(rows) => rows.next(),
        }
    }
}

/// Sorted rows of several sources in one order.
pub(crate) struct Merge<'a, T, C> {
    heads: BinaryHeap<Head<T, C>>,
    sources: Vec<Source<'a, T>>,
    /// Until the end the rows in memory are counted.
    _watch: Option<Watch<T>>,
}

/// The next row of a source.
struct Head<T, C> {
    row: T,
    source: usize,
    compare: C,
}

impl<'a, T, C: Fn(&T, &T) -> Ordering + Copy> Merge<'a, T, C> {
    fn new(mut sources: Vec<Source<'a, T>>, compare: C, watch: Option<Watch<T>>) -> Self {
        let heads = sources.iter_mut().enumerate();
        let heads = heads.filter_map(|(source, rows)| Some(Head { row: rows.next()?, source, compare }));
        Self { heads: heads.collect(), sources, _watch: watch }
    }
}

impl<T, C: Fn(&T, &T) -> Ordering> Iterator for Merge<'_, T, C> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let mut first = self.heads.peek_mut()?;
        match self.sources[first.source].next() {
            Some(row) => Some(mem::replace(&mut first.row, row)),
            None => Some(std::collections::binary_heap::PeekMut::pop(first).row),
        }
    }
}

/// The largest is the one to come next: the least row, and of equal ones that of the earliest source.
impl<T, C: Fn(&T, &T) -> Ordering> Ord for Head<T, C> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.compare)(&other.row, &self.row).then(other.source.cmp(&self.source))
    }
}

impl<T, C: Fn(&T, &T) -> Ordering> PartialOrd for Head<T, C> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T, C: Fn(&T, &T) -> Ordering> PartialEq for Head<T, C> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T, C: Fn(&T, &T) -> Ordering> Eq for Head<T, C> {}

#[cfg(test)]
mod tests;
