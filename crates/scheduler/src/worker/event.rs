//! What a worker hears of.

use firesteel_types::Timestamp;
use serde::{Deserialize, Serialize};

use super::ids::ProcessId;
use crate::deploy::{Addresses, MasterAddress, MasterToWorker};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum WorkerEvent {
    /// The worker's process is up. The first event.
    Started,
    /// The work directory is there, and these resources were found.
    Prepared { from_file: Addresses, discovered: Addresses },
    /// The work directory cannot be made, or looking for resources failed.
    PrepareFailed { message: String },
    /// A master said something.
    FromMaster { master: MasterAddress, message: MasterToWorker },
    /// The connection to a master broke.
    MasterLost { master: MasterAddress },
    /// The directories of a process are there; those of `local_dirs` that could be made are listed.
    DirsCreated { process: ProcessId, local_dirs: Vec<String> },
    /// The directory a process runs in cannot be made.
    DirsFailed { process: ProcessId, message: String },
    /// A process runs.
    ProcessStarted { process: ProcessId },
    /// A process could not be started.
    ProcessFailed { process: ProcessId, message: String },
    /// A process has ended.
    ProcessExited { process: ProcessId, code: i32 },
    /// The directories under the work directory.
    DirsListed { dirs: Vec<DirListing> },
    /// The machine the worker runs on wants it to drain.
    DecommissionSignalled,
    /// Time has passed.
    Tick,
}

/// One directory of an application or driver under the work directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirListing {
    /// Its name, without the path.
    pub name: String,
    /// When the newest thing in it was changed, itself included.
    pub newest: Timestamp,
}
