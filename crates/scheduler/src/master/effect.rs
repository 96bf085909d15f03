//! What the master wants done: messages to send, objects to store and to remove.
//!
//! Every message names the connection it goes to, so the runtime needs no table of its own to forward it. Effects are
//! in order: the runtime keeps the order for each connection, and stores an object before it sends what follows.

use std::fmt;

use firesteel_types::{AppId, DriverId, ExecutorId, ExecutorKey, Host, ProfileId, WorkerId};
use serde::{Deserialize, Serialize};

use super::{
    RecoveryState,
    event::{Peer, StoredApp, StoredDriver},
};
use crate::deploy::{DriverState, ExecutorState, MasterToWorker, WorkerDescription};

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum MasterEffect {
    /// Send to a worker.
    ToWorker { peer: Peer, message: MasterToWorker },
    /// Send to an application's driver.
    ToApp { peer: Peer, message: AppMessage },
    /// Answer the application or client that asked.
    ToClient { peer: Peer, reply: Reply },
    /// Read everything that is stored and report it as [`Recovered`](super::MasterEvent::Recovered).
    LoadStored,
    /// Store an object under its name, which is not in use.
    Persist(StoredObject),
    /// Remove a stored object.
    Forget(ObjectName),
    /// Leadership is lost: end this process, so that two masters never give orders.
    ShutDown,
    /// The event was late, unknown or not allowed, and changed nothing.
    Ignored { reason: IgnoredReason },
}

/// A message to an application's driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum AppMessage {
    /// An executor was ordered from a worker.
    ExecutorAdded {
        executor: ExecutorId,
        worker: WorkerId,
        host: Host,
        port: u16,
        cores: u32,
        memory_mib: u64,
    },
    /// An executor changed its state. With a host, everything on that host is affected.
    ExecutorUpdated {
        executor: ExecutorId,
        state: ExecutorState,
        message: Option<String>,
        exit_code: Option<i32>,
        worker_host: Option<Host>,
    },
    /// A worker is gone.
    WorkerRemoved { worker: WorkerId, host: Host, message: String },
    /// The master has given the application up.
    ApplicationRemoved { message: String },
    /// A new master leads: acknowledge.
    MasterChanged,
}

/// An answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum Reply {
    /// The application is registered.
    RegisteredApplication { app: AppId },
    /// The application is refused.
    RegisterApplicationFailed { message: String },
    /// Whether the total executors were set.
    ExecutorsRequested { accepted: bool },
    /// Whether the kill order was taken.
    ExecutorsKilled { accepted: bool },
    /// The driver waits for a worker, or has one.
    DriverSubmitted { driver: DriverId },
    /// Whether the kill order was taken; false for a driver that is unknown or has ended.
    DriverKilled { driver: DriverId, accepted: bool },
    /// The kill orders were taken.
    AllDriversKilled,
    /// How a driver does; none for an unknown one.
    DriverStatus { driver: DriverId, status: Option<DriverStatus> },
    /// The history is empty.
    CompletedCleared,
    /// Requests about drivers are served only by a master that is alive.
    NotAlive { state: RecoveryState },
    /// How many workers are on the hosts.
    WorkersDecommissioned { workers: u32 },
}

/// How a driver does, and on which worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum DriverStatus {
    /// It has no worker yet.
    Submitted,
    /// It runs.
    Running { worker: WorkerId },
    /// It has ended.
    Ended { state: DriverState, worker: Option<WorkerId>, error: Option<String> },
    /// Its worker was lost, and it was submitted again under a new id.
    Relaunched { worker: Option<WorkerId>, new_id: DriverId },
}

/// Something to store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoredObject {
    /// A live application.
    App(StoredApp),
    /// A driver that has not ended.
    Driver(StoredDriver),
    /// A worker that takes part.
    Worker(WorkerDescription),
}

impl StoredObject {
    /// The name it is stored under.
    pub fn name(&self) -> ObjectName {
        match self {
            Self::App(app) => ObjectName::App(app.id.clone()),
            Self::Driver(driver) => ObjectName::Driver(driver.id.clone()),
            Self::Worker(worker) => ObjectName::Worker(worker.id.clone()),
        }
    }
}

/// The name of a stored object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ObjectName {
    /// Of an application.
    App(AppId),
    /// Of a driver.
    Driver(DriverId),
    /// Of a worker.
    Worker(WorkerId),
}

impl fmt::Display for ObjectName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::App(id) => write!(out, "app_{id}"),
            Self::Driver(id) => write!(out, "driver_{id}"),
            Self::Worker(id) => write!(out, "worker_{id}"),
        }
    }
}

/// Why an event changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum IgnoredReason {
    /// This master does not lead (any more).
    NotLeading,
    /// This master is the leader already.
    AlreadyLeading,
    /// The stored objects were not asked for.
    NotLoading,
    /// A stored object clashes with one read before it.
    StoredTwice { name: ObjectName },
    /// No worker or application has this connection.
    UnknownPeer { peer: Peer },
    /// The connection belongs to another worker or application.
    PeerInUse { peer: Peer },
    /// The worker never registered, or was given up.
    UnknownWorker { worker: WorkerId },
    /// The worker is leaving.
    WorkerDecommissioned { worker: WorkerId },
    /// The worker has yet to answer the new master, and that answer settles what it runs.
    WorkerOwesState { worker: WorkerId },
    /// The worker has answered the new master before, or never had another.
    WorkerNotWaitedFor { worker: WorkerId },
    /// The worker has another connection by now.
    OldConnection { worker: WorkerId },
    /// The application never registered, or is over.
    UnknownApp { app: AppId },
    /// The application has acknowledged the new master before, or never had another.
    AppNotWaitedFor { app: AppId },
    /// The application does not have this executor (any more), or not on the worker that speaks of it.
    UnknownExecutor { executor: ExecutorKey },
    /// Not the id of an executor.
    NotAnExecutorId { text: String },
    /// An executor runs only after it was launching.
    NotLaunching { executor: ExecutorKey },
    /// The worker cannot hold all that it reports, or reports it twice.
    ImpossibleReport { worker: WorkerId },
    /// The driver is unknown or has ended.
    UnknownDriver { driver: DriverId },
    /// The driver is not on the worker that reported its end.
    DriverNotThere { driver: DriverId, worker: WorkerId },
    /// A number of executors is below 0.
    NegativeTotal { app: AppId, profile: ProfileId },
    /// Executors cannot have 0 cores.
    NoCores { app: AppId, profile: ProfileId },
}
