//! RDDs whose rows are pairs of a key and a value: one adaptor per file.

mod cogroup;
mod combine;
mod combined;
mod default_partitioner;
mod input;
mod join;
mod pair_rdd;
mod with_pairs;

pub use cogroup::{Cogroup, Cogroup3, Cogroup4};
pub use combine::Combiner;
pub(crate) use combine::{Combine, MapSideCombine, Reduce};
pub use combined::Combined;
pub(crate) use default_partitioner::default_partitioner;
pub(crate) use input::Input;
pub use join::{FullOuter, Inner, Join, JoinKind, JoinRdd, LeftOuter, RightOuter, SubtractByKey};
pub(crate) use join::{Lent, Table, rows_without};
pub use pair_rdd::PairRdd;
