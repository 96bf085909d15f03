//! The rows of a partition that is kept, or was to be: [`KeptRows`].

use std::{
    io::{self, BufReader, Cursor, Read},
    sync::Arc,
    vec,
};

use bytes::Bytes;
use firesteel_storage::{
    block::{BlockData, BlockFile, BlockId, BlockRead, ReadLock},
    codec::{CodecError, RowsReader},
};

use super::{
    format::Format,
    store,
    unroll::{Collected, Part, PartBytes, PartRows, collect},
};
use crate::{
    data::Data,
    either::Either,
    task::{Pace, TaskContext},
};

/// What is read from a file at a time when frames are small.
const BUFFER_BYTES: usize = 64 << 10;

/// Rows that are handed out without a look whether there are more.
const BLOCK: usize = 8;

/// The rows of a partition: shared with the store, or read from its bytes and from what could not be kept.
pub(crate) type KeptRows<'a, T, I> = Either<SharedRows<'a, T>, Rest<'a, T, I>>;

/// The rows of a block of the store.
pub(super) fn stored<T: Data, I>(read: BlockRead, task: &TaskContext) -> KeptRows<'_, T, I> {
    let id = read.id();
    let (data, lock) = read.into_parts();
    let source = match data {
        BlockData::Typed(value) => {
            let rows = value.downcast().expect("the rows of an RDD have one type");
            return Either::One(SharedRows::new(rows, lock, task));
        }
        BlockData::Bytes(bytes) => Source::Bytes(Cursor::new(bytes)),
        BlockData::File(file) => Source::File(BufReader::with_capacity(BUFFER_BYTES, file)),
    };
    Either::Two(Rest { stored: Some(StoredRows::new(id, source, lock, task)), part: None, rest: None })
}

/// The rows of a block of the store; those of a file are in memory again from now on, if their level wants that and there
/// is room.
pub(super) fn stored_again<T: Data, I>(read: BlockRead, task: &TaskContext) -> KeptRows<'_, T, I> {
    let blocks = &task.environment().blocks;
    let Some(unroll) = blocks.manager().unroll_again(&read) else { return stored(read, task) };
    let id = read.id();
    let (BlockData::File(file), Some(lock)) = read.into_parts() else {
        unreachable!("only a block in a file of this process is unrolled again");
    };
    let source = Source::File(BufReader::with_capacity(BUFFER_BYTES, file));
    match collect(unroll, || StoredRows::new(id, source, None, task)) {
        Collected::All { content, reserved, .. } => {
            let rows = Arc::new(content);
            let save = Format::new(blocks.compression(), task).save::<T>();
            blocks.manager().cache_again(&lock, rows.clone(), save, reserved);
            Either::One(SharedRows::new(rows, Some(lock), task))
        }
        Collected::Part(part, rest) => {
            let rest = rest.map(|rest| StoredRows { lock: Some(lock), ..rest });
            Either::Two(Rest { part: Some(part.into_iter()), stored: rest, rest: None })
        }
    }
}

/// Copies of rows that stay where they are.
pub(crate) struct SharedRows<'a, T> {
    // Dropped before the lock: as long as another task has the rows, they must not be reported as gone.
    rows: Arc<Vec<T>>,
    _lock: Option<ReadLock>,
    at: usize,
    /// Until here without another look whether the task should end.
    until: usize,
    pace: Pace<'a>,
}

impl<'a, T> SharedRows<'a, T> {
    pub(super) fn new(rows: Arc<Vec<T>>, lock: Option<ReadLock>, task: &'a TaskContext) -> Self {
        Self { rows, _lock: lock, at: 0, until: 0, pace: Pace::new(task) }
    }
}

impl<T: Clone> Iterator for SharedRows<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.at == self.until {
            if self.at == self.rows.len() {
                return None;
            }
            self.until = self.rows.len().min(self.at + self.pace.next_rows());
        }
        let row = self.rows[self.at].clone();
        self.at += 1;
        Some(row)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.rows.len() - self.at;
        (left, Some(left))
    }

    #[inline]
    fn fold<C, F: FnMut(C, T) -> C>(mut self, init: C, mut f: F) -> C {
        let (mut folded, mut rows) = (init, &self.rows[self.at..]);
        let mut batch = self.until - self.at;
        while !rows.is_empty() {
            let (now, later) = rows.split_at(batch.min(rows.len()));
            let mut left = now;
            while !left.is_empty() {
                // The last ones come one by one, by the same call: a second one would keep the compiler from inlining it.
                let is_alone = left.len() < BLOCK;
                let (block, others) = left.split_at(if is_alone { 1 } else { BLOCK });
                left = others;
                #[expect(clippy::needless_range_loop, reason = "of known length, so that it is unrolled")]
                for place in 0..BLOCK {
                    folded = f(folded, block[place].clone());
                    if is_alone {
                        break;
                    }
                }
            }
            rows = later;
            batch = if rows.is_empty() { 0 } else { self.pace.next_rows() };
        }
        folded
    }
}

/// Rows that are read from their serialized form, a frame at a time.
pub(crate) struct StoredRows<'a, T> {
    id: BlockId,
    reader: RowsReader<T, Source>,
    batch: vec::IntoIter<T>,
    lock: Option<ReadLock>,
    task: &'a TaskContext,
}

/// Where serialized rows are.
enum Source {
    Bytes(Cursor<Bytes>),
    Part(Cursor<PartBytes>),
    File(BufReader<BlockFile>),
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Bytes(bytes) => bytes.read(buffer),
            Self::Part(bytes) => bytes.read(buffer),
            Self::File(file) => file.read(buffer),
        }
    }
}

impl<'a, T: Data> StoredRows<'a, T> {
    fn new(id: BlockId, source: Source, lock: Option<ReadLock>, task: &'a TaskContext) -> Self {
        Self { id, reader: RowsReader::new(source), batch: Vec::new().into_iter(), lock, task }
    }

    fn next_batch(&mut self) -> Option<Vec<T>> {
        self.task.check();
        let mut rows = Vec::new();
        match self.reader.next_batch(&mut rows) {
            Ok(true) => Some(rows),
            Ok(false) => None,
            Err(error) => self.fail(&error),
        }
    }

    /// Ends the task, and removes the block so that another attempt makes it again.
    #[cold]
    fn fail(&mut self, error: &CodecError) -> ! {
        self.lock = None;
        self.task.environment().blocks.remove(self.id);
        store::fail(self.id, &format!("{} cannot be read: {error}", self.id))
    }
}

impl<T: Data> Iterator for StoredRows<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        loop {
            if let Some(row) = self.batch.next() {
                return Some(row);
            }
            self.batch = self.next_batch()?.into_iter();
        }
    }

    #[inline]
    fn fold<C, F: FnMut(C, T) -> C>(mut self, init: C, mut f: F) -> C {
        let batch = std::mem::take(&mut self.batch);
        let mut folded = batch.fold(init, &mut f);
        while let Some(batch) = self.next_batch() {
            folded = batch.into_iter().fold(folded, &mut f);
        }
        folded
    }
}

/// Rows from up to three places: collected, serialized, and yet to come.
pub(crate) struct Rest<'a, T, I> {
    part: Option<PartRows<T>>,
    stored: Option<StoredRows<'a, T>>,
    rest: Option<I>,
}

impl<'a, T: Data, I> Rest<'a, T, I> {
    /// Nothing was kept.
    pub(super) fn all(rest: I) -> Self {
        Self { stored: None, part: None, rest: Some(rest) }
    }

    /// What was collected, and what was not.
    pub(super) fn after(part: Part<T>, rest: Option<I>) -> Self {
        Self { stored: None, part: Some(part.into_iter()), rest }
    }

    /// What was serialized, and what was not.
    pub(super) fn after_bytes(id: BlockId, part: PartBytes, rest: Option<I>, task: &'a TaskContext) -> Self {
        let stored = StoredRows::new(id, Source::Part(Cursor::new(part)), None, task);
        Self { stored: Some(stored), part: None, rest }
    }

    /// What was not serialized.
    pub(super) fn remaining(rest: Option<I>) -> Self {
        Self { stored: None, part: None, rest }
    }
}

impl<T: Data, I: Iterator<Item = T>> Iterator for Rest<'_, T, I> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if let Some(part) = &mut self.part {
            if let Some(row) = part.next() {
                return Some(row);
            }
            self.part = None;
        }
        if let Some(stored) = &mut self.stored {
            if let Some(row) = stored.next() {
                return Some(row);
            }
            self.stored = None;
        }
        self.rest.as_mut()?.next()
    }

    #[inline]
    fn fold<C, F: FnMut(C, T) -> C>(self, init: C, mut f: F) -> C {
        let mut folded = init;
        if let Some(part) = self.part {
            folded = part.fold(folded, &mut f);
        }
        if let Some(stored) = self.stored {
            folded = stored.fold(folded, &mut f);
        }
        match self.rest {
            Some(rest) => rest.fold(folded, f),
            None => folded,
        }
    }
}
