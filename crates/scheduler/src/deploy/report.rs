//! What runs on a worker, as it tells a master.

use firesteel_types::{DriverId, ExecutorKey, ProfileId, WorkerId};
use serde::{Deserialize, Serialize};

use super::{resource_book::Grant, state::ExecutorState};

/// The executors and drivers of a worker that have not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerReport {
    /// The worker.
    pub worker: WorkerId,
    /// Its executors.
    pub executors: Vec<ExecutorReport>,
    /// Its drivers.
    pub drivers: Vec<DriverReport>,
}

/// One executor in a worker's list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorReport {
    /// Which.
    pub executor: ExecutorKey,
    /// Its resource profile.
    pub profile: ProfileId,
    /// What it holds.
    pub grant: Grant,
    /// How far it is. One whose end is ordered but not there yet is listed as killed.
    pub state: ExecutorState,
}

/// One driver in a worker's list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverReport {
    /// Which.
    pub driver: DriverId,
    /// What it holds.
    pub grant: Grant,
}
