//! How things are with a master, as plain data for pages: [`MasterStatus`].
//!
//! Commands are left out, since their environment may hold secrets.

use std::collections::BTreeMap;

use firesteel_scheduler::{
    deploy::{Addresses, ExecutorState, Grant, WorkerDescription},
    master::{
        AppInfo, AppState, CompletedApp, DriverOutcome, DriverPlace, Master, RecoveryState, StoredDriver,
        WorkerInfo, WorkerState,
    },
};
use firesteel_types::{AppId, DriverId, ExecutorId, ExecutorKey, Host, Timestamp, WorkerId};
use serde::{Deserialize, Serialize};

/// Everything that a master's pages show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MasterStatus {
    /// Its address as users write it.
    pub url: String,
    /// How far it is on its way to lead.
    pub state: RecoveryState,
    /// The workers, those lost lately included.
    pub workers: Vec<WorkerLine>,
    /// The live applications, in the order they registered.
    pub apps: Vec<AppStatus>,
    /// The drivers that have not ended.
    pub drivers: Vec<DriverStatusLine>,
    /// The applications that ended last, oldest first.
    pub completed_apps: Vec<CompletedApp>,
    /// The drivers that ended last, oldest first.
    pub completed_drivers: Vec<DriverStatusLine>,
}

/// A worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerLine {
    /// Its id.
    pub id: WorkerId,
    /// Its host.
    pub host: Host,
    /// Its port.
    pub port: u16,
    /// Where its pages are.
    pub page: Option<String>,
    /// How it does.
    pub state: WorkerLineState,
    /// What it offers.
    pub resources: Grant,
    /// Cores in use.
    pub cores_used: u32,
    /// Memory in use, in mebibytes.
    pub memory_used_mib: u64,
    /// When it last gave a sign of life.
    pub last_heartbeat: Timestamp,
    /// Its executors.
    pub executors: Vec<ExecutorKey>,
    /// Its drivers.
    pub drivers: Vec<DriverId>,
}

/// How a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkerLineState {
    /// It may be given work.
    Alive,
    /// It has not answered this master yet.
    Unknown,
    /// It finishes what it has and leaves.
    Decommissioned,
    /// It was lost.
    Dead,
}

/// A live application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppStatus {
    /// Its id.
    pub id: AppId,
    /// Its name.
    pub name: String,
    /// Whether it has executors.
    pub state: AppState,
    /// When it registered.
    pub registered: Timestamp,
    /// Cores it has.
    pub cores_granted: u64,
    /// Cores it may still take.
    pub cores_left: u32,
    /// Memory of an executor, in mebibytes.
    pub executor_memory_mib: u64,
    /// How many executors it wants.
    pub executor_limit: u32,
    /// Its executors.
    pub executors: Vec<ExecutorStatus>,
    /// Where its driver listens.
    pub driver_url: String,
    /// Where its pages are.
    pub page: Option<String>,
}

/// An executor of an application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorStatus {
    /// Its number.
    pub id: ExecutorId,
    /// Its worker.
    pub worker: WorkerId,
    /// How it does.
    pub state: ExecutorState,
    /// Its cores.
    pub cores: u32,
    /// Its memory in mebibytes.
    pub memory_mib: u64,
    /// Addresses of custom resources.
    pub addresses: Addresses,
}

/// A driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverStatusLine {
    /// Its id.
    pub id: DriverId,
    /// When it was submitted.
    pub submitted: Timestamp,
    /// Its worker, when it has or had one.
    pub worker: Option<WorkerId>,
    /// Its cores.
    pub cores: u32,
    /// Its memory in mebibytes.
    pub memory_mib: u64,
    /// Whether it is started again after it failed.
    pub supervise: bool,
    /// When and how it ended.
    pub ended: Option<(Timestamp, DriverOutcome)>,
}

/// Looks at everything.
pub(super) fn status(master: &Master, url: &str) -> MasterStatus {
    let workers: BTreeMap<&WorkerId, &WorkerInfo> =
        master.workers().map(|worker| (worker.id(), worker)).collect();
    let dead = master.dead_workers().map(|dead| dead_worker(&dead.description, dead.last_heartbeat));
    MasterStatus {
        url: url.to_owned(),
        state: master.state(),
        workers: workers.values().map(|worker| live_worker(worker)).chain(dead).collect(),
        apps: master.apps().map(|app| app_status(app, &workers)).collect(),
        drivers: master
            .drivers()
            .map(|driver| {
                let worker = match &driver.place {
                    DriverPlace::Running { worker } => Some(worker.clone()),
                    DriverPlace::Waiting | DriverPlace::Unclaimed => None,
                };
                driver_line(&driver.stored, worker, None)
            })
            .collect(),
        completed_apps: master.completed_apps().cloned().collect(),
        completed_drivers: master
            .completed_drivers()
            .map(|driver| {
                let ended = Some((driver.ended, driver.outcome.clone()));
                driver_line(&driver.stored, driver.worker.clone(), ended)
            })
            .collect(),
    }
}

fn live_worker(worker: &WorkerInfo) -> WorkerLine {
    let resources = worker.description.resources.clone();
    WorkerLine {
        state: match worker.state {
            WorkerState::Alive => WorkerLineState::Alive,
            WorkerState::Unknown => WorkerLineState::Unknown,
            WorkerState::Decommissioned => WorkerLineState::Decommissioned,
        },
        cores_used: resources.cores - worker.cores_free(),
        memory_used_mib: resources.memory_mib - worker.memory_free_mib(),
        executors: worker.executors.keys().cloned().collect(),
        drivers: worker.drivers.keys().cloned().collect(),
        ..dead_worker(&worker.description, worker.last_heartbeat)
    }
}

fn dead_worker(worker: &WorkerDescription, last_heartbeat: Timestamp) -> WorkerLine {
    WorkerLine {
        id: worker.id.clone(),
        host: worker.host.clone(),
        port: worker.port,
        page: worker.page.clone(),
        state: WorkerLineState::Dead,
        resources: worker.resources.clone(),
        cores_used: 0,
        memory_used_mib: 0,
        last_heartbeat,
        executors: Vec::new(),
        drivers: Vec::new(),
    }
}

fn app_status(app: &AppInfo, workers: &BTreeMap<&WorkerId, &WorkerInfo>) -> AppStatus {
    let executors = app.executors.iter().filter_map(|(executor, worker)| {
        let key = ExecutorKey { app: app.id().clone(), executor: *executor };
        let desc = workers.get(worker)?.executors.get(&key)?;
        Some(ExecutorStatus {
            id: *executor,
            worker: worker.clone(),
            state: desc.state,
            cores: desc.grant.cores,
            memory_mib: desc.grant.memory_mib,
            addresses: desc.grant.addresses.clone(),
        })
    });
    AppStatus {
        id: app.id().clone(),
        name: app.description().name.clone(),
        state: app.state,
        registered: app.stored.registered,
        cores_granted: app.cores_granted,
        cores_left: app.cores_left(),
        executor_memory_mib: app.description().executor.memory_mib,
        executor_limit: app.executor_limit(),
        executors: executors.collect(),
        driver_url: app.description().driver_url.clone(),
        page: app.description().page.clone(),
    }
}

fn driver_line(
    driver: &StoredDriver,
    worker: Option<WorkerId>,
    ended: Option<(Timestamp, DriverOutcome)>,
) -> DriverStatusLine {
    DriverStatusLine {
        id: driver.id.clone(),
        submitted: driver.submitted,
        worker,
        cores: driver.description.cores,
        memory_mib: driver.description.memory_mib,
        supervise: driver.description.supervise,
        ended,
    }
}
