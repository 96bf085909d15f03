//! Broadcast variables: values that every task can read.

mod handle;

pub use handle::Broadcast;
