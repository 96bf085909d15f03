//! What the master hears: from its runtime, from workers, from applications and from clients.
//!
//! Messages of workers come as they are, in the types of [`crate::deploy`]; the other messages keep the names of
//! Spark's as well, so that a reader of Spark can search for them. A message that asks for something carries the
//! [`Peer`] to answer. Nothing here is trusted: ids may be unknown, numbers too large, reports late.

use std::{collections::BTreeMap, sync::Arc};

use firesteel_types::{AppId, DriverId, ExecutorRequest, ProfileId, ResourceName, Timestamp};
use serde::{Deserialize, Serialize};

use crate::deploy::{Command, WorkerDescription, WorkerToMaster};

/// A connection, numbered by the runtime that owns the sockets. Never used again for another connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Peer(pub u64);

/// Something that happened, for [`Master::handle`](super::Master::handle).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum MasterEvent {
    /// This master is the leader now.
    Elected,
    /// What was stored, in answer to [`LoadStored`](super::MasterEffect::LoadStored). The runtime chooses a
    /// peer for each worker and application. It may connect to it when it is first sent something, or leave it
    /// unconnected: workers and applications that lost their master come back by themselves, with their ids.
    Recovered {
        apps: Vec<(StoredApp, Peer)>,
        drivers: Vec<StoredDriver>,
        workers: Vec<(WorkerDescription, Peer)>,
    },
    /// This master is the leader no longer.
    RevokedLeadership,
    /// The time given by [`Master::next_deadline`](super::Master::next_deadline) has come.
    Tick,
    /// A connection was lost.
    Disconnected { peer: Peer },

    /// A worker said something.
    FromWorker { peer: Peer, message: WorkerToMaster },

    /// An application wants executors.
    RegisterApplication { peer: Peer, app: AppDescription },
    /// An application is done.
    UnregisterApplication { app: AppId },
    /// An application lost its connection, and comes back on a new one with the id it was given.
    ReconnectApplication { peer: Peer, app: AppId },
    /// An application has heard of the new master.
    MasterChangeAcknowledged { peer: Peer, app: AppId },
    /// An application sets how many executors it wants of each profile.
    RequestExecutors { peer: Peer, app: AppId, totals: Vec<ProfileTotal> },
    /// An application gives executors up. Ids are text because Spark's interface for users takes any text.
    KillExecutors { peer: Peer, app: AppId, executors: Vec<String> },

    /// A client wants a driver to be run.
    RequestSubmitDriver { peer: Peer, driver: DriverDescription },
    /// A client wants a driver to end.
    RequestKillDriver { peer: Peer, driver: DriverId },
    /// A client wants every driver to end.
    RequestKillAllDrivers { peer: Peer },
    /// A client asks how a driver does.
    RequestDriverStatus { peer: Peer, driver: DriverId },
    /// A client wants the history emptied.
    RequestClearCompleted { peer: Peer },
    /// A client wants every worker on these hosts to leave.
    DecommissionWorkersOnHosts { peer: Peer, hosts: Vec<String> },
}

/// What an application asks for when it registers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppDescription {
    /// Its name, for people.
    pub name: String,
    /// The most cores it takes in all; none leaves it to the master's default.
    pub cores_max: Option<u32>,
    /// What an executor of the default profile must have.
    pub executor: ExecutorRequest,
    /// How many executors of the default profile to start with; none is any number.
    pub executor_limit: Option<u32>,
    /// Where its driver listens.
    pub driver_url: String,
    /// Where its pages are, for people; none when it has none.
    pub page: Option<String>,
    /// What to run as an executor, with placeholders.
    pub command: Arc<Command>,
}

/// What is stored of an application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredApp {
    /// Its id.
    pub id: AppId,
    /// When it registered.
    pub registered: Timestamp,
    /// What it asked for then.
    pub description: AppDescription,
}

/// A driver to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverDescription {
    /// Cores it takes.
    pub cores: u32,
    /// Memory it takes, in mebibytes.
    pub memory_mib: u64,
    /// Whole addresses of custom resources it takes.
    pub resources: BTreeMap<ResourceName, u32>,
    /// Whether it is started again when its worker is lost.
    pub supervise: bool,
    /// What to run, with placeholders.
    pub command: Arc<Command>,
}

/// What is stored of a driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredDriver {
    /// Its id.
    pub id: DriverId,
    /// When it was submitted.
    pub submitted: Timestamp,
    /// What to run.
    pub description: DriverDescription,
}

/// How many executors an application wants of one profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileTotal {
    /// The profile.
    pub profile: ProfileId,
    /// What its executors must have; none is the same as in the default profile. Cores left out and memory of 0
    /// are taken from the default profile too. Only the first request of a profile defines it.
    pub executor: Option<ExecutorRequest>,
    /// How many, those that run included. Negative totals are refused.
    pub total: i64,
}
