//! Sorting more rows than fit in memory: [`SpillSort`].

use std::{cmp::Ordering, collections::BinaryHeap, mem};

use super::{RowFile, RowFileWriter, Watch, watch::Size};
use crate::{data::Data, executor::TaskContext};

/// Bytes of rows that are sorted at once. Small enough that the scratch space of a sort does not matter.
const CHUNK_BYTES: usize = 1 << 20;
/// More runs than this are merged to one before others come.
const RUNS_MAX: usize = 64;

/// Rows in any order in, sorted rows out; rows that compare equal stay in the order in which they came.
pub(crate) struct SpillSort<'a, T, C> {
    compare: C,
    /// Being filled.
    chunk: Vec<T>,
    chunk_rows: usize,
    /// Sorted, in memory.
    chunks: Vec<Vec<T>>,
    /// Sorted, on disk; all before any chunk.
    runs: Vec<RowFile<T>>,
    watch: Watch,
    task: &'a TaskContext,
}

impl<'a, T: Data, C: Fn(&T, &T) -> Ordering + Copy> SpillSort<'a, T, C> {
    pub(crate) fn new(compare: C, name: &'static str, task: &'a TaskContext) -> Self {
        let bytes = CHUNK_BYTES.min(task.room() as usize / 32);
        let chunk_rows = (bytes / size_of::<T>().max(1)).max(16);
        let watch = Watch::new(name, task);
        Self { compare, chunk: Vec::new(), chunk_rows, chunks: Vec::new(), runs: Vec::new(), watch, task }
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

    fn spill(&mut self) {
        self.close_chunk();
        let chunks = mem::take(&mut self.chunks);
        let sources = chunks.into_iter().map(|rows| Source::Memory(rows.into_iter()));
        self.write_run(sources.collect());
        self.watch.spilled();
        if self.runs.len() >= RUNS_MAX {
            let runs = mem::take(&mut self.runs);
            self.write_run(runs.into_iter().map(|run| Source::Disk(Box::new(run.rows()))).collect());
        }
    }

    fn write_run(&mut self, sources: Vec<Source<'a, T>>) {
        let mut run = RowFileWriter::new(self.task);
        for row in Merge::new(sources, self.compare, None) {
            run.push(&row);
        }
        let run = run.finish();
        self.task.count_spill(run.as_ref().map_or(0, RowFile::bytes));
        self.runs.extend(run);
    }

    /// All rows, sorted.
    pub(crate) fn into_rows(mut self) -> Merge<'a, T, C> {
        self.close_chunk();
        let Self { compare, chunks, runs, watch, .. } = self;
        // Chunks in the middle of a merge cannot go to disk any more.
        watch.pin();
        let disk = runs.into_iter().map(|run| Source::Disk(Box::new(run.rows())));
        let memory = chunks.into_iter().map(|rows| Source::Memory(rows.into_iter()));
        Merge::new(disk.chain(memory).collect(), compare, Some(watch))
    }
}

enum Source<'a, T> {
    Memory(std::vec::IntoIter<T>),
    Disk(Box<dyn Iterator<Item = T> + 'a>),
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
    _watch: Option<Watch>,
}

/// The next row of a source.
struct Head<T, C> {
    row: T,
    source: usize,
    compare: C,
}

impl<'a, T, C: Fn(&T, &T) -> Ordering + Copy> Merge<'a, T, C> {
    fn new(mut sources: Vec<Source<'a, T>>, compare: C, watch: Option<Watch>) -> Self {
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
