//! Accumulators: values that tasks add to and only the driver reads.

mod registry;
mod task;

pub(crate) use registry::AccumulatorRegistry;
pub(crate) use task::{TaskAccumulators, Updates};
