//! What worker and master say to each other.
//!
//! Plain data, no behaviour. The sender of a message is not part of it: the transport knows it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use firesteel_types::{Host, ProfileId, ResourceName};
use serde::{Deserialize, Serialize};

use super::{
    command::Command,
    ids::{AppId, DriverId, ExecutorKey, MasterAddress, WorkerId},
};

/// Addresses of custom resources by resource.
pub type Addresses = BTreeMap<ResourceName, BTreeSet<Arc<str>>>;

/// A part of the worker's resources given to one executor or driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Cores.
    pub cores: u32,
    /// Memory in mebibytes.
    pub memory_mib: u64,
    /// Addresses of custom resources.
    pub addresses: Addresses,
}

/// From the worker to a master.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum WorkerToMaster {
    /// Asks to be taken in.
    RegisterWorker(RegisterWorker),
    /// Shows that the worker lives.
    Heartbeat { worker: WorkerId },
    /// What runs here, sent after a registration: the master orders what it does not know to be killed.
    LatestState(WorkerState),
    /// What runs here, the answer to a changed master: it takes what is listed as its own again.
    SchedulerState(WorkerState),
    /// An executor changed its state. Sent again until acknowledged.
    ExecutorStateChanged { worker: WorkerId, change: ExecutorStateChange },
    /// A driver has ended. `error` is the cause when its state is `Error`.
    DriverStateChanged { worker: WorkerId, driver: DriverId, state: DriverState, error: Option<String> },
    /// The worker was told by its own machine to drain, so it wants no more launches.
    Decommissioned { worker: WorkerId },
}

/// Everything a master must know of a new worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterWorker {
    /// The worker's name.
    pub worker: WorkerId,
    /// Its host.
    pub host: Host,
    /// Its port.
    pub port: u16,
    /// Its cores, memory and addresses.
    pub resources: Grant,
    /// The address by which the worker reached the master; the reply carries it back.
    pub contacted: MasterAddress,
}

/// The executors and drivers of a worker that have not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerState {
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
    /// How far it is.
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

/// The states of an executor as its worker sees them.
///
/// ```text
/// Launching ──> Running ──> Exited
///     │  │         └──────> Killed   (ordered)
///     │  └────────────────> Killed
///     └───────────────────> Failed   (could not start)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecutorState {
    /// Its process is being started.
    Launching,
    /// Its process runs.
    Running,
    /// It was killed on order.
    Killed,
    /// It could not be started.
    Failed,
    /// Its process ended by itself.
    Exited,
}

impl ExecutorState {
    /// Whether nothing follows it.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Launching | Self::Running => false,
            Self::Killed | Self::Failed | Self::Exited => true,
        }
    }
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

/// How a driver ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DriverState {
    /// With exit code 0.
    Finished,
    /// On order.
    Killed,
    /// With another exit code.
    Failed,
    /// It could not be started.
    Error,
}

/// From a master to the worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum MasterToWorker {
    /// The worker is taken in. `contacted` is the address it used; `duplicate` says that its id was known.
    Registered { contacted: MasterAddress, duplicate: bool },
    /// The worker is refused.
    RegisterFailed { message: String },
    /// This master does not lead at the moment.
    Standby,
    /// This master leads from now on.
    MasterChanged,
    /// Start an executor.
    LaunchExecutor(Box<ExecutorLaunch>),
    /// End an executor.
    KillExecutor { executor: ExecutorKey },
    /// Start a driver.
    LaunchDriver(Box<DriverLaunch>),
    /// End a driver.
    KillDriver { driver: DriverId },
    /// An application is over.
    ApplicationFinished { app: AppId },
    /// Register again: the master does not count this worker among its own any more.
    ReconnectWorker,
    /// Take no more launches.
    Decommission,
    /// A state change has arrived.
    ExecutorStateAck { executor: ExecutorKey, state: ExecutorState },
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
    /// What to run, with placeholders.
    pub command: Command,
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
    pub command: Command,
}
