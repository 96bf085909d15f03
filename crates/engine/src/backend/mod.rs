//! Where tasks run: the scheduler's arms.

mod local;
mod standalone;

pub(crate) use local::LocalBackend;
pub(crate) use standalone::Cluster;
