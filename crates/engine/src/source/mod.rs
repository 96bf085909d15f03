//! Where rows come from.

mod parallelize;
mod partition_values;
mod range;

pub use parallelize::Parallelize;
pub(crate) use partition_values::{NO_PARTITIONS, PartitionValues};
pub use range::{Range, RangeNumber};
