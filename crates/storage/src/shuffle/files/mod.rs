//! The files of a shuffle on one disk: what map tasks leave, and what tasks put aside when memory is short.
//!
//! [`MapOutputWriter`] writes the output of one map task: a data file with the blocks of all reduce partitions in order,
//! each a sequence of [frames](crate::codec), and an index of where they begin and what their checksums are. The index
//! comes last, so an output is there or it is not. [`MapOutputFile`] finds it again and gives blocks as a [`FileRange`],
//! which is read as rows, copied, or sent. A [`SpillWriter`] makes the same kind of file for the writer's own use.
//!
//! Does not know which partition a row belongs to, when to spill, or how to merge sorted runs.

mod error;
mod index;
mod map_output_file;
mod map_output_writer;
mod partitioned;
mod range;
mod spill;
mod summary;
#[cfg(test)]
mod tests;

pub use error::{Damage, ShuffleFileError};
pub use map_output_file::{MapOutputFile, remove_map_output, remove_shuffle};
pub use map_output_writer::{Committed, MapOutputWriter};
pub use range::{FileRange, RangeReader};
pub use spill::{SpillFile, SpillWriter};
pub use summary::Summary;
