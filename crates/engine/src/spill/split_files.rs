//! Rows by key in several files, split by hash: [`SplitFiles`].

use super::{RowFile, RowFileWriter};
use crate::{data::Data, executor::TaskContext};

/// Bits of the hash that one split looks at.
const BITS: u32 = 4;

/// How many splits one counts for that split nothing.
const IN_VAIN: u32 = 6;

/// Files for the rows of a table that does not fit, each for some of its keys. A file has all rows of its keys, so each
/// can be made a table of its own.
pub(crate) struct SplitFiles<T> {
    files: Vec<RowFileWriter<T>>,
    level: u32,
}

impl<T: Data> SplitFiles<T> {
    /// Files for a split within `level` other splits.
    pub(crate) fn new(level: u32, task: &TaskContext) -> Self {
        Self { files: (0..1 << BITS).map(|_| RowFileWriter::new(task)).collect(), level }
    }

    /// Whether one more split would tell keys apart that differ in their hash.
    pub(crate) fn can_split(level: u32) -> bool {
        (level + 1) * BITS <= u64::BITS
    }

    /// Appends a row whose key has this hash.
    pub(crate) fn push(&mut self, hash: u64, row: &T) {
        // The low bits chose the partition already, and the highest ones the place in the table.
        let spread = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left((self.level + 1) * BITS);
        self.files[(spread & ((1 << BITS) - 1)) as usize].push(row);
    }

    /// The files that have rows, with the level that a split of them has.
    pub(crate) fn finish(self, task: &TaskContext) -> impl Iterator<Item = (u32, RowFile<T>)> + use<T> {
        let files: Vec<RowFile<T>> = self.files.into_iter().filter_map(RowFileWriter::finish).collect();
        // Rows that went to one file all the same are most likely of one key, which no split tells apart.
        let level = self.level + if files.len() == 1 { IN_VAIN } else { 1 };
        task.count_spill(files.iter().map(RowFile::bytes).sum());
        files.into_iter().map(move |file| (level, file))
    }
}
