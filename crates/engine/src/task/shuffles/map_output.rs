//! What a map task left in this process: [`MapBlocks`], in memory or in a file.

use std::{any::Any, convert::Infallible, iter, sync::Arc};

use firesteel_storage::{
    codec::{CodecError, Compression, ContentSum, FrameSink, Layout, RowsWriter},
    shuffle::files::{FileRange, MapOutputFile, MapOutputWriter, ShuffleFileError, SpillFile},
};
use firesteel_types::PartitionId;

use crate::data::Data;

/// Where the rows of a map task ended up.
pub(crate) struct Dealt<T> {
    /// On disk, in the order in which they were spilled.
    pub(crate) spills: Vec<SpillFile>,
    /// The rest, in memory.
    pub(crate) rows: TypedBuckets<T>,
    /// What the rest takes.
    pub(crate) bytes: u64,
    /// The sum of what was spilled, if it is wanted.
    pub(crate) content: Option<ContentSum>,
}

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

    /// Writes all rows to a file, partition by partition, behind those that were spilled; adds them to the sum, if there
    /// is one.
    fn write(
        &self,
        spills: &[SpillFile],
        file: &mut MapOutputWriter,
        content: &mut Option<ContentSum>,
    ) -> Result<(), ShuffleFileError>;
}

/// The rows of a map task for each reduce partition.
pub(crate) struct TypedBuckets<T>(pub(crate) Vec<Vec<T>>);

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

    fn write(
        &self,
        spills: &[SpillFile],
        file: &mut MapOutputWriter,
        content: &mut Option<ContentSum>,
    ) -> Result<(), ShuffleFileError> {
        for (reduce, rows) in (0..).map(PartitionId).zip(&self.0) {
            file.start(reduce);
            for spilled in spills.iter().filter_map(|spill| spill.block(reduce.0)) {
                file.append(&spilled)?;
            }
            RowSink { file: &mut *file, content, partition: reduce.0 }.write(rows)?;
        }
        Ok(())
    }
}

impl<T: Data> TypedBuckets<T> {
    /// Adds all rows to a sum. They are serialized for it, and nothing else.
    pub(crate) fn add_to(&self, content: &mut Option<ContentSum>) -> Result<(), CodecError> {
        let mut discard = DiscardFrames;
        (0..)
            .zip(&self.0)
            .try_for_each(|(partition, rows)| RowSink { file: &mut discard, content, partition }.write(rows))
    }
}

/// The partition of a file that was started.
pub(crate) struct RowSink<'a, S> {
    pub(crate) file: &'a mut S,
    /// The sum of all rows, if it is wanted.
    pub(crate) content: &'a mut Option<ContentSum>,
    pub(crate) partition: u32,
}

impl<S: FrameSink> RowSink<'_, S> {
    pub(crate) fn write<T: Data>(self, rows: &[T]) -> Result<(), S::Error> {
        let Self { file, content, partition } = self;
        let mut writer = RowsWriter::new(file);
        if content.is_some() {
            writer = writer.with_content_sum(partition);
        }
        writer.extend(rows)?;
        writer.flush()?;
        if let (Some(all), Some(these)) = (content, writer.content_sum()) {
            all.merge(these);
        }
        Ok(())
    }
}

/// Discards frames: rows are serialized for their checksum only.
struct DiscardFrames;

impl FrameSink for DiscardFrames {
    type Error = CodecError;

    fn compression(&self) -> Compression {
        Compression::None
    }

    fn write_frame(&mut self, _: u32, _: Layout, _: &[u8]) -> Result<(), CodecError> {
        Ok(())
    }
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
