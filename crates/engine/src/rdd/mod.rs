//! What an RDD is: the trait [`Rdd`], which every source and transformation implements with a type of its own, and the
//! [`RddHandle`] that is its place in the lineage.

mod contract;
mod partition_values;

pub use contract::Rdd;
pub(crate) use partition_values::PartitionValues;

pub use crate::driver::{HandleBuilder, Parent, RddHandle};
pub(crate) use crate::driver::{MAX_PARTITIONS, NO_PARTITIONS, PartitionData, debug_as_handle};
