//! Counting different values in little memory.
//!
//! [`HyperLogLogPlusPlus`] is the sketch: exact while it has seen few values ([`few_hashes`]), then an array of
//! registers whose estimate ([`estimate`]) has a relative error chosen beforehand.

mod error;
mod estimate;
mod few_hashes;
mod sketch;

pub use error::HyperLogLogError;
pub use sketch::HyperLogLogPlusPlus;
