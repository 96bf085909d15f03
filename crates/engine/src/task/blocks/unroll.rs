//! Collecting the rows of a partition while they fit in memory: [`collect`], [`collect_bytes`].
//!
//! What is collected is storage memory from the start: as it grows, it is charged there and no longer counted as held by
//! the task, whose own share is for its work.

use std::{ops::ControlFlow, vec};

use firesteel_storage::{
    block::{Reservation, Unroll},
    codec::{CodecError, Compression, FrameSink, FrameWriter, Layout, RowsWriter},
    memory::{is_counting, meter},
};

use super::format::Format;
use crate::data::Data;
use firesteel_storage::memory::BatchLimit;

/// All rows of a partition, or those that fit and what gives the others.
pub(super) enum Collected<C, P, I> {
    /// Everything, its size, and the memory for it.
    All { content: C, bytes: u64, reserved: Reservation },
    /// What does not fit as a whole; without more if all of it is there.
    Part(P, Option<I>),
}

/// The memory of rows that are being collected. Dropped, the rows, or what is left of them, are the task's again.
pub(super) struct Ledger {
    /// Gone when the memory has become that of a block.
    unroll: Option<Unroll>,
    /// What no longer counts as held by the task.
    handed: u64,
}

impl Ledger {
    fn new(unroll: Unroll) -> Self {
        Self { unroll: Some(unroll), handed: 0 }
    }

    /// Whether there is memory for `bytes` in all.
    fn fits(&mut self, bytes: u64) -> bool {
        #[cfg(test)]
        if crate::task::strikes() {
            return false;
        }
        let fits = self.unroll.as_mut().is_some_and(|unroll| unroll.check(bytes));
        if fits {
            self.hand_over(bytes);
        }
        fits
    }

    /// Makes it `bytes` in all that the task does not count.
    fn hand_over(&mut self, bytes: u64) {
        match bytes.checked_sub(self.handed) {
            Some(0) => (),
            Some(more) => meter::hand_over(more),
            None => meter::adopt(self.handed - bytes),
        }
        self.handed = bytes;
    }

    /// The memory for a block of exactly `bytes`, which counts as the task's until it is stored.
    fn finish(mut self, bytes: u64) -> Result<Reservation, Self> {
        #[cfg(test)]
        if crate::task::strikes() {
            return Err(self);
        }
        match self.unroll.take().map(|unroll| unroll.finish(bytes)) {
            Some(Ok(reserved)) => Ok(reserved),
            Some(Err(unroll)) => {
                self.unroll = Some(unroll);
                Err(self)
            }
            None => Err(self),
        }
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        meter::adopt(self.handed);
    }
}

/// Rows that were collected until they did not fit any more.
pub(super) struct Part<T> {
    rows: Vec<T>,
    ledger: Ledger,
}

/// When to look next whether rows that are being collected fit.
struct Looks {
    /// What the task held beside the rows.
    beside: i64,
    limit: BatchLimit,
}

impl Looks {
    fn start() -> Self {
        Self { beside: meter::live(), limit: BatchLimit::start() }
    }

    /// Whether it is time to look, with `rows` rows: after some, or when those that have come since are large.
    #[inline]
    fn is_due<T>(&self, rows: usize) -> bool {
        let stride = const { BatchLimit::rows::<T>(Unroll::ROWS_PER_CHECK as usize) };
        rows.is_multiple_of(stride) || self.limit.is_reached::<T>()
    }
}

/// The rows of a [`Part`]. Their memory is given back after the last.
pub(super) struct PartRows<T> {
    rows: vec::IntoIter<T>,
    _ledger: Ledger,
}

impl<T> IntoIterator for Part<T> {
    type Item = T;
    type IntoIter = PartRows<T>;

    fn into_iter(self) -> PartRows<T> {
        PartRows { rows: self.rows.into_iter(), _ledger: self.ledger }
    }
}

impl<T> Iterator for PartRows<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.rows.next()
    }

    #[inline]
    fn fold<C, F: FnMut(C, T) -> C>(self, init: C, f: F) -> C {
        self.rows.fold(init, f)
    }
}

impl<T> Part<T> {
    /// What the vector itself takes.
    fn own_bytes(&self) -> u64 {
        (self.rows.capacity() * size_of::<T>()) as u64
    }

    /// Adds a row; looks now and then whether all of them still fit.
    #[inline]
    fn push(&mut self, row: T, looks: &mut Looks) -> ControlFlow<()> {
        self.rows.push(row);
        if !looks.is_due::<T>(self.rows.len()) {
            return ControlFlow::Continue(());
        }
        // What was measured of rows that were there before they came to us, in a table that gives them out, is too
        // little. The end counts all.
        let measured = if is_counting() { self.measured(looks.beside) } else { self.own_bytes() };
        let fits = self.ledger.fits(measured);
        looks.limit = BatchLimit::start();
        if fits { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// What the task holds, handed over or not, beyond `live`.
    fn measured(&self, live: i64) -> u64 {
        let beyond = meter::live().saturating_sub(live);
        self.ledger.handed.saturating_add_signed(beyond)
    }
}

/// Collects what `compute` gives, as long as it fits.
pub(super) fn collect<T: Data, I: Iterator<Item = T>>(
    unroll: Unroll,
    compute: impl FnOnce() -> I,
) -> Collected<Vec<T>, Part<T>, I> {
    let before = meter::live();
    let mut part = Part { rows: Vec::new(), ledger: Ledger::new(unroll) };
    let mut rows = compute();
    // Much may be built before the first row comes, and be gone after the last. It is the task's.
    let flow = rows.next().map_or(ControlFlow::Continue(()), |first| {
        let mut looks = Looks::start();
        part.rows.push(first);
        rows.try_for_each(|row| part.push(row, &mut looks))
    });
    if flow.is_break() {
        return Collected::Part(part, Some(rows));
    }
    // Measured without what the rows were made from.
    drop(rows);
    if part.rows.capacity() - part.rows.len() > part.rows.len() / 8 {
        part.rows.shrink_to_fit();
    }
    let bytes = if is_counting() { part.measured(before) } else { 0 }.max(part.own_bytes());
    let Part { rows, ledger } = part;
    match ledger.finish(bytes) {
        Ok(reserved) => Collected::All { content: rows, bytes, reserved },
        Err(ledger) => Collected::Part(Part { rows, ledger }, None),
    }
}

/// Serialized rows that were collected until they did not fit any more.
pub(super) struct PartBytes {
    bytes: Vec<u8>,
    _ledger: Ledger,
}

impl AsRef<[u8]> for PartBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Frames in memory, as long as they fit there.
struct BytesSink {
    frames: FrameWriter<Vec<u8>>,
    ledger: Ledger,
}

/// Why no more rows are serialized into memory.
enum Stop {
    /// Memory is short. What was written is whole.
    Full,
    /// A row cannot be serialized.
    Failed(CodecError),
}

impl From<CodecError> for Stop {
    fn from(error: CodecError) -> Self {
        Self::Failed(error)
    }
}

impl FrameSink for BytesSink {
    type Error = Stop;

    fn compression(&self) -> Compression {
        self.frames.compression()
    }

    fn write_frame(&mut self, rows: u32, layout: Layout, raw: &[u8]) -> Result<(), Stop> {
        self.frames.write_frame(rows, layout, raw)?;
        let fits = self.ledger.fits(self.frames.get_ref().capacity() as u64);
        if fits { Ok(()) } else { Err(Stop::Full) }
    }
}

/// Serializes what `compute` gives, as long as the bytes fit.
pub(super) fn collect_bytes<T: Data, I: Iterator<Item = T>>(
    unroll: Unroll,
    format: Format,
    compute: impl FnOnce() -> I,
) -> Result<Collected<Vec<u8>, PartBytes, I>, CodecError> {
    let mut rows = compute();
    let mut sink = BytesSink { frames: format.frames(Vec::new())?, ledger: Ledger::new(unroll) };
    let mut writer = RowsWriter::with_frame_bytes(&mut sink, format.frame_bytes());
    let mut is_ended = false;
    let written = rows.try_for_each(|row| writer.push(&row)).and_then(|()| {
        is_ended = true;
        writer.finish().map(drop)
    });
    // Rows that have ended may begin anew: they are not asked again, even if their last frame did not fit.
    let rest = (!is_ended).then_some(rows);
    let BytesSink { frames, ledger } = sink;
    let mut bytes = frames.into_inner();
    match written {
        Ok(()) => {
            bytes.shrink_to_fit();
            let len = bytes.len() as u64;
            Ok(match ledger.finish(len) {
                Ok(reserved) => Collected::All { content: bytes, bytes: len, reserved },
                Err(ledger) => Collected::Part(PartBytes { bytes, _ledger: ledger }, None),
            })
        }
        Err(Stop::Full) => Ok(Collected::Part(PartBytes { bytes, _ledger: ledger }, rest)),
        Err(Stop::Failed(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        iter,
        sync::{
            Arc,
            atomic::{AtomicU64, Ordering::Relaxed},
        },
    };

    use firesteel_storage::block::StorageMemory;
    use firesteel_types::RddId;

    use super::*;
    use crate::{prelude::*, task::TaskContext};

    /// What is left of the memory.
    struct Left(AtomicU64);

    impl StorageMemory for Left {
        fn acquire(&self, bytes: u64, _: Option<RddId>) -> bool {
            self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).is_ok()
        }

        fn release(&self, bytes: u64) {
            self.0.fetch_add(bytes, Relaxed);
        }
    }

    /// An unroll that has `bytes` from the start and gets no more.
    fn unroll(bytes: u64) -> Unroll {
        let memory: Arc<dyn StorageMemory> = Arc::new(Left(AtomicU64::new(bytes)));
        Unroll::start_with(&memory, bytes, None).unwrap()
    }

    /// `rows` numbers and an end, and that again and again.
    fn begins_anew(rows: u64) -> impl Iterator<Item = u64> {
        let mut asked = 0;
        iter::from_fn(move || {
            asked += 1;
            (asked % (rows + 1) != 0).then_some(asked)
        })
    }

    /// How many rows of a source that begins anew are kept as bytes and left to come, of a partition of `rows`.
    fn left_to_come(rows: u64, memory: u64) -> Option<u64> {
        let task = TaskContext::current().expect("it runs in a task");
        let format = Format::new(Compression::None, &task);
        match collect_bytes(unroll(memory), format, || begins_anew(rows)) {
            Ok(Collected::All { .. }) => None,
            Ok(Collected::Part(_, rest)) => Some(rest.map_or(0, |rest| rest.count() as u64)),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn rows_that_do_not_fit_when_the_last_frame_is_written_are_not_read_again() {
        let ctx = Context::local(2).unwrap();
        let left = ctx.range_into(0..3_u64, 1).map(|case| match case {
            0 => left_to_come(100, 1 << 20),
            1 => left_to_come(100, 1),
            _ => left_to_come(1_000_000, 1).map(|left| left.min(1)),
        });

        assert_eq!(left.collect().unwrap(), [None, Some(0), Some(1)]);
    }

    #[test]
    fn values_that_do_not_fit_in_the_end_are_not_read_again() {
        for (rows, memory, expected) in
            [(15, 1 << 20, None), (15, 1, Some(0)), (16, 1, Some(0)), (17, 1, Some(1))]
        {
            let left = match collect(unroll(memory), || begins_anew(rows)) {
                Collected::All { .. } => None,
                Collected::Part(_, rest) => Some(rest.map_or(0, Iterator::count)),
            };
            assert_eq!(left, expected, "{rows} rows in {memory} bytes");
        }
    }
}
