//! What the master knows of one driver.
//!
//! [`DriverInfo`] is one that has not ended, [`CompletedDriver`] one that has.

use firesteel_types::{DriverId, Timestamp, WorkerId};
use serde::{Deserialize, Serialize};

use super::{
    effect::DriverStatus,
    event::{DriverDescription, StoredDriver},
};
use crate::deploy::{DriverState, Need};

/// A driver that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverInfo {
    /// Its id, when it was submitted and what to run.
    pub stored: StoredDriver,
    /// Where it is.
    pub place: DriverPlace,
}

/// Where a driver is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum DriverPlace {
    /// It waits for a worker with room.
    Waiting,
    /// It runs.
    Running { worker: WorkerId },
    /// Known only from what was stored: no worker has said that it runs there.
    Unclaimed,
}

/// A driver that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedDriver {
    /// Its id, when it was submitted and what it ran.
    pub stored: StoredDriver,
    /// When it ended.
    pub ended: Timestamp,
    /// The worker it was on, if it was on one.
    pub worker: Option<WorkerId>,
    /// How it ended.
    pub outcome: DriverOutcome,
}

/// How a driver ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum DriverOutcome {
    /// For good.
    Ended { state: DriverState, error: Option<String> },
    /// With its worker; it was submitted again under another id.
    Relaunched { new_id: DriverId },
}

impl DriverInfo {
    /// Its id.
    pub fn id(&self) -> &DriverId {
        &self.stored.id
    }

    /// What to run.
    pub fn description(&self) -> &DriverDescription {
        &self.stored.description
    }

    /// Its worker, when it has one.
    pub fn worker(&self) -> Option<&WorkerId> {
        match &self.place {
            DriverPlace::Running { worker } => Some(worker),
            DriverPlace::Waiting | DriverPlace::Unclaimed => None,
        }
    }

    /// What it needs of a worker.
    pub(super) fn need(&self) -> Need {
        let DriverDescription { cores, memory_mib, ref resources, .. } = self.stored.description;
        Need { cores, memory_mib, resources: resources.clone() }
    }

    pub(super) fn status(&self) -> DriverStatus {
        match &self.place {
            DriverPlace::Running { worker } => DriverStatus::Running { worker: worker.clone() },
            DriverPlace::Waiting | DriverPlace::Unclaimed => DriverStatus::Submitted,
        }
    }
}

impl CompletedDriver {
    pub(super) fn status(&self) -> DriverStatus {
        let worker = self.worker.clone();
        match &self.outcome {
            DriverOutcome::Ended { state, error } => {
                DriverStatus::Ended { state: *state, worker, error: error.clone() }
            }
            DriverOutcome::Relaunched { new_id } => {
                DriverStatus::Relaunched { worker, new_id: new_id.clone() }
            }
        }
    }
}
