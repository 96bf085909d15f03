//! Rows by key in several files, split by hash: [`SplitFiles`].

use super::{RowFile, RowFileWriter};
use crate::{data::Data, task::TaskContext};

/// Bits of the hash that one split looks at.
const BITS: u32 = 4;

/// The level of a file whose keys no split tells apart.
const LAST_LEVEL: u32 = u64::BITS / BITS;

/// Files for the rows of a table that does not fit, each for some of its keys. A file has all rows of its keys, so each
/// can be made a table of its own.
pub(crate) struct SplitFiles<T> {
    files: Vec<SplitFile<T>>,
    level: u32,
}

/// One of the files, and the hashes in it.
struct SplitFile<T> {
    rows: RowFileWriter<T>,
    first_hash: Option<u64>,
    has_others: bool,
}

impl<T: Data> SplitFiles<T> {
    /// Files for a split within `level` other splits.
    pub(crate) fn new(level: u32, task: &TaskContext) -> Self {
        let empty = || SplitFile { rows: RowFileWriter::new(task), first_hash: None, has_others: false };
        Self { files: (0..1 << BITS).map(|_| empty()).collect(), level }
    }

    /// Whether one more split would tell keys apart that differ in their hash.
    pub(crate) fn can_split(level: u32) -> bool {
        level < LAST_LEVEL
    }

    /// Appends a row whose key has this hash.
    pub(crate) fn push(&mut self, hash: u64, row: &T) {
        // The low bits chose the partition already, and the highest ones the place in the table.
        let spread = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left((self.level + 1) * BITS);
        let file = &mut self.files[(spread & ((1 << BITS) - 1)) as usize];
        file.has_others |= *file.first_hash.get_or_insert(hash) != hash;
        file.rows.push(row);
    }

    /// The files that have rows, with the level that a split of them has.
    ///
    /// One hash alone is most likely one key. Its rows would be written and read at each level and never get fewer, so
    /// such a file is at the last one already.
    pub(crate) fn finish(self, task: &TaskContext) -> impl Iterator<Item = (u32, RowFile<T>)> + use<T> {
        let next = self.level + 1;
        let files = self.files.into_iter().filter_map(|file| {
            let level = if file.has_others { next } else { LAST_LEVEL };
            Some((level, file.rows.finish()?))
        });
        let files: Vec<_> = files.collect();
        task.count_spill(files.iter().map(|(_, file)| file.bytes()).sum());
        files.into_iter()
    }
}
