//! What a worker wants done.

use std::collections::BTreeMap;

use firesteel_types::{AppId, DriverId, ExecutorKey, ResourceName};
use serde::{Deserialize, Serialize};

use super::ids::{ProcessId, ProcessOwner};
use crate::deploy::{Command, Grant, MasterAddress, WorkerToMaster};

/// An order to the runtime that drives the worker. Orders are carried out in sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum WorkerEffect {
    /// Make the work directory, read the resource file, and run the script of each resource the file does not
    /// list. Answered by `Prepared` or `PrepareFailed`.
    Prepare {
        work_dir: String,
        resource_file: Option<String>,
        discovery_scripts: BTreeMap<ResourceName, String>,
    },
    /// Send a message, connecting first if need be.
    ToMaster { master: MasterAddress, message: WorkerToMaster },
    /// Make the directory of a process, and its local directories readable by the owner only. Those that are
    /// there already are fine. Answered by `DirsCreated` or `DirsFailed`.
    CreateDirs { process: ProcessId, work_dir: String, local_dirs: Vec<String> },
    /// Start a process. Answered by `ProcessStarted` or `ProcessFailed`.
    StartProcess(Box<ProcessStart>),
    /// Send a signal to a process.
    Signal { process: ProcessId, signal: ProcessSignal },
    /// A process outlived even the forced end and is given up; the user should be told.
    Orphaned { process: ProcessId, owner: ProcessOwner },
    /// List what is under the work directory. Answered by `DirsListed`.
    ListDirs { work_dir: String },
    /// Remove a directory and all in it. Its absence is fine.
    RemoveDir { dir: String },
    /// An application has nothing here any more: remove its local directories, and forget its secret.
    ForgetApp { app: AppId, local_dirs: Vec<String> },
    /// End the worker's process; its executors follow, because they watch it. No effect comes after this one.
    Exit { code: i32, reason: String },
    /// An event changed nothing.
    Ignored { reason: WorkerIgnored },
}

/// A process to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessStart {
    /// The name under which news of it is expected.
    pub process: ProcessId,
    /// What it is.
    pub owner: ProcessOwner,
    /// What to run.
    pub command: Command,
    /// The directory to run it in, and to put its output in.
    pub work_dir: String,
    /// The directories for its blocks.
    pub local_dirs: Vec<String>,
    /// Where the driver of an executor listens.
    pub driver_url: Option<String>,
    /// What it holds; it must be told its memory and addresses.
    pub grant: Grant,
}

/// The ways to end a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProcessSignal {
    /// Ask it to.
    Terminate,
    /// Force it to.
    Destroy,
}

/// Why an event changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum WorkerIgnored {
    /// The worker has not started, or has started already.
    OutOfOrder,
    /// The worker has given up and is about to end.
    Exited,
    /// The master is not ready; another one may be.
    MasterInStandby { master: MasterAddress },
    /// Only the active master gives orders.
    NotActiveMaster { master: MasterAddress },
    /// A worker that was registered before keeps its executors and goes on trying.
    RegistrationRefused { master: MasterAddress, message: String },
    /// Tries to register are under way.
    AlreadyRegistering,
    /// Draining is not enabled.
    DecommissionDisabled,
    /// The worker drains already.
    AlreadyDecommissioned,
    /// There is such an executor.
    ExecutorExists { executor: ExecutorKey },
    /// There is no such executor, or not any more.
    UnknownExecutor { executor: ExecutorKey },
    /// There is such a driver.
    DriverExists { driver: DriverId },
    /// There is no such driver, or not any more.
    UnknownDriver { driver: DriverId },
    /// Its end is on the way.
    AlreadyKilled { process: ProcessId },
    /// The process was given up or replaced before.
    UnknownProcess { process: ProcessId },
    /// The process is not at a point where this can happen.
    UnexpectedNews { process: ProcessId },
    /// No such state change waits for its acknowledgement.
    NothingToAcknowledge { executor: ExecutorKey },
    /// No such end of a driver waits for its acknowledgement.
    NoDriverEndToAcknowledge { driver: DriverId },
    /// The application has nothing here to clean up.
    NothingToClean { app: AppId },
}
