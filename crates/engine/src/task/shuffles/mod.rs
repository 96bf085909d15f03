//! The map outputs of a process, in memory and in files, and the way to those of others.

mod map_output;
mod remote;
mod store;

pub(crate) use map_output::{Dealt, FileBlock, MapBlocks, RowSink, TypedBuckets};
pub(crate) use remote::{Arrivals, MapTables, PlacedBlocks, RemoteShuffles};
pub(crate) use store::{KeptOutput, MapPlace, ShuffleConf, ShuffleStore};
