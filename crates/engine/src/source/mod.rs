//! Where rows come from.

mod empty;
mod parallelize;
mod partition_values;
mod range;

pub use empty::Empty;
pub use parallelize::Parallelize;
pub(crate) use partition_values::PartitionValues;
pub use range::{Range, RangeNumber};
