//! RDDs whose rows are pairs of a key and a value: one adaptor per file.

mod combine;
mod combined;
mod default_partitioner;
mod input;
mod pair_rdd;
mod with_pairs;

pub use combine::Combiner;
pub(crate) use combine::{Combine, MapSideCombine, Reduce};
pub use combined::Combined;
pub(crate) use default_partitioner::default_partitioner;
pub(crate) use input::Input;
pub use pair_rdd::PairRdd;
