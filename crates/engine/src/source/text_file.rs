//! Lines of text files.

use firesteel_types::PartitionId;

use super::batches::{batches, or_abort};
use crate::{
    Context, Result,
    rdd::{PartitionValues, Rdd, RddHandle},
    task::TaskContext,
};
use firesteel_files::{FileSplit, LineReader, ReadOptions, expand_decoded, plan_splits};

/// An [`Rdd`] of the lines of text files. Made by [`Context::text_file`].
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct TextFile {
    handle: RddHandle,
    splits: PartitionValues<FileSplit>,
    options: ReadOptions,
}

crate::rdd::debug_as_handle!(impl[] TextFile);

crate::ship!(impl[] TextFile { handle, splits; values options });

impl Context {
    /// The lines of text files.
    ///
    /// `path` is a file, a folder, a pattern (`logs/*.txt`, `data/{a,b}/part-[0-9]*`), or several of them separated by
    /// commas; local, or with one of `file://`, `s3://`, `gs://`, `az://`, `http://`. Files that end in `.gz`, `.zst`,
    /// `.bz2` or `.lz4`, in letters of either case, are decompressed. Large plain files are split at line boundaries.
    /// Lines end with `\n`, `\r\n` or `\r`; a byte-order mark at the beginning of a file is no part of its first line.
    /// The files are looked up now and read when a job runs.
    ///
    /// A folder stands for the files in it whose names do not begin with `_` or `.`. A folder inside of it is an error,
    /// unless the setting `firesteel.files.recursive` makes it read all files below. A file that a pattern reaches in
    /// several ways is read once; one that stands twice in a list is read twice.
    ///
    /// ```
    /// use firesteel::prelude::*;
    ///
    /// let ctx = Context::local(2)?;
    /// let path = std::env::temp_dir().join(format!("firesteel-doc-lines-{}.txt", std::process::id()));
    /// std::fs::write(&path, "to be\nor not\n")?;
    /// assert_eq!(ctx.text_file(path.to_str().unwrap())?.collect()?, ["to be", "or not"]);
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn text_file(&self, path: &str) -> Result<TextFile> {
        self.text_file_into(path, self.default_min_partitions())
    }

    /// [`text_file`](Context::text_file) in at least `min_partitions` partitions, where the files allow it.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let path = std::env::temp_dir().join(format!("firesteel-doc-lines-into-{}.txt", std::process::id()));
    /// std::fs::write(&path, "line\n".repeat(1000))?;
    /// let lines = ctx.text_file_into(path.to_str().unwrap(), 4)?;
    /// assert_eq!((lines.num_partitions(), lines.count()?), (4, 1000));
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn text_file_into(&self, path: &str, min_partitions: u32) -> Result<TextFile> {
        let files = expand_decoded(path, self.input_depth())?;
        let mut splits = plan_splits(&files, min_partitions as usize, Some(self.max_split_bytes()));
        splits.retain(|split| !split.is_empty());
        let handle = RddHandle::builder(self.driver(), "text_file", splits.len() as u32);
        let splits = PartitionValues::new(splits);
        let handle = handle.partition_data(splits.data()).build();
        Ok(TextFile { handle, splits, options: self.read_options() })
    }
}

impl Rdd for TextFile {
    type Item = String;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = String> + 'a {
        let (id, split) = (self.handle.id(), self.splits.get(&self.handle, partition, task));
        task.count_input(0, split.length);
        let mut reader = or_abort(LineReader::open(split, self.options), id);
        batches(id, task, move |lines, most| reader.next_batch(lines, most))
    }
}
