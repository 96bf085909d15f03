//! What the master knows of one worker: its resources, how much of them is used, and for what.
//!
//! [`WorkerInfo`] keeps the book of its resources together with the executors and drivers that use them,
//! so the two cannot come apart. It sends nothing and decides nothing.

use std::collections::BTreeMap;

use firesteel_types::{DriverId, ExecutorKey, Host, ProfileId, ResourceName, Timestamp, WorkerId};
use serde::{Deserialize, Serialize};

use super::event::Peer;
use crate::deploy::{ExecutorState, Grant, Need, ResourceBook, WorkerDescription};

/// Whether a worker may be given work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkerState {
    /// It may.
    Alive,
    /// Known only from what was stored: it has not answered the new master.
    Unknown,
    /// It finishes what it has and leaves.
    Decommissioned,
}

/// A worker that takes part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerInfo {
    /// What it said of itself.
    pub description: WorkerDescription,
    /// Its connection.
    pub peer: Peer,
    /// Whether it may be given work.
    pub state: WorkerState,
    /// When it last gave a sign of life.
    pub last_heartbeat: Timestamp,
    /// The executors it holds.
    pub executors: BTreeMap<ExecutorKey, ExecutorDesc>,
    /// The drivers it holds.
    pub drivers: BTreeMap<DriverId, Grant>,
    /// The list of what it runs that the master waits for.
    pub(super) owes: Owes,
    resources: ResourceBook,
}

/// Which list of what it runs a worker has yet to send. It gets nothing to do before.
///
/// On a new connection nothing is certain: orders on the old one may not have arrived, and the worker may still
/// run what another master ordered, under numbers that this one would give again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Owes {
    Nothing,
    /// It was registered, and what the list lacks has never started.
    LatestState,
    /// It was stored by another master, and what is listed was ordered by that one.
    SchedulerState,
}

/// An executor on its worker (Spark's `ExecutorDesc`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorDesc {
    /// Its profile.
    pub profile: ProfileId,
    /// How it does.
    pub state: ExecutorState,
    /// What it holds.
    pub grant: Grant,
}

/// A worker that was lost and is still listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadWorker {
    /// What it had said of itself.
    pub description: WorkerDescription,
    /// When it last gave a sign of life.
    pub last_heartbeat: Timestamp,
}

impl WorkerInfo {
    /// A worker that holds nothing yet.
    pub(super) fn new(
        description: WorkerDescription,
        peer: Peer,
        state: WorkerState,
        now: Timestamp,
    ) -> Self {
        Self {
            resources: ResourceBook::new(description.resources.clone()),
            description,
            peer,
            state,
            last_heartbeat: now,
            executors: BTreeMap::new(),
            drivers: BTreeMap::new(),
            owes: match state {
                WorkerState::Unknown => Owes::SchedulerState,
                WorkerState::Alive | WorkerState::Decommissioned => Owes::LatestState,
            },
        }
    }

    /// Its id.
    pub fn id(&self) -> &WorkerId {
        &self.description.id
    }

    /// Its host.
    pub fn host(&self) -> &Host {
        &self.description.host
    }

    /// Cores that are not in use.
    pub fn cores_free(&self) -> u32 {
        self.resources.cores_free()
    }

    /// Memory that is not in use, in mebibytes.
    pub fn memory_free_mib(&self) -> u64 {
        self.resources.memory_free_mib()
    }

    /// How many executors that each take `resources` the free addresses suffice for.
    pub(super) fn fits_by_addresses(&self, resources: &BTreeMap<ResourceName, u32>) -> u32 {
        self.resources.fits_by_addresses(resources)
    }

    /// Whether it may be given work: it is alive, and the master knows what it runs.
    pub(super) fn takes_work(&self) -> bool {
        self.state == WorkerState::Alive && self.owes == Owes::Nothing
    }

    /// Whether it may be given work and one executor or driver fits.
    pub(super) fn can_launch(&self, need: &Need) -> bool {
        self.takes_work() && self.resources.has_room_for(need)
    }

    /// Sets `need` aside. The caller has checked that it fits.
    pub(super) fn acquire(&mut self, need: &Need) -> Grant {
        self.resources.give(need)
    }

    /// Sets aside what the worker reports as in use; false and nothing when it does not have that much.
    pub(super) fn acquire_reported(&mut self, grant: &Grant) -> bool {
        self.resources.take_if_free(grant)
    }

    /// Removes an executor and takes back what it used.
    pub(super) fn remove_executor(&mut self, executor: &ExecutorKey) -> Option<ExecutorDesc> {
        let desc = self.executors.remove(executor)?;
        self.resources.give_back(&desc.grant);
        Some(desc)
    }

    /// Removes a driver and takes back what it used.
    pub(super) fn remove_driver(&mut self, driver: &DriverId) {
        if let Some(grant) = self.drivers.remove(driver) {
            self.resources.give_back(&grant);
        }
    }

    /// Whether a new master still waits to hear what it runs.
    pub(super) fn is_unheard(&self) -> bool {
        self.owes == Owes::SchedulerState
    }

    /// Asserts that what is used is what the executors and drivers hold, and no address twice.
    pub(super) fn check_invariants(&self) {
        let mut resources = ResourceBook::new(self.description.resources.clone());
        self.executors.values().for_each(|desc| resources.take(&desc.grant));
        self.drivers.values().for_each(|grant| resources.take(grant));
        assert_eq!(self.resources, resources, "what is used is the sum of what is held");
        self.resources.check_exclusive();
        assert!(self.executors.values().all(|desc| !desc.state.is_final()), "the ended hold nothing");
    }
}
