//! What this machine has.

use std::thread;

use anyhow::{Context, Result};
use firesteel_scheduler::worker::WorkerConfig;
use firesteel_storage::memory::physical_memory;

/// The cores and mebibytes that a worker offers unless it is told otherwise.
pub(crate) fn default_resources() -> Result<(u32, u64)> {
    let cpus = thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
    let memory = physical_memory().context("cannot find out how much memory there is; give --memory")?;
    Ok(WorkerConfig::default_resources(cpus, memory >> 20))
}
