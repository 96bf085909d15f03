//! The jobs that look at an RDD's keys before it is dealt by ranges.

use firesteel_scheduler::Partitions;
use firesteel_types::PartitionId;

use crate::{
    Result,
    data::Data,
    driver::Collected,
    job::{Call, Finish, JobFunction, JobHandle, Next, Steps, submission},
    partitioner::{Order, RangePartitioner},
    rdd::{NO_PARTITIONS, Rdd},
    task::TaskContext,
};
use firesteel_stats::sampling::{Bernoulli, Reservoir, derive_seed};
use firesteel_stats::{PartitionSketch, RangeSampleSizes, RangeSketch};

impl<K: Data + Ord> RangePartitioner<K> {
    /// Samples the keys of `rdd` and makes ranges of about as many rows each: at most `partitions`, and fewer when
    /// there are fewer different keys. Into no partitions is an error.
    ///
    /// Runs a job that computes `rdd` once, and a second one over partitions that are far larger than the others.
    ///
    /// ```
    /// # use firesteel::{Order, RangePartitioner, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..1000).map(|x| (x, ()));
    /// let ranges = RangePartitioner::sample(&pairs, 4, Order::Ascending)?;
    /// assert_eq!(ranges.num_partitions(), 4);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn sample<V: Data>(rdd: &impl Rdd<Item = (K, V)>, partitions: u32, order: Order) -> Result<Self> {
        let call = Call::new("RangePartitioner::sample");
        Self::sample_for(call, rdd, partitions, order, |ranges| ranges).wait()
    }

    /// Samples on behalf of the operator that `call` names, which makes `finish` of the ranges.
    pub(crate) fn sample_for<V: Data, T: Send + 'static>(
        call: Call,
        rdd: &impl Rdd<Item = (K, V)>,
        partitions: u32,
        order: Order,
        finish: impl FnOnce(Self) -> T + Send + 'static,
    ) -> JobHandle<T> {
        let call = call.without_checkpoints();
        if partitions == 0 {
            return call.refuse(NO_PARTITIONS);
        }
        if partitions < 2 || rdd.num_partitions() == 0 {
            return call.start(rdd, Finish::new(move || Ok(finish(Self::new(Vec::new(), order)))));
        }
        let sizes = RangeSampleSizes::new(partitions, rdd.num_partitions());
        // The same for every call on the same RDD, so that a program that runs again gives the same partitions.
        let seed = u64::from(rdd.handle().id().0);
        let finish = Some(finish);
        call.start(
            rdd,
            Sampling { rdd: rdd.clone(), sizes, partitions, order, seed, stage: Stage::Start, finish },
        )
    }
}

/// The one or two jobs of a sample.
struct Sampling<R, K, F> {
    rdd: R,
    sizes: RangeSampleSizes,
    partitions: u32,
    order: Order,
    seed: u64,
    stage: Stage<K>,
    /// What is made of the ranges.
    finish: Option<F>,
}

/// What has been run.
enum Stage<K> {
    Start,
    Sketched(std::sync::Arc<Collected<PartitionSketch<K>>>),
    SampledAgain(RangeSketch<K>, std::sync::Arc<Collected<Vec<K>>>),
    Over,
}

impl<K, V, R, T, F> Steps<T> for Sampling<R, K, F>
where
    K: Data + Ord,
    V: Data,
    R: Rdd<Item = (K, V)>,
    F: FnOnce(RangePartitioner<K>) -> T + Send + 'static,
{
    fn next(&mut self) -> Result<Next<T>> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Start => {
                let sketch = SketchKeys { keys: self.sizes.per_partition, seed: self.seed };
                let (job, sketches) = submission(&self.rdd, Partitions::All, sketch);
                self.stage = Stage::Sketched(sketches);
                Ok(Next::Job(job))
            }
            Stage::Sketched(sketches) => {
                let sketch = RangeSketch::new(self.sizes, sketches.take());
                if sketch.oversized().is_empty() {
                    return Ok(self.value(move || sketch));
                }
                let oversized = sketch.oversized().iter().map(|&partition| PartitionId(partition)).collect();
                let again = SampleKeys { fraction: sketch.fraction(), seed: derive_seed(self.seed, 1) };
                let (job, keys) = submission(&self.rdd, Partitions::Listed(oversized), again);
                self.stage = Stage::SampledAgain(sketch, keys);
                Ok(Next::Job(job))
            }
            Stage::SampledAgain(mut sketch, keys) => Ok(self.value(move || {
                keys.take().into_iter().for_each(|keys| sketch.add_resampled(keys));
                sketch
            })),
            Stage::Over => unreachable!("an action is not asked again after its value"),
        }
    }
}

impl<R, K: Data + Ord, F> Sampling<R, K, F> {
    fn value<T>(&mut self, sketch: impl FnOnce() -> RangeSketch<K> + Send + 'static) -> Next<T>
    where
        F: FnOnce(RangePartitioner<K>) -> T + Send + 'static,
    {
        let (partitions, order) = (self.partitions, self.order);
        let finish = self.finish.take().expect("the value is made once");
        Next::value(move || Ok(finish(RangePartitioner::new(sketch().into_bounds(partitions), order))))
    }
}

/// Counts the rows of a partition and takes some of its keys.
struct SketchKeys {
    keys: u32,
    seed: u64,
}

crate::ship!(impl[] SketchKeys { keys, seed });

impl<K: Data, V> JobFunction<(K, V)> for SketchKeys {
    type Output = PartitionSketch<K>;

    fn run(&self, rows: impl Iterator<Item = (K, V)>, task: &TaskContext) -> PartitionSketch<K> {
        let partition = task.partition().0;
        let mut reservoir = Reservoir::new(self.keys as usize, derive_seed(self.seed, u64::from(partition)));
        rows.for_each(|(key, _)| reservoir.push(key));
        let (count, sample) = reservoir.into_parts();
        PartitionSketch { partition, count, sample }
    }
}

/// Takes a fraction of the keys of a partition.
struct SampleKeys {
    fraction: f64,
    seed: u64,
}

crate::ship!(impl[] SampleKeys { fraction, seed });

impl<K: Data, V> JobFunction<(K, V)> for SampleKeys {
    type Output = Vec<K>;

    fn run(&self, rows: impl Iterator<Item = (K, V)>, task: &TaskContext) -> Vec<K> {
        let sampler = Bernoulli::new(self.fraction).expect("a share of all rows is a fraction");
        let seed = derive_seed(self.seed, u64::from(task.partition().0));
        sampler.sample(rows.map(|(key, _)| key), seed).collect()
    }
}
