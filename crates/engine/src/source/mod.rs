//! Where rows come from.

mod batches;
mod binary_records;
mod empty;
mod object_file;
mod parallelize;
mod range;
mod text_file;
mod whole_files;

pub(crate) use batches::{batches, or_abort};
pub use binary_records::BinaryRecords;
pub use empty::Empty;
pub use object_file::ObjectFile;
pub use parallelize::Parallelize;
pub use range::{Range, RangeNumber};
pub use text_file::TextFile;
pub use whole_files::{Content, WholeFiles};
