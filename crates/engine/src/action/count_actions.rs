//! The actions that count rows by their value, or count them roughly.

use std::{collections::HashMap, hash::Hash, time::Duration};

use super::{
    PartialResult,
    collect::{Collect, Count},
};
use crate::{
    Error, Result,
    job::{Call, JobFunction, JobHandle},
    narrow::Transform,
    pair::PairRdd,
    rdd::Rdd,
    task::TaskContext,
};
use firesteel_stats::{BoundedDouble, CountEvaluator, GroupedCountEvaluator, HyperLogLogPlusPlus};

/// What counts rows by their value, or roughly and sooner.
pub trait CountActions: Rdd {
    /// How often each different row occurs.
    ///
    /// Counts are added up in a shuffle; the different rows must fit into the driver's memory.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let counts = ctx.range(0..10).map(|x| x % 3).count_by_value()?;
    /// assert_eq!((counts.len(), counts[&0], counts[&1]), (3, 4, 3));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn count_by_value(&self) -> Result<HashMap<Self::Item, u64>>
    where
        Self::Item: Hash + Eq,
    {
        self.count_by_value_async().wait()
    }

    /// How often each different row occurs, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let counts = ctx.parallelize(vec!['a', 'b', 'a']).count_by_value_async();
    /// assert_eq!(counts.wait()?[&'a'], 2);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn count_by_value_async(&self) -> JobHandle<HashMap<Self::Item, u64>>
    where
        Self::Item: Hash + Eq,
    {
        let counts = self.map(|row| (row, 1_u64)).reduce_by_key(|one, two| one + two);
        Call::new("count_by_value").run(&counts, Collect, |parts| Ok(parts.into_iter().flatten().collect()))
    }

    /// About how many rows there are, when all partitions are counted or the time is up, whichever is first.
    ///
    /// The truth lies within the bounds with the probability `confidence`, if the partitions are alike. The job goes on
    /// after its time: the [`PartialResult`] can wait for the final value or cancel it.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::time::Duration;
    /// # let ctx = Context::local(2)?;
    /// let count = ctx.range(0..1000).count_approx(Duration::from_secs(60), 0.95)?;
    /// assert_eq!(count.initial_value().mean, 1000.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn count_approx(&self, limit: Duration, confidence: f64) -> Result<PartialResult<BoundedDouble>> {
        let evaluator = CountEvaluator::new(self.num_partitions(), confidence);
        let evaluator = evaluator.map_err(|error| Error::invalid(error.to_string()))?;
        Call::new("count_approx").approximate(self, Count, evaluator, limit)
    }

    /// About how often each different row occurs, when all partitions are counted or the time is up. See
    /// [`count_approx`](CountActions::count_approx).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::time::Duration;
    /// # let ctx = Context::local(2)?;
    /// let counts = ctx.range(0..10).map(|x| x % 3).count_by_value_approx(Duration::from_secs(60), 0.95)?;
    /// assert_eq!(counts.initial_value()[&0].mean, 4.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn count_by_value_approx(
        &self,
        limit: Duration,
        confidence: f64,
    ) -> Result<PartialResult<HashMap<Self::Item, BoundedDouble>>>
    where
        Self::Item: Hash + Eq,
    {
        let evaluator = GroupedCountEvaluator::new(self.num_partitions(), confidence);
        let evaluator = evaluator.map_err(|error| Error::invalid(error.to_string()))?;
        Call::new("count_by_value_approx").approximate(self, CountByValue, evaluator, limit)
    }

    /// About how many different rows there are, with a relative standard deviation of `relative_sd`.
    ///
    /// Takes (1.054 / `relative_sd`)² bytes for each partition at most. An error if it is below 0.000258.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let distinct = ctx.range(0..100_000).map(|x| x % 1000).count_approx_distinct(0.02)?;
    /// assert!((900..1100).contains(&distinct), "{distinct}");
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn count_approx_distinct(&self, relative_sd: f64) -> Result<u64>
    where
        Self::Item: Hash,
    {
        self.count_approx_distinct_async(relative_sd).wait()
    }

    /// About how many different rows there are, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let digits = ctx.range(0..1000).map(|x| x % 10).count_approx_distinct_async(0.05);
    /// assert!((9..=11).contains(&digits.wait()?));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn count_approx_distinct_async(&self, relative_sd: f64) -> JobHandle<u64>
    where
        Self::Item: Hash,
    {
        let call = Call::new("count_approx_distinct");
        let sketch = match HyperLogLogPlusPlus::new(relative_sd) {
            Ok(sketch) => sketch,
            Err(error) => return call.refuse(error),
        };
        let mut all = sketch.clone();
        let add = |(): &(), mut sketch: HyperLogLogPlusPlus, row: Self::Item| {
            sketch.add(&row);
            sketch
        };
        call.fold(self, sketch, add, move |parts| {
            for part in &parts {
                all.merge(part).expect("all sketches of an action have one precision");
            }
            Ok(all.count())
        })
    }
}

impl<R: Rdd> CountActions for R {}

/// Counts the different rows of a partition.
struct CountByValue;
crate::ship!(impl[] CountByValue {});

impl<T: crate::Data + Hash + Eq> JobFunction<T> for CountByValue {
    type Output = Vec<(T, u64)>;

    fn run(&self, rows: impl Iterator<Item = T>, _task: &TaskContext) -> Vec<(T, u64)> {
        let mut counts = hashbrown::HashMap::<T, u64>::new();
        rows.for_each(|row| *counts.entry(row).or_default() += 1);
        counts.into_iter().collect()
    }

    fn size_of(output: &Vec<(T, u64)>) -> u64 {
        size_of_val(output.as_slice()) as u64
    }
}
