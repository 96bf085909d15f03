//! Broadcast variables: values that every task can read.

mod store;

pub(crate) use store::BroadcastStore;
