//! Which partitions `coalesce` puts together.
//!
//! [`group_neighbours`] cuts a row of partitions into even pieces. [`group_by_locality`] also looks at where the
//! data is. Neither moves data: a group is computed by one task that reads its partitions one after another.

mod hosts;
mod locality;
mod neighbours;

pub use locality::{DEFAULT_BALANCE_SLACK, PartitionGroup, group_by_locality};
pub use neighbours::{CoalesceError, group_neighbours};
