//! How keys are dealt to partitions.

mod any;
mod hash;
mod key;
mod order;
mod range;
mod total_ord;

pub use any::AnyPartitioner;
pub use hash::HashPartitioner;
pub(crate) use hash::hash_of;
pub use key::{KeyPartitioner, Partitioner};
pub use order::Order;
pub use range::RangePartitioner;
pub use total_ord::TotalOrd;
