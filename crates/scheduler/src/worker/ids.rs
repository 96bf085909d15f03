//! The names of a worker's own processes.

use std::fmt;

use firesteel_types::{DriverId, ExecutorKey};
use serde::{Deserialize, Serialize};

/// One start of a process by this worker. Never used twice, so news of an earlier start cannot be mistaken.
///
/// Not the operating system's number, which is known only afterwards and is used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessId(pub u64);

impl fmt::Display for ProcessId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "process-{}", self.0)
    }
}

impl fmt::Debug for ProcessId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// What a process was started for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ProcessOwner {
    /// It is an executor.
    Executor(ExecutorKey),
    /// It is a driver, or one more run of a supervised one.
    Driver(DriverId),
}
