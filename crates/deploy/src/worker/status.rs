//! How things are with a worker, as plain data for pages: [`WorkerStatus`].

use firesteel_scheduler::{
    deploy::{ExecutorState, Grant},
    worker::{FinishedDriver, FinishedExecutor, Worker},
};
use firesteel_types::{DriverId, ExecutorKey, WorkerId};
use serde::{Deserialize, Serialize};

/// Everything that a worker's pages show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Its id, once it has started.
    pub id: Option<WorkerId>,
    /// Where it listens.
    pub url: String,
    /// The master whose orders count.
    pub master: Option<String>,
    /// What it offers.
    pub resources: Grant,
    /// Cores in use.
    pub cores_used: u64,
    /// Memory in use, in mebibytes.
    pub memory_used_mib: u64,
    /// Its executors.
    pub executors: Vec<WorkerExecutor>,
    /// Its drivers.
    pub drivers: Vec<WorkerDriver>,
    /// The executors that ended last, oldest first.
    pub finished_executors: Vec<FinishedExecutor>,
    /// The drivers that ended last, oldest first.
    pub finished_drivers: Vec<FinishedDriver>,
}

/// An executor that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerExecutor {
    /// Which.
    pub executor: ExecutorKey,
    /// How far it is.
    pub state: ExecutorState,
    /// What it holds.
    pub grant: Grant,
}

/// A driver that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerDriver {
    /// Which.
    pub driver: DriverId,
    /// What it holds.
    pub grant: Grant,
}

/// Looks at everything.
pub(super) fn status(worker: &Worker, url: &str) -> WorkerStatus {
    let (cores_used, memory_used_mib) = worker.held();
    let (executors, drivers) =
        worker.live().map_or_else(Default::default, |live| (live.executors, live.drivers));
    WorkerStatus {
        id: worker.id().cloned(),
        url: url.to_owned(),
        master: worker.master().map(ToString::to_string),
        resources: worker.resources().clone(),
        cores_used,
        memory_used_mib,
        executors: executors
            .into_iter()
            .map(|report| WorkerExecutor {
                executor: report.executor,
                state: report.state,
                grant: report.grant,
            })
            .collect(),
        drivers: drivers
            .into_iter()
            .map(|report| WorkerDriver { driver: report.driver, grant: report.grant })
            .collect(),
        finished_executors: worker.finished_executors().cloned().collect(),
        finished_drivers: worker.finished_drivers().cloned().collect(),
    }
}
