//! Messages between worker and master.
//!
//! Plain data, no behaviour. The connection a message came on is not part of it: the transport knows it.

use std::{fmt, sync::Arc};

use firesteel_types::{AppId, DriverId, ExecutorKey, Host, ProfileId, WorkerId};
use serde::{Deserialize, Serialize};

use super::{
    command::Command,
    report::WorkerReport,
    resource_book::Grant,
    state::{DriverState, ExecutorState},
};

/// Where a master can be reached. Machines only compare addresses and never look inside one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MasterAddress(Arc<str>);

impl MasterAddress {
    /// The address as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for MasterAddress {
    fn from(text: &str) -> Self {
        Self(Arc::from(text))
    }
}

impl From<String> for MasterAddress {
    fn from(text: String) -> Self {
        Self(Arc::from(text))
    }
}

impl fmt::Display for MasterAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Debug for MasterAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// From a worker to a master.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum WorkerToMaster {
    /// Asks to be taken in. `contacted` is the address by which the worker reached the master; the answer
    /// carries it back.
    RegisterWorker { worker: WorkerDescription, contacted: MasterAddress },
    /// Shows that the worker lives.
    Heartbeat { worker: WorkerId },
    /// What runs here, sent after a registration: the master orders what it does not know to be killed.
    LatestState(WorkerReport),
    /// What runs here, the answer to a changed master: it takes what is listed as its own again.
    SchedulerState(WorkerReport),
    /// An executor changed its state. Sent again until acknowledged.
    ExecutorStateChanged { worker: WorkerId, change: ExecutorStateChange },
    /// A driver has ended. Sent on every new connection until acknowledged.
    DriverStateChanged { worker: WorkerId, change: DriverStateChange },
    /// The worker was told by its own machine to drain, so it wants no more executors.
    WorkerDecommissioning { worker: WorkerId },
}

/// From a master to a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum MasterToWorker {
    /// The worker is registered. `contacted` is the address it used; `duplicate` is set when its id was known already.
    RegisteredWorker { contacted: MasterAddress, duplicate: bool },
    /// The worker is refused.
    RegisterWorkerFailed { message: String },
    /// This master does not lead at the moment.
    MasterInStandby,
    /// This master leads from now on: answer with what runs.
    MasterChanged,
    /// Register again: the master does not count this worker among its own any more.
    ReconnectWorker,
    /// Start an executor.
    LaunchExecutor(Box<ExecutorLaunch>),
    /// End an executor.
    KillExecutor { executor: ExecutorKey },
    /// A state change of an executor has arrived.
    ExecutorStateAck { executor: ExecutorKey, state: ExecutorState },
    /// Start a driver.
    LaunchDriver(Box<DriverLaunch>),
    /// End a driver.
    KillDriver { driver: DriverId },
    /// The end of a driver has arrived.
    DriverStateAck { driver: DriverId },
    /// An application is over: its files can go.
    ApplicationFinished { app: AppId },
    /// Take no more executors and leave.
    DecommissionWorker,
}

/// A worker as it describes itself; also what masters store of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerDescription {
    /// Its id.
    pub id: WorkerId,
    /// Its host.
    pub host: Host,
    /// The port it listens on.
    pub port: u16,
    /// The cores, memory and addresses it offers.
    pub resources: Grant,
    /// Where its pages are, for people; none when it has none.
    pub page: Option<String>,
}

/// The order to start an executor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorLaunch {
    /// Which executor.
    pub executor: ExecutorKey,
    /// Its resource profile.
    pub profile: ProfileId,
    /// What it holds while it lives.
    pub grant: Grant,
    /// Where the application's driver listens.
    pub driver_url: String,
    /// What to run, with placeholders. Shared by all executors of an application.
    pub command: Arc<Command>,
}

/// The order to start a driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverLaunch {
    /// Which driver.
    pub driver: DriverId,
    /// What it holds while it lives.
    pub grant: Grant,
    /// Whether it is started again after it failed.
    pub supervise: bool,
    /// What to run, with placeholders.
    pub command: Arc<Command>,
}

/// A new state of an executor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorStateChange {
    /// Which executor.
    pub executor: ExecutorKey,
    /// Its state now.
    pub state: ExecutorState,
    /// More about it, for people.
    pub message: Option<String>,
    /// The exit code, where known.
    pub exit_code: Option<i32>,
}

/// The end of a driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverStateChange {
    /// Which driver.
    pub driver: DriverId,
    /// How it ended.
    pub state: DriverState,
    /// The cause, when it could not be started.
    pub error: Option<String>,
}
