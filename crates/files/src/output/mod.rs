//! Writing a folder of part files so that a reader sees all of it or knows that it does not: [`OutputFolder`] and
//! [`OutputFile`].
//!
//! ```text
//! driver   OutputFolder::create ──────────────────────────────────┬─ publish: exactly the reported files, `_SUCCESS`
//! task        OutputFile::create ── write … ── close ── report ───┤
//!                                └─ drop (nothing is left)        └─ abort: all removed
//! ```
//!
//! Tasks write and the driver publishes: the files whose reports it has accepted, one for each partition, and no other.
//! So a file of an attempt that died before its report arrived never shows, and neither does one of a run whose input
//! was another. On this machine a file is written in `_temporary` inside the folder and renamed. On a remote store it is
//! a multipart upload, which the task begins and the driver completes. Which attempt may report is decided elsewhere.

mod file;
mod folder;
mod local;
mod staged;
#[cfg(test)]
mod tests;

pub use file::{OutputFile, OutputOptions, part_name};
#[cfg(feature = "cloud")]
pub(crate) use folder::TEMPORARY;
pub use folder::{Note, OutputFolder, SUCCESS};
pub(super) use staged::StagedContent;
pub use staged::StagedFile;
