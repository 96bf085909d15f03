//! Rows that do not fit in memory: tables by key and sorted rows that go on on disk.
//!
//! [`SpillTable`] keeps a state for each key and splits itself over files by hash when memory is short; [`SpillSort`]
//! writes sorted runs and merges them; [`Kept`] rows are read several times. All look every few rows, with a [`Watch`],
//! whether the task is still within its share of the memory; as long as it is, they are a plain hash table and plain
//! vectors.

mod combine_table;
mod fold;
mod kept;
mod lookup;
mod row_file;
mod sort;
mod split_files;
mod table;
mod watch;

pub(crate) use combine_table::{CombineTable, PREFETCH_ROWS, Places, bring_into, bytes_of};
pub(crate) use fold::Fold;
pub(crate) use kept::Kept;
pub(crate) use lookup::{Borrowed, Lookup, Owned};
pub(crate) use row_file::{RowFile, RowFileWriter};
pub(crate) use sort::SpillSort;
use split_files::SplitFiles;
pub(crate) use table::{SpillTable, TableRows};
pub(crate) use watch::{Size, Watch};
