//! Rows that are consecutive numbers.

use std::{iter, ops};

use firesteel_types::PartitionId;

use super::NO_PARTITIONS;
use crate::{
    Context,
    data::Data,
    executor::{Pace, TaskContext},
    rdd::{Rdd, RddHandle},
};

/// An [`Rdd`] of consecutive numbers. Made by [`Context::range`]; split lazily, nothing is stored.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Range<N> {
    handle: RddHandle,
    start: N,
    len: u64,
}

crate::ship!(impl[N: Data] Range<N> { handle; values start, len });

/// A number that a [`Range`] can count with.
pub trait RangeNumber: Data + Copy {
    /// How many numbers there are from `start` up to and without `end`.
    fn distance(start: Self, end: Self) -> u64;
    /// The number `steps` after this one.
    #[must_use]
    fn forward(self, steps: u64) -> Self;
    /// The numbers from this one up to and without `end`.
    fn up_to(self, end: Self) -> impl Iterator<Item = Self>;
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

            #[inline]
            fn up_to(self, end: Self) -> impl Iterator<Item = Self> {
                self..end
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
        let mut pace = Pace::new(task);
        let mut next = from;
        let batches = iter::from_fn(move || {
            let first = next;
            if first == to {
                return None;
            }
            next = to.min(first + pace.next_rows() as u64);
            Some((first, next))
        });
        batches.flat_map(|(first, next)| self.start.forward(first).up_to(self.start.forward(next)))
    }
}
