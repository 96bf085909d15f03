//! Global synchronization of the tasks of a barrier stage attempt.
//!
//! A barrier task may call `barrier` or `all_gather`: the call returns when every task of the stage attempt has
//! made it. [`BarrierCoordinator`] collects the calls ([`BarrierEvent`]) and answers them ([`BarrierEffect`]). It
//! neither starts nor kills tasks; a stage attempt whose sync failed is retried by the DAG scheduler.

mod coordinator;
mod message;
mod waiters;

#[cfg(test)]
mod tests;

pub use coordinator::{BarrierConfig, BarrierCoordinator};
pub use message::{
    BarrierEffect, BarrierEvent, IgnoredBarrierEvent, SyncCall, SyncFailure, SyncReply, SyncRequest,
};
