//! Writing a folder of part files so that nobody sees half of one: [`OutputFolder`] and [`OutputFile`].
//!
//! ```text
//! driver   OutputFolder::create ─────────────────────────── finish (`_SUCCESS`) or abort (all removed)
//! task        OutputFile::create ── write … ── commit (appears, unless an earlier attempt's file is there)
//!                                          └─ drop (nothing is left)
//! ```
//!
//! On this machine a file is written in `_temporary` inside the folder and linked to its name at commit. On a remote
//! store it is one put, or a multipart upload that is completed at commit. Which attempt may commit is decided
//! elsewhere; here the first one wins.

mod file;
mod folder;
mod local;
mod remote;
#[cfg(test)]
mod tests;

pub(crate) use file::{Committed, OutputFile, OutputOptions, part_name};
pub(crate) use folder::OutputFolder;
