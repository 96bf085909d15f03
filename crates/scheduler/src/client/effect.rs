//! What a client wants done.

use firesteel_types::{AppId, ExecutorId, Host, WorkerId};
use serde::{Deserialize, Serialize};

use super::{event::RequestId, message::AppToMaster};
use crate::deploy::MasterAddress;

/// An order to the runtime that drives the client. Orders are carried out in sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum ClientEffect {
    /// Send a message, connecting first if need be.
    ToMaster { master: MasterAddress, message: AppToMaster },
    /// The driver's question is answered.
    Answer { request: RequestId, accepted: bool },
    /// Tell the driver that a master has taken the application in, or that one is there again after a loss.
    Connected { app: AppId },
    /// Tell the driver that the master is lost. Its executors go on.
    Disconnected,
    /// Tell the driver that the application has no master and will have none. Said at most once.
    Dead { reason: String },
    /// Tell the driver of a new executor.
    ExecutorAdded {
        executor: ExecutorId,
        worker: WorkerId,
        host: Host,
        port: u16,
        cores: u32,
        memory_mib: u64,
    },
    /// Tell the driver that an executor is gone. With a host, everything on that host is gone too.
    ExecutorRemoved {
        executor: ExecutorId,
        message: String,
        exit_code: Option<i32>,
        worker_host: Option<Host>,
    },
    /// Tell the driver that an executor will leave.
    ExecutorDecommissioned { executor: ExecutorId, message: String, worker_host: Option<Host> },
    /// Tell the driver that a worker is gone.
    WorkerRemoved { worker: WorkerId, host: Host, message: String },
    /// An event changed nothing.
    Ignored { reason: ClientIgnored },
}

/// Why an event changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum ClientIgnored {
    /// The client has not started, or has started already.
    OutOfOrder,
    /// The application is dead or stopped.
    Ended,
    /// Only the master that has taken the application in counts.
    NotActiveMaster { master: MasterAddress },
    /// The application is registered with another master, or was registered before.
    AlreadyRegistered { master: MasterAddress },
    /// Nothing was asked that this answers.
    NothingAsked,
    /// An executor made progress, which needs no action.
    Progress { executor: ExecutorId },
}
