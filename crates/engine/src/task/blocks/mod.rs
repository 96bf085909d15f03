//! Partitions that are kept once computed.
//!
//! [`BlockStore`] is the block manager of a process with what tasks and the driver need of it; [`keep`] gives the rows
//! of a partition from there, or computes and stores them; [`KeptRows`](rows::KeptRows) are those rows.

mod budget;
mod format;
mod here_only;
mod keep;
mod rows;
mod store;
mod unroll;

pub(crate) use here_only::{NoPeers, ToDriver};
pub(crate) use keep::{keep, kept};
pub(crate) use store::BlockStore;
