//! How a reduce task gets its blocks: many at a time, from many peers, with a bound on what is on the way.
//!
//! [`ShuffleFetcher`] is an iterator over the blocks of a plan, in the order in which they arrive. What the bytes mean
//! is the caller's: a function of the caller checks whether a block is intact, and the caller decodes it. Where the
//! blocks are is in the plan; this module does not look it up.

mod block;
mod error;
mod fetcher;
mod plan;
mod threads;
mod window;
mod worker;

#[cfg(test)]
mod tests;

pub use block::FetchedBlock;
pub use error::{Diagnosis, FetchCause, FetchError};
pub use fetcher::{FetchConf, FetchStats, LocalBlocks, MakeFile, ShuffleFetcher, Transport, Verify};
pub use plan::{FetchLimits, PeerBlocks};
pub use threads::FetchThreads;
