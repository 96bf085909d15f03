//! A naive model that watches a scheduler from outside.
//!
//! [`Judge`] sees the events that go in and the effects that come out, and panics when they cannot both be right.
//! It knows nothing of how decisions are made, only what must never happen.

mod ahead;
mod commits;
mod executors;
mod jobs;
mod outputs;
mod state;
mod stored;
mod tasks;

pub use ahead::AheadCounts;
pub use executors::Executor;
pub use state::Judge;
pub use tasks::{Attempt, Phase};
