//! Where tasks run: the scheduler's arms.

mod contract;
mod local;
mod standalone;

pub(crate) use contract::{Launch, PreparedStage, SchedulerBackend, ShortTables, TasksRun};
pub(crate) use local::LocalBackend;
pub(crate) use standalone::Cluster;
