//! Shuffles: what map tasks leave for reduce tasks, in memory or in files, here or in other processes.
//!
//! The map side of a shuffle is a stage of its own, kept without its types by a [`ShuffleHandle`](crate::ShuffleHandle); the reduce side
//! reads with a [`ShuffleRead`], whose type does not name what is behind the shuffle.

mod buckets;
mod map_task;
mod read;

pub(crate) use buckets::Buckets;
pub(crate) use map_task::{Deal, MapSide, MapTask};
pub(crate) use read::{Batch, ShuffleRead};
