//! The blocks of one process by id, in memory and on disk, and who holds which in the application.

mod id;

pub use id::{BlockId, BroadcastId};
