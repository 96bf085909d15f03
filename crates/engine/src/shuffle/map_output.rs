//! What a map task left in this process: [`MapBlocks`], in memory or in a file.

use std::{any::Any, convert::Infallible, iter, sync::Arc};

use firesteel_storage::{
    codec::{FrameSink, RowsWriter},
    shuffle::files::{FileRange, MapOutputFile, MapOutputWriter, ShuffleFileError, SpillFile},
};
use firesteel_types::PartitionId;

use crate::data::Data;

/// The output of one map task.
#[derive(Clone)]
pub(crate) enum MapBlocks {
    /// As it was made.
    Typed(Arc<dyn TypedBlocks>),
    /// Serialized, in one file.
    File(Arc<MapOutputFile>),
}

/// The output of a map task in memory, without its type.
pub(crate) trait TypedBlocks: Send + Sync {
    /// The `TypedBuckets<T>`.
    fn as_any(&self) -> &dyn Any;

    /// How many reduce partitions there are.
    fn partitions(&self) -> u32;

    /// Writes all rows to a file, partition by partition, behind those that were spilled.
    fn write(&self, spills: &[SpillFile], file: &mut MapOutputWriter) -> Result<(), ShuffleFileError>;
}

/// The rows of a map task for each reduce partition.
pub(crate) struct TypedBuckets<T>(pub(super) Vec<Vec<T>>);

impl<T> TypedBuckets<T> {
    /// The rows for one reduce partition.
    pub(crate) fn rows(&self, partition: u32) -> &[T] {
        &self.0[partition as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[T]> {
        self.0.iter().map(Vec::as_slice)
    }

    /// The bytes of the vectors, without what rows own elsewhere.
    pub(crate) fn own_bytes(&self) -> u64 {
        self.0.iter().map(|rows| (rows.capacity() * size_of::<T>()) as u64).sum()
    }
}

impl<T: Data> TypedBlocks for TypedBuckets<T> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn partitions(&self) -> u32 {
        self.0.len() as u32
    }

    fn write(&self, spills: &[SpillFile], file: &mut MapOutputWriter) -> Result<(), ShuffleFileError> {
        for (reduce, rows) in (0..).map(PartitionId).zip(&self.0) {
            file.start(reduce);
            for spilled in spills.iter().filter_map(|spill| spill.block(reduce.0)) {
                file.append(&spilled)?;
            }
            write_rows(file, rows)?;
        }
        Ok(())
    }
}

/// Writes rows to the partition that was started.
pub(super) fn write_rows<T: Data, S: FrameSink>(file: &mut S, rows: &[T]) -> Result<(), S::Error> {
    let mut writer = RowsWriter::new(file);
    writer.extend(rows)?;
    writer.finish().map(drop)
}

/// What one map task left for one reduce task, in a file.
pub(crate) struct FileBlock(Option<FileRange>);

impl FileBlock {
    pub(crate) fn new(file: &Arc<MapOutputFile>, reduce: PartitionId) -> Self {
        Self(file.block(reduce))
    }

    pub(crate) fn rows(&self) -> u64 {
        self.0.as_ref().map_or(0, |range| range.summary().rows)
    }

    /// The bytes of the rows before compression.
    pub(crate) fn raw_bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, |range| range.summary().raw_bytes)
    }

    /// The bytes in the file.
    pub(crate) fn stored_bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, FileRange::len)
    }

    /// The rows, as many at a time as were written together; `fail` gets what is wrong with the file.
    pub(crate) fn batches<T: Data, F: Fn(String) -> Infallible>(
        self,
        fail: F,
    ) -> impl Iterator<Item = Vec<T>> + use<T, F> {
        let mut reader = self.0.map(|range| (range.rows::<T>(), range));
        iter::from_fn(move || {
            let (reader, range) = reader.as_mut()?;
            let mut rows = Vec::new();
            match reader.next_batch(&mut rows) {
                Ok(true) => Some(rows),
                Ok(false) => None,
                Err(error) => match fail(range.diagnose(error).to_string()) {},
            }
        })
    }
}
