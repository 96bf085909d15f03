//! The adaptor of `zip_with_index`, and the job that counts the partitions before.

use std::{cell::Cell, iter, rc::Rc};

use firesteel_scheduler::Partitions;
use firesteel_types::{PartitionId, RddId};
use serde::{Deserialize, Serialize};

use crate::{
    job::{Call, Finish, JobFunction, JobHandle},
    rdd::{PartitionValues, Rdd, RddHandle},
    ship::Ship,
    task::{Abort, TaskContext, abort_task},
};

/// An [`Rdd`] of its parent's rows with their place among all rows. Made by
/// [`zip_with_index`](crate::Transform::zip_with_index).
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct ZipWithIndex<R> {
    parent: R,
    handle: RddHandle,
    numbers: PartitionValues<Numbers>,
}

crate::rdd::debug_as_handle!(impl[R] ZipWithIndex<R>);

/// The numbers of one partition's rows.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Numbers {
    first: u64,
    /// How many there are; not known of the last partition, which is not counted.
    count: Option<u64>,
}

crate::ship!(impl[R: Ship] ZipWithIndex<R> { parent, handle, numbers });

impl<R: Rdd> ZipWithIndex<R> {
    /// Counts the rows of all partitions but the last, and numbers them from there.
    #[track_caller]
    pub(super) fn new(parent: &R) -> JobHandle<Self> {
        let call = Call::new("zip_with_index").without_checkpoints();
        let (builder, rows) = (parent.handle().derive("zip_with_index").order_sensitive(), parent.clone());
        let made = move |counts| {
            let numbers = PartitionValues::new(numbers(counts, rows.num_partitions()));
            Ok(Self { parent: rows, handle: builder.partition_data(numbers.data()).build(), numbers })
        };
        match parent.num_partitions() {
            0 | 1 => call.start(parent, Finish::new(move || made(Vec::new()))),
            partitions => {
                let counted = (0..partitions - 1).map(PartitionId).collect();
                call.run_on(parent, Partitions::Listed(counted), CountRows, made)
            }
        }
    }
}

/// The numbers of each partition, where all but the last are counted.
fn numbers(counts: Vec<u64>, partitions: u32) -> Vec<Numbers> {
    let mut first = 0;
    let mut numbers: Vec<Numbers> = Vec::with_capacity(partitions as usize);
    for count in counts {
        numbers.push(Numbers { first, count: Some(count) });
        first += count;
    }
    if partitions > 0 {
        numbers.push(Numbers { first, count: None });
    }
    numbers
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
        let Numbers { first, count } = *self.numbers.get(&self.handle, partition, task);
        let next = Rc::new(Cell::new(first));
        let given = next.clone();
        let numbered =
            self.parent.compute(partition, task).map(move |row| (row, next.replace(next.get() + 1)));
        // More or fewer rows than were counted would have numbers that other rows have, or leave some out.
        let at_the_end = iter::from_fn(move || {
            let rows = given.get() - first;
            match count {
                Some(count) if count != rows => changed(self.handle.id(), partition, count, rows),
                Some(_) | None => None,
            }
        });
        numbered.chain(at_the_end)
    }
}

/// Ends the task.
#[cold]
fn changed(operator: RddId, partition: PartitionId, counted: u64, now: u64) -> ! {
    let message = format!(
        "{partition} had {counted} rows when zip_with_index counted them and has {now} now; make the rows the same in each \
         run: persist or checkpoint before it"
    );
    abort_task(Abort::failed(operator, message))
}

struct CountRows;
crate::ship!(impl[] CountRows {});

impl<T> JobFunction<T> for CountRows {
    type Output = u64;

    fn run(&self, rows: impl Iterator<Item = T>, _task: &TaskContext) -> u64 {
        rows.count() as u64
    }
}
