//! The actions that save.

use std::fmt::Display;

use super::save::{Lines, save, save_objects};
use crate::{
    Codec, Result,
    job::{Call, JobHandle},
    rdd::Rdd,
};
use firesteel_files::OutputOptions;

/// Writes the rows of an RDD to files: `part-00000` and so on, one for each partition, and `_SUCCESS` when all are there.
///
/// The folder must not exist; it may be local or in any store that [`text_file`](crate::Context::text_file) reads but
/// `http://`. Tasks write under names of their own, and when all have succeeded the driver gives exactly the files that
/// count their names. So nothing of an attempt that failed or was run again ever shows, and a save that fails leaves
/// nothing. The driver must see what the executors write: without an object store that takes a file system that all
/// machines share.
///
/// On an object store files are multipart uploads that the driver completes. Those of attempts that died are never
/// completed and never show, but the store keeps their parts until it is told otherwise: give the bucket a rule that
/// drops incomplete uploads after some days.
pub trait SaveRdd: Rdd {
    /// Saves each row as a line of text.
    ///
    /// ```
    /// use firesteel::prelude::*;
    ///
    /// let ctx = Context::local(2)?;
    /// let folder = std::env::temp_dir().join(format!("firesteel-doc-text-{}", std::process::id()));
    /// let path = folder.to_str().unwrap();
    /// ctx.range_into(0..4, 2).save_as_text_file(path)?;
    /// assert!(folder.join("_SUCCESS").exists());
    /// assert_eq!(ctx.text_file(path)?.collect()?, ["0", "1", "2", "3"]);
    /// assert!(ctx.range(0..4).save_as_text_file(path).is_err(), "the folder exists");
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    fn save_as_text_file(&self, path: &str) -> Result<()>
    where
        Self::Item: Display,
    {
        self.save_as_text_file_async(path).wait()
    }

    /// [`save_as_text_file`](SaveRdd::save_as_text_file) in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let folder = std::env::temp_dir().join(format!("firesteel-doc-text-async-{}", std::process::id()));
    /// ctx.range(0..4).save_as_text_file_async(folder.to_str().unwrap()).wait()?;
    /// assert!(folder.join("_SUCCESS").exists());
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    fn save_as_text_file_async(&self, path: &str) -> JobHandle<()>
    where
        Self::Item: Display,
    {
        save(Call::new("save_as_text_file"), self, path, Lines(OutputOptions::default()), Vec::new())
    }

    /// [`save_as_text_file`](SaveRdd::save_as_text_file), compressed.
    ///
    /// ```
    /// use firesteel::{Codec, prelude::*};
    ///
    /// let ctx = Context::local(2)?;
    /// let folder = std::env::temp_dir().join(format!("firesteel-doc-gz-{}", std::process::id()));
    /// let path = folder.to_str().unwrap();
    /// ctx.range_into(0..4, 1).save_as_compressed_text_file(path, Codec::Gzip)?;
    /// assert!(folder.join("part-00000.gz").exists());
    /// assert_eq!(ctx.text_file(path)?.count()?, 4);
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    fn save_as_compressed_text_file(&self, path: &str, codec: Codec) -> Result<()>
    where
        Self::Item: Display,
    {
        self.save_as_compressed_text_file_async(path, codec).wait()
    }

    /// [`save_as_compressed_text_file`](SaveRdd::save_as_compressed_text_file) in the background.
    ///
    /// ```
    /// # use firesteel::{Codec, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let folder = std::env::temp_dir().join(format!("firesteel-doc-gz-async-{}", std::process::id()));
    /// let path = folder.to_str().unwrap();
    /// ctx.range_into(0..4, 1).save_as_compressed_text_file_async(path, Codec::Gzip).wait()?;
    /// assert!(folder.join("part-00000.gz").exists());
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    fn save_as_compressed_text_file_async(&self, path: &str, codec: Codec) -> JobHandle<()>
    where
        Self::Item: Display,
    {
        let options = OutputOptions { codec: Some(codec), ..OutputOptions::default() };
        save(Call::new("save_as_compressed_text_file"), self, path, Lines(options), Vec::new())
    }

    /// Saves the rows in serialized form, for [`object_file`](crate::Context::object_file) to read.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let folder = std::env::temp_dir().join(format!("firesteel-doc-save-objects-{}", std::process::id()));
    /// let path = folder.to_str().unwrap();
    /// ctx.parallelize(vec![(1, Some('a')), (2, None)]).save_as_object_file(path)?;
    /// assert_eq!(ctx.object_file::<(i32, Option<char>)>(path)?.collect()?, [(1, Some('a')), (2, None)]);
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    fn save_as_object_file(&self, path: &str) -> Result<()> {
        self.save_as_object_file_async(path).wait()
    }

    /// [`save_as_object_file`](SaveRdd::save_as_object_file) in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let folder = std::env::temp_dir().join(format!("firesteel-doc-objects-async-{}", std::process::id()));
    /// let path = folder.to_str().unwrap();
    /// ctx.range(0..4_u64).save_as_object_file_async(path).wait()?;
    /// assert_eq!(ctx.object_file::<u64>(path)?.sum()?, 6);
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    fn save_as_object_file_async(&self, path: &str) -> JobHandle<()> {
        save_objects(Call::new("save_as_object_file"), self, path, Vec::new())
    }
}

impl<R: Rdd> SaveRdd for R {}
