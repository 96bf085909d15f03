//! Messages from an application to a master.

use firesteel_types::AppId;
use serde::{Deserialize, Serialize};

use crate::master::{AppDescription, MasterEvent, Peer, ProfileTotal};

/// From an application to a master. Answers are [`AppMessage`](crate::master::AppMessage)s and
/// [`Reply`](crate::master::Reply)s.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum AppToMaster {
    /// It wants executors.
    RegisterApplication(Box<AppDescription>),
    /// It is done.
    UnregisterApplication { app: AppId },
    /// It lost its connection to a master, and was known to that one by this id.
    ReconnectApplication { app: AppId },
    /// It has heard of the new master.
    MasterChangeAcknowledged { app: AppId },
    /// It sets how many executors it wants. Answered in the order asked.
    RequestExecutors { app: AppId, totals: Vec<ProfileTotal> },
    /// It gives executors up. Answered in the order asked.
    KillExecutors { app: AppId, executors: Vec<String> },
}

impl AppToMaster {
    /// The message as the master hears it, from `peer`.
    pub fn heard_from(self, peer: Peer) -> MasterEvent {
        match self {
            Self::RegisterApplication(app) => MasterEvent::RegisterApplication { peer, app: *app },
            Self::UnregisterApplication { app } => MasterEvent::UnregisterApplication { app },
            Self::ReconnectApplication { app } => MasterEvent::ReconnectApplication { peer, app },
            Self::MasterChangeAcknowledged { app } => MasterEvent::MasterChangeAcknowledged { peer, app },
            Self::RequestExecutors { app, totals } => MasterEvent::RequestExecutors { peer, app, totals },
            Self::KillExecutors { app, executors } => MasterEvent::KillExecutors { peer, app, executors },
        }
    }
}
