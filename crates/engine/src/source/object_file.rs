//! Rows that were saved as an object file.

use std::marker::PhantomData;

use firesteel_types::PartitionId;

use super::batches::{batches, or_abort};
use crate::{
    Context, Result,
    data::Data,
    rdd::{PartitionValues, Rdd, RddHandle},
    ship::{Frozen, Ship, ShipError, Thawing},
    task::TaskContext,
};
use firesteel_files::{FileSplit, ObjectReader, ReadOptions, expand};

/// An [`Rdd`] of rows from object files. Made by [`Context::object_file`].
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct ObjectFile<T> {
    handle: RddHandle,
    files: PartitionValues<FileSplit>,
    options: ReadOptions,
    rows: PhantomData<fn() -> T>,
}

crate::rdd::debug_as_handle!(impl[T] ObjectFile<T>);

impl Context {
    /// The rows that [`save_as_object_file`](crate::SaveRdd::save_as_object_file) wrote, one partition for each file.
    ///
    /// ```
    /// use firesteel::prelude::*;
    ///
    /// let ctx = Context::local(2)?;
    /// let folder = std::env::temp_dir().join(format!("firesteel-doc-objects-{}", std::process::id()));
    /// let path = folder.to_str().unwrap();
    /// ctx.range(0..5_u64).map(|x| (x, x.to_string())).save_as_object_file(path)?;
    /// assert_eq!(ctx.object_file::<(u64, String)>(path)?.count()?, 5);
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn object_file<T: Data>(&self, path: &str) -> Result<ObjectFile<T>> {
        let files = expand(path, self.input_depth())?;
        let files: Vec<_> = files.iter().map(FileSplit::whole).collect();
        let handle = RddHandle::builder(self.driver(), "object_file", files.len() as u32);
        let files = PartitionValues::new(files);
        let handle = handle.partition_data(files.data()).build();
        Ok(ObjectFile { handle, files, options: self.read_options(), rows: PhantomData })
    }
}

impl<T: Data> Rdd for ObjectFile<T> {
    type Item = T;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> impl Iterator<Item = T> + 'a {
        let (id, file) = (self.handle.id(), self.files.get(&self.handle, partition, task));
        task.count_input(0, file.length);
        let mut reader = or_abort(ObjectReader::<T>::open(&file.location, self.options), id);
        batches(id, task, move |rows, _most| reader.next_batch(rows))
    }
}

impl<T: 'static> Ship for ObjectFile<T> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.handle.freeze(out)?;
        self.files.freeze(out)?;
        out.value(&self.options)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        let (handle, files) = (RddHandle::thaw(input)?, PartitionValues::thaw(input)?);
        Ok(Self { handle, files, options: input.value()?, rows: PhantomData })
    }
}
