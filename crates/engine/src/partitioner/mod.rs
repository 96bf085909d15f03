//! How keys are dealt to partitions.

mod any;
mod hash;
mod key;

pub use any::AnyPartitioner;
pub use hash::{HashPartitioner, hash_of};
pub use key::{KeyPartitioner, Partitioner};
