//! The file layer below the sources and sinks of RDDs: from what a user writes to bytes, lines and rows, and back.
//!
//! The way of an input: a [`Location`] or pattern is expanded to files by [`expand()`], the files are cut into
//! [`FileSplit`]s, one for each task, and a reader gives a split's content: [`LineReader`], [`RecordReader`],
//! [`ObjectReader`] or [`read_bytes`]. The way of an output: an [`OutputFolder`] is made once, each task writes an
//! [`OutputFile`] under a name of its own, and the driver publishes those that count, or gives the folder up as a whole.
//!
//! Everything blocks; remote stores are driven by a small runtime inside. Nothing here knows of RDDs, tasks or the
//! scheduler, and bad input of any kind is an [`IoError`], never a panic.

mod cloud;
mod codec;
mod error;
mod expand;
mod lines;
mod list;
mod location;
#[cfg(feature = "lz4")]
mod lz4;
mod object_file;
mod output;
mod pattern;
mod records;
mod source;
mod split;
#[cfg(test)]
mod tests;
mod whole;

pub use codec::Codec;
pub use error::IoError;

pub use expand::{Depth, InputFile, expand, expand_decoded};
pub use lines::LineReader;
pub use list::{list, look_up};
pub use location::Location;
pub use object_file::{Compression, ObjectReader, ObjectWriter};
pub use output::{Note, OutputFile, OutputFolder, OutputOptions, SUCCESS, StagedFile, part_name};
pub use records::RecordReader;
pub use source::ReadOptions;
pub use split::{FileSplit, group_files, plan_record_splits, plan_splits};
pub use whole::{read_bytes, read_text};
