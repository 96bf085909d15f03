//! The actions of rows that are numbers.

use std::time::Duration;

use super::{
    Number, PartialResult,
    numbers::{CountByBucket, EvenSteps, Stats, Sum, add_counts, merge},
};
use crate::{
    Error, Result,
    job::{Call, JobHandle},
    rdd::Rdd,
};
use firesteel_stats::{BoundedDouble, Buckets, HistogramError, MeanEvaluator, StatCounter, SumEvaluator};

/// What measures rows that are numbers.
pub trait NumericActions<N: Number>: Rdd<Item = N> {
    /// The sum of all rows, in 64 bits; zero if there is none.
    ///
    /// A sum of whole numbers that does not fit overflows as it does with `+`: it panics where overflow checks are on.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0_i32..100_000).sum()?, 4_999_950_000_i64);
    /// assert_eq!(ctx.parallelize(vec![0.5_f64, 0.25]).sum()?, 0.75);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn sum(&self) -> Result<N::Sum> {
        self.sum_async().wait()
    }

    /// The sum of all rows, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0_i32..5).sum_async().wait()?, 10_i64);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn sum_async(&self) -> JobHandle<N::Sum> {
        let total = |parts: Vec<N::Sum>| parts.into_iter().fold(N::Sum::default(), |one, two| one + two);
        Call::new("sum").run(self, Sum, move |parts| Ok(total(parts)))
    }

    /// Count, mean, variance, least and greatest of all rows, in one pass.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let stats = ctx.range(1..5).stats()?;
    /// assert_eq!((stats.count(), stats.mean(), stats.variance()), (4, 2.5, 1.25));
    /// assert_eq!((stats.min(), stats.max()), (1.0, 4.0));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn stats(&self) -> Result<StatCounter> {
        self.stats_async().wait()
    }

    /// Count, mean, variance, least and greatest of all rows, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let stats = ctx.range(1..5).stats_async().wait()?;
    /// assert_eq!((stats.min(), stats.mean(), stats.max()), (1.0, 2.5, 4.0));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn stats_async(&self) -> JobHandle<StatCounter> {
        Call::new("stats").run(self, Stats, |parts| Ok(merge(parts)))
    }

    /// The mean of all rows; NaN if there is none.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..5).mean()?, 2.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn mean(&self) -> Result<f64> {
        self.mean_async().wait()
    }

    /// The mean of all rows, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..5).mean_async().wait()?, 2.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn mean_async(&self) -> JobHandle<f64> {
        Call::new("mean").run(self, Stats, |parts| Ok(merge(parts).mean()))
    }

    /// The variance of the rows as a whole population; NaN if there is none.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..5).variance()?, 2.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn variance(&self) -> Result<f64> {
        self.variance_async().wait()
    }

    /// The variance of the rows as a whole population, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..5).variance_async().wait()?, 2.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn variance_async(&self) -> JobHandle<f64> {
        Call::new("variance").run(self, Stats, |parts| Ok(merge(parts).variance()))
    }

    /// The standard deviation of the rows as a whole population; NaN if there is none.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![1.0, 5.0]).stdev()?, 2.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn stdev(&self) -> Result<f64> {
        self.stdev_async().wait()
    }

    /// The standard deviation of the rows as a whole population, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![1.0, 5.0]).stdev_async().wait()?, 2.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn stdev_async(&self) -> JobHandle<f64> {
        Call::new("stdev").run(self, Stats, |parts| Ok(merge(parts).stdev()))
    }

    /// The variance of the population that the rows are a sample of; NaN if there are fewer than two.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..5).sample_variance()?, 2.5);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn sample_variance(&self) -> Result<f64> {
        self.sample_variance_async().wait()
    }

    /// The variance of the population that the rows are a sample of, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..5).sample_variance_async().wait()?, 2.5);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn sample_variance_async(&self) -> JobHandle<f64> {
        Call::new("sample_variance").run(self, Stats, |parts| Ok(merge(parts).sample_variance()))
    }

    /// The standard deviation of the population that the rows are a sample of; NaN if there are fewer than two.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![1.0, 1.0, 4.0]).sample_stdev()?, 3_f64.sqrt());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn sample_stdev(&self) -> Result<f64> {
        self.sample_stdev_async().wait()
    }

    /// The standard deviation of the population that the rows are a sample of, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![1.0, 1.0, 4.0]).sample_stdev_async().wait()?, 3_f64.sqrt());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn sample_stdev_async(&self) -> JobHandle<f64> {
        Call::new("sample_stdev").run(self, Stats, |parts| Ok(merge(parts).sample_stdev()))
    }

    /// How many rows fall into each bucket between these edges.
    ///
    /// A bucket holds the rows from its lower edge up to and without its upper edge; the last one also its upper edge.
    /// Rows outside, and NaN, are ignored. An error if there are fewer than two edges, or if they are not in order.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..100).histogram(&[0.0, 10.0, 50.0])?, [10, 41]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn histogram(&self, edges: &[f64]) -> Result<Vec<u64>> {
        self.histogram_async(edges).wait()
    }

    /// How many rows fall into each bucket, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..100).histogram_async(&[0.0, 10.0, 50.0]).wait()?, [10, 41]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn histogram_async(&self, edges: &[f64]) -> JobHandle<Vec<u64>> {
        let call = Call::new("histogram");
        match Buckets::new(edges.to_vec()) {
            Ok(buckets) => {
                let count = buckets.len();
                call.run(self, CountByBucket { buckets }, move |parts| Ok(add_counts(count, parts)))
            }
            Err(error) => call.refuse(error),
        }
    }

    /// The edges of `count` even buckets between the least and the greatest row, and how many rows fall into each.
    ///
    /// One bucket if all rows are equal. Finds the range first, in a job of its own. An error if there is no row, if one
    /// is infinite or NaN, or if the count is 0.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..101).histogram_buckets(2)?, (vec![0.0, 50.0, 100.0], vec![50, 51]));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn histogram_buckets(&self, count: usize) -> Result<(Vec<f64>, Vec<u64>)> {
        self.histogram_buckets_async(count).wait()
    }

    /// Even buckets and how many rows fall into each, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let (edges, counts) = ctx.range(0..101).histogram_buckets_async(2).wait()?;
    /// assert_eq!((edges, counts), (vec![0.0, 50.0, 100.0], vec![50, 51]));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn histogram_buckets_async(&self, count: usize) -> JobHandle<(Vec<f64>, Vec<u64>)> {
        let call = Call::new("histogram_buckets");
        if count == 0 {
            return call.refuse(HistogramError::NoBuckets);
        }
        call.start(self, EvenSteps::new(self, count))
    }

    /// About the sum of all rows, when all partitions are done or the time is up. See
    /// [`count_approx`](crate::CountActions::count_approx).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::time::Duration;
    /// # let ctx = Context::local(2)?;
    /// let sum = ctx.range(0..100).sum_approx(Duration::from_secs(60), 0.95)?;
    /// assert_eq!(sum.final_value()?.mean, 4950.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn sum_approx(&self, limit: Duration, confidence: f64) -> Result<PartialResult<BoundedDouble>> {
        let evaluator = SumEvaluator::new(self.num_partitions(), confidence);
        let evaluator = evaluator.map_err(|error| Error::invalid(error.to_string()))?;
        Call::new("sum_approx").approximate(self, Stats, evaluator, limit)
    }

    /// About the mean of all rows, when all partitions are done or the time is up. See
    /// [`count_approx`](crate::CountActions::count_approx).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::time::Duration;
    /// # let ctx = Context::local(2)?;
    /// let mean = ctx.range(0..101).mean_approx(Duration::from_secs(60), 0.95)?;
    /// assert_eq!(mean.initial_value().mean, 50.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn mean_approx(&self, limit: Duration, confidence: f64) -> Result<PartialResult<BoundedDouble>> {
        let evaluator = MeanEvaluator::new(self.num_partitions(), confidence);
        let evaluator = evaluator.map_err(|error| Error::invalid(error.to_string()))?;
        Call::new("mean_approx").approximate(self, Stats, evaluator, limit)
    }
}

impl<N: Number, R: Rdd<Item = N>> NumericActions<N> for R {}
