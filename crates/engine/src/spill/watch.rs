//! Looking now and then whether a structure has to spill: [`Watch`].

use std::{borrow::Cow, marker::PhantomData, ops::ControlFlow};

use firesteel_storage::memory::{Consumer, Reserve, is_counting, meter};

use crate::task::{TaskContext, abort_out_of_memory};
use firesteel_storage::memory::BatchLimit;

/// The most rows between two checks of the task's memory.
const CHECK_ROWS_MAX: usize = 64;

/// A structure of the running task that holds rows of type `T` and can spill, and when to look next whether it must.
///
/// Looks every 64 rows, or when those that have come since the last look are large: after each row that reaches the
/// [`BatchLimit`] alone.
pub(crate) struct Watch<T> {
    consumer: Consumer,
    until_look: u32,
    limit: BatchLimit,
    /// What the task held before the structure was made.
    before: i64,
    rows: PhantomData<fn() -> T>,
}

/// What a structure holds and will need next, as far as it knows itself.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    /// Its own memory, without what rows own elsewhere.
    pub(crate) held: usize,
    /// What its next growth needs at once, if that is near.
    pub(crate) growth: usize,
}

impl Size {
    /// The same, of a structure that is spilled by way of a copy.
    pub(crate) fn and_copied(self) -> Self {
        Self { growth: self.growth + self.held, ..self }
    }
}

impl<T> Watch<T> {
    /// Watches a structure that is empty now.
    pub(crate) fn new(name: impl Into<Cow<'static, str>>, task: &TaskContext) -> Self {
        let (consumer, before) = (task.consumer(name), meter::live());
        let (until_look, limit) = (rows_until_look::<T>(), BatchLimit::start());
        Self { consumer, until_look, limit, before, rows: PhantomData }
    }

    /// Puts the next look off.
    fn has_looked(&mut self) {
        (self.until_look, self.limit) = (rows_until_look::<T>(), BatchLimit::start());
    }

    /// Counts a row; returns whether it is time to check memory.
    #[inline]
    pub(crate) fn tick(&mut self) -> bool {
        self.ticks(1)
    }

    /// Counts several rows; returns whether it is time to check memory.
    #[inline]
    pub(crate) fn ticks(&mut self, rows: u32) -> bool {
        self.until_look = self.until_look.saturating_sub(rows);
        self.until_look == 0 || self.limit.is_reached::<T>()
    }

    /// Whether the structure has to spill. Ends the task if it is beyond its share and nothing can be spilled.
    #[cold]
    pub(crate) fn must_spill(&mut self, size: Size) -> bool {
        self.has_looked();
        #[cfg(test)]
        if crate::task::strikes() {
            return true;
        }
        let held = if is_counting() { self.measured_bytes() } else { size.held as u64 };
        self.consumer.set_held(held);
        // The growth is counted as if it had happened, so that it does not come as a surprise.
        meter::adopt(size.growth as u64);
        let is_short = self.consumer.is_asked_to_spill() || self.consumer.is_short();
        let verdict = if is_short { self.consumer.reserve() } else { Ok(Reserve::Granted) };
        meter::hand_over(size.growth as u64);
        match verdict {
            Ok(Reserve::Granted) => false,
            Ok(Reserve::Spill) => true,
            Err(out_of_share) => abort_out_of_memory(&out_of_share),
        }
    }

    /// Moves rows to `into`, the watched structure, until it has to spill (`Break`) or they end (`Continue`). Later it will
    /// need `bytes_per_row` more for each row.
    #[inline]
    pub(crate) fn fill(
        &mut self,
        into: &mut Vec<T>,
        rows: &mut impl Iterator<Item = T>,
        bytes_per_row: usize,
    ) -> ControlFlow<()> {
        rows.try_for_each(|row| {
            into.push(row);
            let is_full = into.len() == into.capacity();
            if !self.tick() && !is_full {
                return ControlFlow::Continue(());
            }
            let held = into.capacity() * size_of::<T>();
            let doubling = if is_full { 2 * held } else { 0 };
            let size = Size { held, growth: into.len() * bytes_per_row + doubling };
            if self.must_spill(size) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    }

    /// What the task holds more than before the structure was made; 0 where allocations are not counted.
    pub(crate) fn measured_bytes(&self) -> u64 {
        (meter::live() - self.before).max(0).cast_unsigned()
    }

    /// The structure was spilled and holds nothing any more.
    pub(crate) fn spilled(&mut self) {
        self.consumer.spilled(0);
        self.has_looked();
    }

    /// Whether another structure of the task needs the memory of this one.
    #[inline]
    pub(crate) fn is_asked_to_spill(&self) -> bool {
        #[cfg(test)]
        if crate::task::strikes() {
            return true;
        }
        self.consumer.is_asked_to_spill()
    }

    /// The structure can no longer spill.
    pub(crate) fn pin(&self) {
        self.consumer.pin();
    }
}

/// Rows until the next look, if they own little. Tests make them random.
fn rows_until_look<T>() -> u32 {
    let rows = const { BatchLimit::rows::<T>(CHECK_ROWS_MAX) as u32 };
    #[cfg(test)]
    return crate::task::rows_until_look(rows);
    #[cfg(not(test))]
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    /// After how many rows the first look is due.
    fn rows_until_first_look<T>(task: &TaskContext, make: impl Fn() -> T) -> usize {
        let mut rows = Vec::with_capacity(100);
        let mut watch = Watch::<T>::new("test", task);
        loop {
            rows.push(make());
            if watch.tick() {
                return rows.len();
            }
        }
    }

    #[test]
    fn large_rows_are_looked_at_sooner() {
        let ctx = Context::local(1).unwrap();
        let looks = ctx.range_into(0..1, 1).map(|_| {
            let task = TaskContext::current().expect("it runs in a task");
            let owned = |bytes: usize| rows_until_first_look(&task, || vec![0_u8; bytes]);
            let plain = rows_until_first_look(&task, || [0_u8; 4 << 10]);
            (
                is_counting(),
                [owned(1), owned(8 << 10), owned(1 << 20)],
                [plain, rows_until_first_look(&task, || 0_u64)],
            )
        });

        let (is_counting, owned, plain) = looks.collect().unwrap()[0];
        assert_eq!(owned, if is_counting { [64, 9, 1] } else { [64; 3] });
        assert_eq!(plain, [16, 64]);
    }

    #[test]
    fn a_large_row_among_small_ones_is_looked_at_at_once() {
        let ctx = Context::local(1).unwrap();
        let looked = ctx.range_into(0..1, 1).map(|_| {
            let task = TaskContext::current().expect("it runs in a task");
            let mut watch = Watch::<Vec<u8>>::new("test", &task);
            let rows: Vec<Vec<u8>> = (0..10).map(|_| vec![0]).collect();
            let small = rows.iter().filter(|_| watch.tick()).count();
            let large = vec![0_u8; 1 << 20];
            (small, watch.tick(), large.len(), is_counting())
        });

        let (small, large, _, is_counting) = looked.collect().unwrap()[0];
        assert_eq!((small, large), (0, is_counting));
    }
}
