//! Rows that are numbers, and the job functions that measure them.

use std::sync::Arc;

use firesteel_scheduler::Partitions;

use super::fours;
use crate::{
    Error, Result,
    data::Data,
    driver::Collected,
    job::{JobFunction, Next, Steps, submission},
    rdd::Rdd,
    task::TaskContext,
};
use firesteel_stats::{Buckets, Histogram, StatCounter, ValueRange};

/// A number that rows can be, for [`NumericActions`](crate::NumericActions).
pub trait Number: Data + Copy {
    /// What many of them are added up in: 64 bits of the same kind.
    type Sum: Data + Copy + Default + std::ops::Add<Output = Self::Sum>;

    /// The number as a summand.
    fn widen(self) -> Self::Sum;

    /// The nearest `f64`.
    fn as_f64(self) -> f64;
}

macro_rules! numbers {
    ($($number:ty => $sum:ty),* $(,)?) => {$(
        #[allow(clippy::cast_lossless, reason = "one rule for all kinds of numbers")]
        impl Number for $number {
            type Sum = $sum;

            #[inline]
            fn widen(self) -> $sum {
                self as $sum
            }

            #[inline]
            fn as_f64(self) -> f64 {
                self as f64
            }
        }
    )*};
}

numbers!(i8 => i64, i16 => i64, i32 => i64, i64 => i64, isize => i64);
numbers!(u8 => u64, u16 => u64, u32 => u64, u64 => u64, usize => u64);
numbers!(f32 => f64, f64 => f64);

/// Adds the numbers of a partition up.
pub(super) struct Sum;
crate::ship!(impl[] Sum {});

impl<N: Number> JobFunction<N> for Sum {
    type Output = N::Sum;

    fn run(&self, rows: impl Iterator<Item = N>, _task: &TaskContext) -> N::Sum {
        fours::reduce(rows.map(N::widen), |one, two| one + two).unwrap_or_default()
    }
}

/// Measures the numbers of a partition.
pub(super) struct Stats;
crate::ship!(impl[] Stats {});

impl<N: Number> JobFunction<N> for Stats {
    type Output = StatCounter;

    fn run(&self, rows: impl Iterator<Item = N>, _task: &TaskContext) -> StatCounter {
        rows.map(N::as_f64).collect()
    }
}

/// What is known of all partitions together.
pub(super) fn merge(parts: Vec<StatCounter>) -> StatCounter {
    parts.into_iter().fold(StatCounter::new(), |mut all, part| {
        all.merge(&part);
        all
    })
}

/// Counts the numbers of a partition by bucket.
pub(super) struct CountByBucket {
    pub(super) buckets: Buckets,
}

crate::ship!(impl[] CountByBucket { ; values buckets });

impl<N: Number> JobFunction<N> for CountByBucket {
    type Output = Vec<u64>;

    fn run(&self, rows: impl Iterator<Item = N>, _task: &TaskContext) -> Vec<u64> {
        let mut histogram = Histogram::new(self.buckets.clone());
        histogram.extend(rows.map(N::as_f64));
        histogram.into_counts()
    }

    fn size_of(output: &Vec<u64>) -> u64 {
        size_of_val(output.as_slice()) as u64
    }
}

/// The counts of all partitions together.
pub(super) fn add_counts(buckets: usize, parts: Vec<Vec<u64>>) -> Vec<u64> {
    parts.into_iter().fold(vec![0; buckets], |mut all, part| {
        all.iter_mut().zip(part).for_each(|(all, part)| *all += part);
        all
    })
}

/// Finds the least and the greatest number of a partition.
struct FindRange;
crate::ship!(impl[] FindRange {});

impl<N: Number> JobFunction<N> for FindRange {
    type Output = ValueRange;

    fn run(&self, rows: impl Iterator<Item = N>, _task: &TaskContext) -> ValueRange {
        rows.map(N::as_f64).collect()
    }
}

/// The jobs of a histogram with even buckets: find the range, then count.
pub(super) struct EvenSteps<R> {
    rdd: R,
    count: usize,
    phase: Phase,
}

enum Phase {
    Begin,
    Range(Arc<Collected<ValueRange>>),
    Counts(Buckets, Arc<Collected<Vec<u64>>>),
}

impl<R: Rdd> EvenSteps<R> {
    pub(super) fn new(rdd: &R, count: usize) -> Self {
        Self { rdd: rdd.clone(), count, phase: Phase::Begin }
    }
}

impl<N: Number, R: Rdd<Item = N>> Steps<(Vec<f64>, Vec<u64>)> for EvenSteps<R> {
    fn next(&mut self) -> Result<Next<(Vec<f64>, Vec<u64>)>> {
        match std::mem::replace(&mut self.phase, Phase::Begin) {
            Phase::Begin => {
                let (job, range) = submission(&self.rdd, Partitions::All, FindRange);
                self.phase = Phase::Range(range);
                Ok(Next::Job(job))
            }
            Phase::Range(ranges) => {
                let range = ranges.take().into_iter().fold(ValueRange::EMPTY, |mut all, part| {
                    all.merge(&part);
                    all
                });
                let buckets = Buckets::even(range.min(), range.max(), self.count);
                let buckets = buckets.map_err(|error| Error::invalid(error.to_string()))?;
                let counting = CountByBucket { buckets: buckets.clone() };
                let (job, counts) = submission(&self.rdd, Partitions::All, counting);
                self.phase = Phase::Counts(buckets, counts);
                Ok(Next::Job(job))
            }
            Phase::Counts(buckets, counts) => Ok(Next::value(move || {
                Ok((buckets.edges().to_vec(), add_counts(buckets.len(), counts.take())))
            })),
        }
    }
}
