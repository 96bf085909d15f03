//! RDDs whose rows are pairs of a key and a value, and what brings rows into other partitions: one adaptor per file.
//!
//! `README.md` beside this file explains how keyed operators work.

mod cogroup;
mod combined;
mod combiner;
mod combining;
mod default_partitioner;
mod distinct;
mod filter_by_range;
mod gathered;
mod group;
mod grouped;
mod input;
mod join;
mod locally;
mod map_reduce;
mod map_values;
mod ordered;
mod pair_rdd;
mod partitioned;
mod pieces;
mod project;
mod range_sample;
mod rearrange;
mod repartitioned;
mod sample_by_key;
mod sorted;
mod sorted_in_ranges;
mod with_pairs;

pub(crate) use cogroup::two_sides;
pub use cogroup::{Cogroup, Cogroup3, Cogroup4};
pub use combined::Combined;
pub use combiner::Combiner;
pub(crate) use combiner::{Aggregate, ByParts, CountApproxDistinct, Reduce};
pub(crate) use combining::MapSideCombine;
pub(crate) use default_partitioner::default_partitioner;
pub use distinct::Distinct;
pub use filter_by_range::FilterByRange;
#[cfg(test)]
pub(crate) use group::{ByKey, Filling};
pub use group::{Group, GroupValues};
pub use grouped::Grouped;
pub(crate) use input::Input;
pub use join::{FullOuter, Inner, Join, JoinKind, JoinRdd, LeftOuter, RightOuter, SubtractByKey};
pub(crate) use join::{Lent, Loaded, Table, rows_without};
pub use map_reduce::Emit;
pub use map_values::{FlatMapValues, MapValues};
pub use ordered::OrderedPairRdd;
pub use pair_rdd::PairRdd;
pub use partitioned::Partitioned;
pub use project::{Keys, Values};
pub use rearrange::Rearrange;
pub use repartitioned::Repartitioned;
pub use sample_by_key::SampleByKey;
pub use sorted::Sorted;

#[cfg(test)]
mod tests;
