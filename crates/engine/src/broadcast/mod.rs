//! Broadcast variables: values that every task can read.

mod handle;
mod store;

pub use handle::Broadcast;
pub(crate) use store::BroadcastStore;
