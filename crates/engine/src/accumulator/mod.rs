//! Accumulators: values that tasks add to and only the driver reads.
//!
//! A task adds to a copy of its own that begins at zero; the copy travels with the report; the scheduler decides if it
//! counts. So a retried or speculative task of a result stage counts once, and a failed attempt never does.

mod handle;

pub use handle::Accumulator;
