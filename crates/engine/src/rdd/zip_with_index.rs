//! The adaptor of `zip_with_index`, and the job that counts the partitions before.

use std::sync::Arc;

use firesteel_scheduler::Partitions;
use firesteel_types::PartitionId;

use super::{Rdd, RddHandle};
use crate::{
    Result,
    action::{Call, JobFunction, JobHandle, Next, Steps},
    driver::{Collected, Submission},
    executor::TaskContext,
    ship::Ship,
    source::PartitionValues,
};

/// An [`Rdd`] of its parent's rows with their place among all rows. Made by
/// [`zip_with_index`](crate::Transform::zip_with_index).
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct ZipWithIndex<R> {
    parent: R,
    handle: RddHandle,
    starts: PartitionValues<u64>,
}

crate::ship!(impl[R: Ship] ZipWithIndex<R> { parent, handle, starts });

impl<R: Rdd> ZipWithIndex<R> {
    /// Counts the rows of all partitions but the last, and numbers them from there.
    #[track_caller]
    pub(super) fn new(parent: &R) -> Result<Self> {
        let builder = parent.handle().derive("zip_with_index").order_sensitive();
        let counted = parent.num_partitions().saturating_sub(1);
        let counts = if counted > 0 { count_first(parent, counted)? } else { Vec::new() };
        let mut starts = vec![0; parent.num_partitions() as usize];
        for (partition, count) in counts.into_iter().enumerate() {
            starts[partition + 1] = starts[partition] + count;
        }
        let starts = PartitionValues::new(starts);
        Ok(Self { parent: parent.clone(), handle: builder.partition_data(starts.data()).build(), starts })
    }
}

impl<R: Rdd> Rdd for ZipWithIndex<R> {
    type Item = (R::Item, u64);

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = Self::Item> + 'a {
        let mut next = *self.starts.get(&self.handle, partition, task);
        self.parent.compute(partition, task).map(move |row| {
            let index = next;
            next += 1;
            (row, index)
        })
    }
}

/// Counts the rows of each of the first partitions.
#[track_caller]
fn count_first<R: Rdd>(rdd: &R, partitions: u32) -> Result<Vec<u64>> {
    let call = Call::new("zip_with_index");
    let first = Partitions::Listed((0..partitions).map(PartitionId).collect());
    let (submission, counts) = call.submission(rdd, first, CountRows);
    let counting = Counting { submission: Some(submission), counts };
    JobHandle::start(call, rdd.handle().driver(), Box::new(counting)).wait()
}

struct CountRows;
crate::ship!(impl[] CountRows {});

impl<T> JobFunction<T> for CountRows {
    type Output = u64;

    fn run(&self, rows: impl Iterator<Item = T>, _task: &TaskContext) -> u64 {
        rows.count() as u64
    }
}

struct Counting {
    submission: Option<Box<Submission>>,
    counts: Arc<Collected<u64>>,
}

impl Steps<Vec<u64>> for Counting {
    fn next(&mut self) -> Result<Next<Vec<u64>>> {
        Ok(match self.submission.take() {
            Some(submission) => Next::Job(submission),
            None => {
                let counts = self.counts.clone();
                Next::Value(Box::new(move || Ok(counts.take())))
            }
        })
    }
}
