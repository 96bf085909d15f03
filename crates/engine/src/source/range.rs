//! Rows that are consecutive numbers.

use std::ops;

use firesteel_types::PartitionId;

use crate::{
    Context,
    data::Data,
    rdd::{NO_PARTITIONS, Rdd, RddHandle},
    task::{Pace, TaskContext},
};

/// An [`Rdd`] of consecutive numbers. Made by [`Context::range`]; split lazily, nothing is stored.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Range<N> {
    handle: RddHandle,
    start: N,
    len: u64,
}

crate::rdd::debug_as_handle!(impl[N] Range<N>);

crate::ship!(impl[N: Data] Range<N> { handle; values start, len });

/// A number that a [`Range`] can count with.
pub trait RangeNumber: Data + Copy {
    /// How many numbers there are from `start` up to and without `end`.
    fn distance(start: Self, end: Self) -> u64;
    /// The number `steps` after this one.
    #[must_use]
    fn forward(self, steps: u64) -> Self;
}

macro_rules! range_numbers {
    ($($number:ty),*) => {$(
        #[allow(clippy::cast_lossless, clippy::cast_possible_wrap, reason = "one body for numbers of every width")]
        impl RangeNumber for $number {
            fn distance(start: Self, end: Self) -> u64 {
                // Wide enough for the distance between any two numbers of 64 bits.
                u64::try_from(end as i128 - start as i128).unwrap_or(0)
            }

            #[inline]
            fn forward(self, steps: u64) -> Self {
                self.wrapping_add(steps as Self)
            }
        }
    )*};
}

range_numbers!(u32, u64, usize, i32, i64);

impl Context {
    /// The numbers of a range.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(-2..3).collect()?, [-2, -1, 0, 1, 2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn range<N: RangeNumber>(&self, range: ops::Range<N>) -> Range<N> {
        self.range_into(range, self.default_parallelism())
    }

    /// The numbers of a range in `partitions` partitions, split as by [`Context::parallelize_into`].
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range_into(0..5, 2).glom().collect()?, [vec![0, 1], vec![2, 3, 4]]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn range_into<N: RangeNumber>(&self, range: ops::Range<N>, partitions: u32) -> Range<N> {
        let handle = RddHandle::builder(self.driver(), "range", partitions);
        let handle = if partitions == 0 { handle.invalid(NO_PARTITIONS) } else { handle };
        Range { handle: handle.build(), start: range.start, len: N::distance(range.start, range.end) }
    }
}

impl<N: RangeNumber> Rdd for Range<N> {
    type Item = N;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> impl Iterator<Item = N> + 'a {
        let partitions = u128::from(self.handle.partitions());
        let bound = |index: u32| (u128::from(index) * u128::from(self.len) / partitions) as u64;
        let (from, to) = (bound(partition.0), bound(partition.0 + 1));
        task.count_input(to - from, 0);
        Numbers { start: self.start, next: from, batch_end: from, end: to, pace: Pace::new(task) }
    }
}

/// Numbers that are counted and not read.
const NUMBERS_PER_STEP: u64 = 4;

/// How far the first of every few numbers is from the first of all.
static STEPS: [u64; 64] = {
    let mut steps = [0; 64];
    let mut step = 1;
    while step < steps.len() {
        steps[step] = step as u64 * NUMBERS_PER_STEP;
        step += 1;
    }
    steps
};

/// The numbers of one partition, by their distance from the start of the range.
struct Numbers<'a, N> {
    start: N,
    next: u64,
    /// Where the next check of the task is due.
    batch_end: u64,
    end: u64,
    pace: Pace<'a>,
}

impl<N> Numbers<'_, N> {
    /// Begins a batch; false when all numbers were given.
    #[inline]
    fn begin_batch(&mut self) -> bool {
        if self.next == self.end {
            return false;
        }
        self.batch_end = self.end.min(self.next + self.pace.next_rows() as u64);
        true
    }
}

impl<N: RangeNumber> Iterator for Numbers<'_, N> {
    type Item = N;

    #[inline]
    fn next(&mut self) -> Option<N> {
        if self.next == self.batch_end && !self.begin_batch() {
            return None;
        }
        let number = self.start.forward(self.next);
        self.next += 1;
        Some(number)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.end - self.next);
        (left.unwrap_or(usize::MAX), left.ok())
    }

    /// Most steps are read from memory and not counted: the compiler folds a counter into the arithmetic of the functions
    /// that follow, and so turns a cheap test like `x % 7 == 0` into a division. A few are counted, since then those
    /// functions begin with what they have in common.
    #[inline]
    fn fold<B, F: FnMut(B, N) -> B>(mut self, init: B, mut f: F) -> B {
        let mut folded = init;
        while self.next < self.batch_end || self.begin_batch() {
            let first = self.start.forward(self.next);
            // The last ones come one by one, by the same call: a second one would keep the compiler from inlining it.
            let left = self.batch_end - self.next;
            let (is_alone, blocks) = if left < NUMBERS_PER_STEP {
                (true, 1)
            } else {
                (false, STEPS.len().min((left / NUMBERS_PER_STEP) as usize))
            };
            for step in &STEPS[..blocks] {
                let first = first.forward(*step);
                for number in 0..NUMBERS_PER_STEP {
                    folded = f(folded, first.forward(number));
                    if is_alone {
                        break;
                    }
                }
            }
            self.next += if is_alone { 1 } else { blocks as u64 * NUMBERS_PER_STEP };
        }
        folded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    /// Enough of them for more than one batch.
    const MOST: u64 = 200;

    /// Asks for some of the numbers one by one, and for the others all at once.
    fn is_whole(len: u64, alone: usize) -> bool {
        let task = TaskContext::current().expect("it is asked in a task");
        let (start, pace) = (-7_i32, Pace::new(&task));
        let mut numbers = Numbers { start, next: 0, batch_end: 0, end: len, pace };
        let mut seen: Vec<i32> = numbers.by_ref().take(alone).collect();
        numbers.for_each(|number| seen.push(number));
        seen.into_iter().eq(start..start + len as i32)
    }

    #[test]
    fn no_number_is_left_out_wherever_one_by_one_ends() {
        let ctx = Context::local(2).unwrap();

        let broken = ctx.range(0..MOST).filter(|len| !(0..=*len as usize).all(|alone| is_whole(*len, alone)));

        assert_eq!(broken.collect().unwrap(), [0_u64; 0]);
    }
}
