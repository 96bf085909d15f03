//! What a client hears of.

use firesteel_types::ExecutorId;
use serde::{Deserialize, Serialize};

use crate::{
    deploy::MasterAddress,
    master::{AppMessage, ProfileTotal, Reply},
};

/// A question of the driver, by the name under which its answer is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestId(pub u64);

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum ClientEvent {
    /// The driver wants to be registered. The first event.
    Started,
    /// A master told something.
    FromMaster { master: MasterAddress, message: AppMessage },
    /// A master answered.
    Answered { master: MasterAddress, reply: Reply },
    /// The connection to a master broke.
    MasterLost { master: MasterAddress },
    /// The driver sets how many executors it wants.
    RequestExecutors { request: RequestId, totals: Vec<ProfileTotal> },
    /// The driver gives executors up.
    KillExecutors { request: RequestId, executors: Vec<ExecutorId> },
    /// The driver is done.
    Stopped,
    /// Time has passed.
    Tick,
}
