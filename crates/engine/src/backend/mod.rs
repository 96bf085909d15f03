//! Where tasks run: the scheduler's arms.

mod contract;
mod local;

pub(crate) use contract::SchedulerBackend;
pub(crate) use local::LocalBackend;
