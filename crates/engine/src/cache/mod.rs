//! Partitions that are kept once computed.

mod store;

pub(crate) use store::BlockStore;
