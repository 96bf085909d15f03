//! Records of one length.

use firesteel_types::PartitionId;

use super::batches::{batches, or_abort};
use crate::{
    Context, Result,
    rdd::{PartitionValues, Rdd, RddHandle},
    task::TaskContext,
};
use firesteel_files::{FileSplit, ReadOptions, RecordReader, expand_decoded, plan_record_splits};

/// An [`Rdd`] of records that all have the same length. Made by [`Context::binary_records`].
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct BinaryRecords {
    handle: RddHandle,
    splits: PartitionValues<FileSplit>,
    record_length: u64,
    options: ReadOptions,
}

crate::rdd::debug_as_handle!(impl[] BinaryRecords);

crate::ship!(impl[] BinaryRecords { handle, splits; values record_length, options });

impl Context {
    /// Records of `record_length` bytes from files whose size is a multiple of it. Paths as in
    /// [`text_file`](Context::text_file).
    ///
    /// ```
    /// use firesteel::prelude::*;
    ///
    /// let ctx = Context::local(2)?;
    /// let path = std::env::temp_dir().join(format!("firesteel-doc-records-{}.bin", std::process::id()));
    /// std::fs::write(&path, b"abcdef")?;
    /// assert_eq!(ctx.binary_records(path.to_str().unwrap(), 3)?.collect()?, [b"abc", b"def"]);
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn binary_records(&self, path: &str, record_length: u64) -> Result<BinaryRecords> {
        let files = expand_decoded(path, self.input_depth())?;
        let min_partitions = self.default_min_partitions() as usize;
        let mut splits =
            plan_record_splits(&files, record_length, min_partitions, Some(self.max_split_bytes()))?;
        splits.retain(|split| !split.is_empty());
        let handle = RddHandle::builder(self.driver(), "binary_records", splits.len() as u32);
        let splits = PartitionValues::new(splits);
        let handle = handle.partition_data(splits.data()).build();
        Ok(BinaryRecords { handle, splits, record_length, options: self.read_options() })
    }
}

impl Rdd for BinaryRecords {
    type Item = Vec<u8>;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = Vec<u8>> + 'a {
        let (id, split) = (self.handle.id(), self.splits.get(&self.handle, partition, task));
        task.count_input(0, split.length);
        let mut reader = or_abort(RecordReader::open(split, self.record_length, self.options), id);
        batches(id, task, move |records, most| reader.next_batch(records, most))
    }
}
