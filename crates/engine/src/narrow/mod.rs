//! The narrow transformations, which need no shuffle: [`Transform`], and one adaptor per file.

mod boxed;
mod cartesian;
mod coalesced;
mod debug_string;
#[cfg(test)]
mod determinism_tests;
mod filter;
mod flat_map;
mod glom;
mod map;
mod map_partitions;
mod persisted;
mod pipe;
mod pruned;
mod rows;
mod sample;
mod split;
mod transform;
mod union;
mod with;
mod zip;
mod zip_partitions;
mod zip_with_index;
mod zip_with_unique_id;

pub use boxed::BoxRdd;
pub use cartesian::Cartesian;
pub use coalesced::Coalesced;
pub use filter::Filter;
pub use flat_map::FlatMap;
pub use glom::Glom;
pub use map::Map;
pub use map_partitions::MapPartitions;
pub use persisted::Persisted;
pub use pipe::{Pipe, PipeCommand};
pub use pruned::Pruned;
pub use rows::Rows;
pub use sample::Sample;
pub use split::Split;
pub use transform::Transform;
pub use union::{Union, UnionMany};
pub use with::With;
pub use zip::Zip;
pub use zip_partitions::ZipPartitions;
pub use zip_with_index::ZipWithIndex;
pub use zip_with_unique_id::ZipWithUniqueId;
