//! Files as wholes: one row for each.

use firesteel_types::PartitionId;

use super::batches::or_abort;
use crate::{
    Context, Result,
    rdd::{PartitionValues, Rdd, RddHandle},
    ship::Ship,
    task::TaskContext,
};
use firesteel_files::{
    FileSplit, InputFile, IoError, Location, ReadOptions, expand, expand_decoded, group_files, read_bytes,
    read_text,
};

/// An [`Rdd`] with one row for each file: its path and its content. Made by [`Context::whole_text_files`] and
/// [`Context::binary_files`].
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct WholeFiles<C> {
    handle: RddHandle,
    groups: PartitionValues<Vec<FileSplit>>,
    options: ReadOptions,
    content: std::marker::PhantomData<fn() -> C>,
}

crate::rdd::debug_as_handle!(impl[C] WholeFiles<C>);

/// What a whole file is read as: text or bytes.
pub trait Content: crate::Data {
    #[doc(hidden)]
    const OPERATOR: &'static str;
    #[doc(hidden)]
    fn read(location: &FileLocation<'_>) -> Result<Option<Self>, IoError>;
}

/// A file to read. Opaque.
#[doc(hidden)]
#[derive(Debug)]
#[expect(unnameable_types, reason = "no other crate can implement `Content`")]
pub struct FileLocation<'a>(&'a Location, ReadOptions);

impl Content for String {
    const OPERATOR: &'static str = "whole_text_files";

    fn read(file: &FileLocation<'_>) -> Result<Option<Self>, IoError> {
        read_text(file.0, file.1)
    }
}

impl Content for Vec<u8> {
    const OPERATOR: &'static str = "binary_files";

    fn read(file: &FileLocation<'_>) -> Result<Option<Self>, IoError> {
        read_bytes(file.0, file.1)
    }
}

impl Context {
    /// Text files as wholes: a row is a file's path and its text. For many small files; each must fit in memory.
    ///
    /// Paths as in [`text_file`](Context::text_file). The text is that of the file to the letter, with line ends and
    /// byte-order mark.
    ///
    /// ```
    /// use firesteel::prelude::*;
    ///
    /// let ctx = Context::local(2)?;
    /// let folder = std::env::temp_dir().join(format!("firesteel-doc-whole-{}", std::process::id()));
    /// std::fs::create_dir_all(&folder)?;
    /// std::fs::write(folder.join("a.txt"), "one\ntwo")?;
    /// let texts = ctx.whole_text_files(folder.to_str().unwrap())?.map(|(_path, text)| text);
    /// assert_eq!(texts.collect()?, ["one\ntwo"]);
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn whole_text_files(&self, path: &str) -> Result<WholeFiles<String>> {
        Ok(self.whole_files(&expand_decoded(path, self.input_depth())?))
    }

    /// Files as wholes: a row is a file's path and its bytes, as they are. Each file must fit in memory.
    ///
    /// ```
    /// use firesteel::prelude::*;
    ///
    /// let ctx = Context::local(2)?;
    /// let path = std::env::temp_dir().join(format!("firesteel-doc-bytes-{}.bin", std::process::id()));
    /// std::fs::write(&path, [1, 2, 3])?;
    /// assert_eq!(ctx.binary_files(path.to_str().unwrap())?.collect()?[0].1, [1, 2, 3]);
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn binary_files(&self, path: &str) -> Result<WholeFiles<Vec<u8>>> {
        Ok(self.whole_files(&expand(path, self.input_depth())?))
    }

    #[track_caller]
    fn whole_files<C: Content>(&self, files: &[InputFile]) -> WholeFiles<C> {
        let groups = group_files(files, self.default_min_partitions() as usize);
        let handle = RddHandle::builder(self.driver(), C::OPERATOR, groups.len() as u32);
        let groups = PartitionValues::new(groups);
        let handle = handle.partition_data(groups.data()).build();
        WholeFiles { handle, groups, options: self.read_options(), content: std::marker::PhantomData }
    }
}

impl<C: Content> Rdd for WholeFiles<C> {
    type Item = (String, C);

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = Self::Item> + 'a {
        let files = self.groups.get(&self.handle, partition, task);
        files.iter().filter_map(|file| {
            task.check();
            task.count_input(1, file.length);
            let content = C::read(&FileLocation(&file.location, self.options));
            Some((file.location.to_string(), or_abort(content, self.handle.id())?))
        })
    }
}

impl<C: 'static> Ship for WholeFiles<C> {
    fn freeze(&self, out: &mut crate::ship::Frozen) -> Result<(), crate::ship::ShipError> {
        self.handle.freeze(out)?;
        self.groups.freeze(out)?;
        out.value(&self.options)
    }

    fn thaw(input: &mut crate::ship::Thawing<'_>) -> Result<Self, crate::ship::ShipError> {
        let (handle, groups) = (RddHandle::thaw(input)?, PartitionValues::thaw(input)?);
        Ok(Self { handle, groups, options: input.value()?, content: std::marker::PhantomData })
    }
}
