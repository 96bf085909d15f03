//! Where the outputs of map tasks are, and how large.
//!
//! [`MapOutputTracker`] is the driver's record: for each shuffle and each map partition the executor that holds
//! the output and the size of every block in it. [`MapOutputClient`] is an executor's cache of the driver's
//! tables. Both are plain data structures: who sends the tables, makes and destroys their broadcasts and wakes
//! the waiting tasks is not decided here.

mod client;
mod config;
mod groups;
mod input;
mod queries;
mod shuffle;
mod size_code;
mod sizes;
mod status;
mod table;
mod tracker;

#[cfg(test)]
mod tests;

pub use client::{Lookup, MapOutputClient, OnTable};
pub use config::{MapOutputConfig, MapOutputError};
pub use input::{BlockRef, ExecutorBlocks};
pub use shuffle::{Registered, Relocated};
pub use sizes::{BlockSizes, SizeLimits};
pub use status::{MapStatus, OutputLocation};
pub use table::{
    MapTable, ServedTable, TableBroadcastId, TableCache, TableError, TableLookup, decode_table, encode_table,
};
pub use tracker::MapOutputTracker;
