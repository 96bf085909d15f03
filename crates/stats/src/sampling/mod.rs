//! Random choices among the rows of a partition, each fixed by a seed.
//!
//! The samplers ([`Bernoulli`], [`Poisson`], [`BernoulliCell`], [`StratifiedSampler`]) are small values that travel
//! with a task; each turns an iterator over a partition into a lazy iterator over its sample. [`Reservoir`] keeps
//! a fixed number of rows, [`TakeSamplePlan`] plans how to get an exact number out of a whole RDD.
//!
//! A sample depends on the seed and the order of the rows only: logarithms come from `libm` and not from the
//! system, so that a task that runs again on another machine picks the same rows. Nothing here knows RDDs; a
//! caller gives each partition its own seed with [`derive_seed`].

mod bernoulli;
mod cell;
mod copies;
mod draw;
mod error;
mod poisson;
mod poisson_counts;
mod reservoir;
mod sampler;
mod seed;
mod strata;
mod take_sample;

pub use bernoulli::{Bernoulli, BernoulliSample};
pub use cell::{BernoulliCell, CellSample};
pub use error::SamplingError;
pub use poisson::{Poisson, PoissonSample};
pub use reservoir::Reservoir;
pub use sampler::{Replacement, Sampled, Sampler};
pub use seed::derive_seed;
pub use strata::{StratifiedSample, StratifiedSampler};
pub use take_sample::{TakeSamplePlan, compute_fraction_for_sample_size, draw_exactly};
