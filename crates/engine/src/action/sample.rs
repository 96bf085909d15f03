//! A sample of an exact size.

use std::sync::Arc;

use firesteel_scheduler::Partitions;

use super::collect::{Collect, Count, concat, gather};
use crate::{
    Error, Result,
    data::Data,
    driver::Collected,
    job::{JobFunction, Next, Steps, submission},
    rdd::Rdd,
    task::TaskContext,
};
use firesteel_stats::sampling::{Replacement, Sampler, TakeSamplePlan, derive_seed, draw_exactly};

/// The jobs of `take_sample`: count the rows, sample them with a fraction that is almost surely enough, and again with
/// another seed if it was not.
pub(super) struct SampleSteps<R: Rdd> {
    rdd: R,
    replacement: Replacement,
    size: usize,
    seed: u64,
    phase: Phase<R::Item>,
}

enum Phase<T> {
    Begin,
    Counting(Arc<Collected<u64>>),
    /// With the sampler, or without one when all rows are wanted.
    Sampling {
        sampler: Option<Sampler>,
        attempt: u64,
        rows: Arc<Collected<Vec<T>>>,
    },
}

impl<R: Rdd> SampleSteps<R> {
    pub(super) fn new(rdd: &R, replacement: Replacement, size: usize, seed: u64) -> Self {
        Self { rdd: rdd.clone(), replacement, size, seed, phase: Phase::Begin }
    }

    /// Counts, if there is anything to count for.
    fn begin(&mut self) -> Next<Vec<R::Item>> {
        if self.size == 0 {
            return Next::value(|| Ok(Vec::new()));
        }
        let (job, counts) = submission(&self.rdd, Partitions::All, Count);
        self.phase = Phase::Counting(counts);
        Next::Job(job)
    }

    fn plan(&mut self, count: u64) -> Result<Next<Vec<R::Item>>> {
        let sampler = match TakeSamplePlan::new(self.replacement, self.size as u64, count) {
            TakeSamplePlan::Nothing => return Ok(Next::value(|| Ok(Vec::new()))),
            TakeSamplePlan::Everything => None,
            TakeSamplePlan::Fraction(fraction) => {
                let sampler = Sampler::new(self.replacement, fraction);
                Some(sampler.map_err(|error| Error::invalid(error.to_string()))?)
            }
        };
        Ok(self.sample(sampler, 0))
    }

    fn sample(&mut self, sampler: Option<Sampler>, attempt: u64) -> Next<Vec<R::Item>> {
        let (job, rows) = match sampler {
            Some(sampler) => {
                let function = SampleRows { sampler, seed: derive_seed(self.seed, attempt) };
                submission(&self.rdd, Partitions::All, function)
            }
            None => submission(&self.rdd, Partitions::All, Collect),
        };
        self.phase = Phase::Sampling { sampler, attempt, rows };
        Next::Job(job)
    }
}

impl<R: Rdd> Steps<Vec<R::Item>> for SampleSteps<R> {
    fn next(&mut self) -> Result<Next<Vec<R::Item>>> {
        match std::mem::replace(&mut self.phase, Phase::Begin) {
            Phase::Begin => Ok(self.begin()),
            Phase::Counting(counts) => self.plan(counts.take().into_iter().sum()),
            Phase::Sampling { sampler, attempt, rows } => {
                let rows = concat(rows.take());
                // All rows were asked for, or enough came.
                if sampler.is_none() || rows.len() >= self.size {
                    let (size, seed) = (self.size, self.seed);
                    return Ok(Next::value(move || Ok(draw_exactly(rows, size, seed))));
                }
                Ok(self.sample(sampler, attempt + 1))
            }
        }
    }
}

/// Gives a sample of a partition.
struct SampleRows {
    sampler: Sampler,
    seed: u64,
}

crate::ship!(impl[] SampleRows { ; values sampler, seed });

impl<T: Data> JobFunction<T> for SampleRows {
    type Output = Vec<T>;

    fn run(&self, rows: impl Iterator<Item = T>, task: &TaskContext) -> Vec<T> {
        let seed = derive_seed(self.seed, u64::from(task.partition().0));
        gather(self.sampler.sample(rows, seed))
    }

    fn size_of(output: &Vec<T>) -> u64 {
        size_of_val(output.as_slice()) as u64
    }
}
