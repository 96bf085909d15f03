//! The local folders of a process: used in turn, avoided when they fail, gone when the process is.
//!
//! [`LocalDirs`] has one private folder below each parent that `firesteel.local.dir` names. A file gets a place in one of
//! them: either by its name, or first as a [`TempFile`] that takes its name when it is whole. Failures are a
//! [`DiskError`], which says whether the disk is full, so that a task can be tried elsewhere.
//!
//! Does not know what is in the files.

mod error;
mod folder;
mod local_dirs;
mod orphans;
mod regular_file;
#[cfg(test)]
pub(crate) mod small_disk;
mod temp_file;
#[cfg(test)]
mod tests;

pub use error::{DiskError, FolderFailure};
pub use local_dirs::LocalDirs;
pub use regular_file::open_regular;
pub use temp_file::TempFile;
