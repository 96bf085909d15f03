//! Pools: in which order task sets are offered resources.
//!
//! The main type is [`PoolTree`]: a root, pools below it and task sets as leaves, each pool ordering its
//! children by its own [`SchedulingMode`]. An offer round walks the task sets that have pending tasks in the
//! order that held when the round began, and the tree keeps that order up to date as counts change, so that
//! nothing is ever sorted. It does not know tasks, executors or resources: its owner reports how many tasks
//! of a set run and whether it has more to launch. Nor does it read the allocation file: [`PoolText`] takes the
//! texts a parser found in it.

mod description;
mod mode;
mod names;
mod order;
mod queue;
mod round;
mod tree;
mod view;

#[cfg(test)]
mod tests;

pub use description::{DefaultedField, PoolDescription, PoolField, PoolText};
pub use mode::{SchedulingMode, UnsupportedMode};
pub use tree::{DEFAULT_POOL, PoolError, PoolTree, SetKey};
pub use view::PoolView;
