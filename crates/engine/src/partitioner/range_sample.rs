//! The jobs that look at an RDD's keys before it is dealt by ranges.

use firesteel_scheduler::Partitions;
use firesteel_types::PartitionId;

use super::{Order, RangePartitioner};
use crate::{
    Result,
    action::{Call, JobFunction, JobHandle, Next, Steps},
    data::Data,
    driver::Collected,
    executor::TaskContext,
    rdd::{NO_PARTITIONS, Rdd},
    sampling::{Bernoulli, Reservoir, derive_seed},
    stats::{PartitionSketch, RangeSampleSizes, RangeSketch},
};

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
        Self::sample_for(Call::new("RangePartitioner::sample"), rdd, partitions, order)
    }

    /// The same on behalf of the operator that `call` names.
    pub(crate) fn sample_for<V: Data>(
        call: Call,
        rdd: &impl Rdd<Item = (K, V)>,
        partitions: u32,
        order: Order,
    ) -> Result<Self> {
        if partitions == 0 {
            return call.refuse(NO_PARTITIONS).wait();
        }
        if partitions < 2 || rdd.num_partitions() == 0 {
            return Ok(Self::new(Vec::new(), order));
        }
        let sizes = RangeSampleSizes::new(partitions, rdd.num_partitions());
        // The same for every call on the same RDD, so that a program that runs again gives the same partitions.
        let seed = u64::from(rdd.handle().id().0);
        let sampling =
            Sampling { rdd: rdd.clone(), call, sizes, partitions, order, seed, stage: Stage::Start };
        JobHandle::start(call, rdd.handle().driver(), Box::new(sampling)).wait()
    }
}

/// The one or two jobs of a sample.
struct Sampling<R, K> {
    rdd: R,
    call: Call,
    sizes: RangeSampleSizes,
    partitions: u32,
    order: Order,
    seed: u64,
    stage: Stage<K>,
}

/// What has been run.
enum Stage<K> {
    Start,
    Sketched(std::sync::Arc<Collected<PartitionSketch<K>>>),
    SampledAgain(RangeSketch<K>, std::sync::Arc<Collected<Vec<K>>>),
    Over,
}

impl<K: Data + Ord, V: Data, R: Rdd<Item = (K, V)>> Steps<RangePartitioner<K>> for Sampling<R, K> {
    fn next(&mut self) -> Result<Next<RangePartitioner<K>>> {
        let (partitions, order) = (self.partitions, self.order);
        let ranges =
            move |sketch: RangeSketch<K>| RangePartitioner::new(sketch.into_bounds(partitions), order);
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Start => {
                let sketch = SketchKeys { keys: self.sizes.per_partition, seed: self.seed };
                let (job, sketches) = self.call.submission(&self.rdd, Partitions::All, sketch);
                self.stage = Stage::Sketched(sketches);
                Ok(Next::Job(job))
            }
            Stage::Sketched(sketches) => {
                let sketch = RangeSketch::new(self.sizes, sketches.take());
                if sketch.oversized().is_empty() {
                    return Ok(Next::value(move || Ok(ranges(sketch))));
                }
                let oversized = sketch.oversized().iter().map(|&partition| PartitionId(partition)).collect();
                let again = SampleKeys { fraction: sketch.fraction(), seed: derive_seed(self.seed, 1) };
                let (job, keys) = self.call.submission(&self.rdd, Partitions::Listed(oversized), again);
                self.stage = Stage::SampledAgain(sketch, keys);
                Ok(Next::Job(job))
            }
            Stage::SampledAgain(mut sketch, keys) => Ok(Next::value(move || {
                keys.take().into_iter().for_each(|keys| sketch.add_resampled(keys));
                Ok(ranges(sketch))
            })),
            Stage::Over => unreachable!("an action is not asked again after its value"),
        }
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
