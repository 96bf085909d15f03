//! The rows of a partition from the store, computed and stored first if need be: [`keep`].

use std::{cell::Cell, io, sync::Arc};

use firesteel_storage::block::{BlockError, BlockId, Lease, Lookup, NewBlock, Outcome};
use firesteel_types::{PartitionId, RddId, StorageLevel};

use super::{
    format::Format,
    rows::{KeptRows, Rest, SharedRows, stored, stored_again},
    store,
    unroll::{Collected, PartBytes, collect, collect_bytes},
};
use crate::{data::Data, either::Either, task::TaskContext};

/// The rows of a partition that is kept at `level`; `compute` makes them when they are not there.
///
/// All that can be kept is stored before the first row comes. Other tasks that need the same partition wait until then.
pub(crate) fn keep<'a, T: Data, I: Iterator<Item = T> + 'a>(
    rdd: RddId,
    partition: PartitionId,
    level: StorageLevel,
    task: &'a TaskContext,
    compute: impl FnOnce() -> I,
) -> KeptRows<'a, T, I> {
    let blocks = &task.environment().blocks;
    let id = BlockId::Rdd { rdd, partition, generation: task.generation(rdd) };
    match blocks.lookup(id, level, task) {
        Lookup::Found(read) => stored_again(read, task),
        Lookup::Compute(lease) => {
            let keeper = Keeper { lease, level, task, format: Format::new(blocks.compression(), task) };
            match level {
                StorageLevel { memory: true, deserialized: true, .. } => keeper.keep_values(compute),
                StorageLevel { memory: true, .. } => keeper.keep_bytes(compute),
                _ => keeper.keep_on_disk(None, Rest::all(compute())),
            }
        }
    }
}

/// The rows of a partition, if it is kept.
pub(crate) fn kept<T: Data, I>(
    rdd: RddId,
    partition: PartitionId,
    task: &TaskContext,
) -> Option<KeptRows<'_, T, I>> {
    let id = BlockId::Rdd { rdd, partition, generation: task.generation(rdd) };
    let read = task.environment().blocks.get(id, task)?;
    Some(stored(read, task))
}

/// A task that computes and stores a partition.
struct Keeper<'a> {
    lease: Lease<'a>,
    level: StorageLevel,
    task: &'a TaskContext,
    format: Format,
}

impl<'a> Keeper<'a> {
    fn keep_values<T: Data, I: Iterator<Item = T> + 'a>(
        self,
        compute: impl FnOnce() -> I,
    ) -> KeptRows<'a, T, I> {
        let Some(unroll) = self.lease.unroll() else { return self.without_memory(compute) };
        match collect(unroll, compute) {
            Collected::All { content, bytes, reserved } => {
                let save = self.format.save::<T>();
                let new = NewBlock::Typed { value: Arc::new(content), size: bytes, save };
                let id = self.lease.id();
                read_back(id, self.lease.store_unrolled(new, reserved), self.task)
            }
            Collected::Part(part, rest) if self.level.disk => {
                self.keep_on_disk(None, Rest::after(part, rest))
            }
            Collected::Part(part, rest) => Either::Two(Rest::after(part, rest)),
        }
    }

    fn keep_bytes<T: Data, I: Iterator<Item = T> + 'a>(
        self,
        compute: impl FnOnce() -> I,
    ) -> KeptRows<'a, T, I> {
        let Some(unroll) = self.lease.unroll() else { return self.without_memory(compute) };
        let (id, task) = (self.lease.id(), self.task);
        match collect_bytes(unroll, self.format, compute) {
            Ok(Collected::All { content, reserved, .. }) => {
                let new = NewBlock::Bytes(content.into());
                read_back(id, self.lease.store_unrolled(new, reserved), task)
            }
            Ok(Collected::Part(part, rest)) if self.level.disk => {
                self.keep_on_disk(Some(part), Rest::remaining(rest))
            }
            Ok(Collected::Part(part, rest)) => Either::Two(Rest::after_bytes(id, part, rest, task)),
            Err(error) => store::fail(id, &format!("{id} cannot be stored: {error}")),
        }
    }

    /// There is no memory to begin with.
    fn without_memory<T: Data, I: Iterator<Item = T> + 'a>(
        self,
        compute: impl FnOnce() -> I,
    ) -> KeptRows<'a, T, I> {
        if self.level.disk {
            return self.keep_on_disk(None, Rest::all(compute()));
        }
        // Nothing will be stored: tasks that wait need not.
        drop(self.lease);
        Either::Two(Rest::all(compute()))
    }

    /// Writes what is serialized already and the rows after it to a file, and reads them from there.
    fn keep_on_disk<T: Data, I: Iterator<Item = T> + 'a>(
        self,
        bytes: Option<PartBytes>,
        rows: Rest<'a, T, I>,
    ) -> KeptRows<'a, T, I> {
        let Self { lease, task, format, .. } = self;
        let id = lease.id();
        let once = Cell::new(Some((bytes, rows)));
        let written = lease.store_on_disk(&|out| {
            let lost = || io::Error::other("the disk failed, and the rows cannot be had twice");
            let (bytes, rows) = once.take().ok_or_else(lost)?;
            if let Some(bytes) = bytes {
                out.write_all(bytes.as_ref())?;
            }
            format.write(rows, out)
        });
        match written {
            Ok(Some(read)) => stored(read, task),
            Ok(None) => store::fail(id, &format!("{id} was written and is gone: its task has ended")),
            Err(error) => store::fail_with(id, &error),
        }
    }
}

/// The rows of a block that was just stored, or should have been.
fn read_back<T: Data, I>(
    id: BlockId,
    outcome: Result<Outcome, BlockError>,
    task: &TaskContext,
) -> KeptRows<'_, T, I> {
    match outcome {
        Ok(Outcome::Kept(read)) => stored(read, task),
        Ok(Outcome::NotKept(NewBlock::Typed { value, .. })) => {
            let rows = value.downcast().expect("it was put in as this very type");
            Either::One(SharedRows::new(rows, None, task))
        }
        Ok(Outcome::NotKept(NewBlock::Bytes(_)) | Outcome::Saved) => {
            store::fail(id, &format!("{id} was stored and is gone: its task has ended"))
        }
        Err(error) => store::fail_with(id, &error),
    }
}

#[cfg(test)]
mod tests;
