//! What a master stores so that another, or the same after a restart, can take over.
//!
//! [`Store`] keeps one object under one name: applications, drivers and workers, as
//! [`StoredObject`](firesteel_scheduler::master::StoredObject)s. [`FileStore`] keeps each in a file of its own;
//! [`NoStore`] keeps nothing, so that a restarted master begins with an empty cluster. When to store what is decided by
//! the master's machine.

mod error;
mod file_name;
mod file_store;
pub(crate) mod form;
mod no_store;

pub use error::StoreError;
pub use file_store::FileStore;
pub use form::Compression;
pub use no_store::{NoStore, Store};
