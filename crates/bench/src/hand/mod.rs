//! What programs without an engine are built from: two threads, rows dealt between them, hash tables.
//!
//! A workload's `limit` is the same job as a competent engineer would write it for two cores, knowing the types and the
//! operators but not the data: keys are hashed where the engine hashes them, even if they happen to be dense. Nothing
//! survives a failure, leaves the process or spills, unless the workload is about that.

mod aggregate;
mod exchange;
mod group;
mod join;
mod pool;
mod threads;

pub use aggregate::{Table, sum_by_key};
pub use exchange::{bucket_of, exchange};
pub use group::Groups;
pub use join::{Lookup, join};
pub use pool::{Pool, Task};
pub use threads::{THREADS, both, share};
