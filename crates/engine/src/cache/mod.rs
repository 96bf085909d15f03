//! Partitions that are kept once computed.

mod persisted;
mod store;

pub use persisted::Persisted;
pub(crate) use persisted::{kept_rows, read};
pub(crate) use store::{BlockStore, Lookup};
