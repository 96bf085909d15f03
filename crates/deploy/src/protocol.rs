//! What is said on the lines of the cluster.
//!
//! [`ToMaster`] and [`FromMaster`] are the whole protocol with a master: messages of workers, applications and clients
//! side by side, in the types of the scheduler's machines. [`ToWorker`] and [`FromWorker`] are the messages of a
//! worker's processes. Plain data; the connection identifies the sender.

use firesteel_scheduler::{
    client::AppToMaster,
    deploy::{MasterToWorker, WorkerToMaster},
    master::{AppMessage, AppWait, DriverDescription, MasterEvent, Peer, RecoveryState, Reply},
};
use firesteel_types::{AppId, DriverId, ExecutorId};
use serde::{Deserialize, Serialize};

/// From a worker, an application or a client to a master.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToMaster {
    /// A worker speaks.
    Worker(WorkerToMaster),
    /// An application speaks.
    App(AppToMaster),
    /// A client speaks.
    Client(ClientToMaster),
}

/// From a client to a master. Each is answered, in the order asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum ClientToMaster {
    /// Asks whether the master leads. Answered by [`FromMaster::State`], the others by [`FromMaster::Reply`].
    State,
    /// Asks why an application has no executor. Answered by [`FromMaster::AppWaits`].
    WhyWaits { app: AppId },
    /// Wants a driver to be run.
    SubmitDriver(Box<DriverDescription>),
    /// Wants a driver to end.
    KillDriver { driver: DriverId },
    /// Wants every driver to end.
    KillAllDrivers,
    /// Asks how a driver does.
    DriverStatus { driver: DriverId },
    /// Wants the history emptied.
    ClearCompleted,
    /// Wants every worker on these hosts to leave.
    DecommissionHosts { hosts: Vec<String> },
}

/// From a master.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromMaster {
    /// To a worker.
    Worker(MasterToWorker),
    /// To an application.
    App(AppMessage),
    /// An answer to an application or a client.
    Reply(Reply),
    /// How far the master is on its way to lead.
    State(RecoveryState),
    /// Why an application has no executor; none if it has one.
    AppWaits(Option<AppWait>),
}

/// What a message to a master comes to.
pub(crate) enum Heard {
    /// An event for its machine.
    Event(MasterEvent),
    /// A question that the machine need not be asked.
    StateAsked,
    /// Another one.
    WaitAsked(AppId),
}

impl ToMaster {
    /// The message as the master hears it, from `peer`.
    pub(crate) fn heard_from(self, peer: Peer) -> Heard {
        let event = match self {
            Self::Worker(message) => MasterEvent::FromWorker { peer, message },
            Self::App(message) => message.heard_from(peer),
            Self::Client(ClientToMaster::State) => return Heard::StateAsked,
            Self::Client(ClientToMaster::WhyWaits { app }) => return Heard::WaitAsked(app),
            Self::Client(ClientToMaster::SubmitDriver(driver)) => {
                MasterEvent::RequestSubmitDriver { peer, driver: *driver }
            }
            Self::Client(ClientToMaster::KillDriver { driver }) => {
                MasterEvent::RequestKillDriver { peer, driver }
            }
            Self::Client(ClientToMaster::KillAllDrivers) => MasterEvent::RequestKillAllDrivers { peer },
            Self::Client(ClientToMaster::DriverStatus { driver }) => {
                MasterEvent::RequestDriverStatus { peer, driver }
            }
            Self::Client(ClientToMaster::ClearCompleted) => MasterEvent::RequestClearCompleted { peer },
            Self::Client(ClientToMaster::DecommissionHosts { hosts }) => {
                MasterEvent::DecommissionWorkersOnHosts { peer, hosts }
            }
        };
        Heard::Event(event)
    }
}

/// From a process to the worker that started it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToWorker {
    /// An executor watches the worker. The application is that of the connection.
    WatchAsExecutor(ExecutorId),
    /// A driver watches the worker.
    WatchAsDriver(DriverId),
}

/// From a worker to a process that it started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromWorker {
    /// The worker is there, and will be for as long as the connection stands.
    Watched,
}
