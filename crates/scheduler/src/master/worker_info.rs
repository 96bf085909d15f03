//! What the master knows of one worker: what it has, what of it is used, and by whom.
//!
//! [`WorkerInfo`] keeps the sums of used cores and memory together with the executors and drivers that use them,
//! so the two cannot come apart. It sends nothing and decides nothing.

use std::collections::{BTreeMap, BTreeSet};

use firesteel_types::{ExecutorId, Host, ProfileId, ResourceName, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    address_pool::AddressPools,
    event::{Addresses, WorkerDescription},
    ids::{AppId, DriverId, Peer, WorkerId},
};

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
    pub executors: BTreeMap<(AppId, ExecutorId), ExecutorDesc>,
    /// The drivers it holds.
    pub drivers: BTreeMap<DriverId, Holding>,
    /// Whether the new master still waits to hear what it runs.
    pub(super) owes_state: bool,
    cores_used: u32,
    memory_used_mib: u64,
    addresses: AddressPools,
}

/// What an executor or a driver takes of its worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holding {
    /// Cores.
    pub cores: u32,
    /// Memory in mebibytes.
    pub memory_mib: u64,
    /// Addresses of custom resources.
    pub resources: Addresses,
}

/// An executor on its worker (Spark's `ExecutorDesc`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorDesc {
    /// Its profile.
    pub profile: ProfileId,
    /// How it does.
    pub state: ExecutorPhase,
    /// What it takes.
    pub holding: Holding,
}

/// The states of an executor that holds resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecutorPhase {
    /// Ordered from the worker.
    Launching,
    /// Its process runs.
    Running,
    /// Told to drain and leave; its end is expected and is nobody's fault.
    Decommissioned,
}

/// A worker that was lost and is still listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadWorker {
    /// What it had said of itself.
    pub description: WorkerDescription,
    /// When it last gave a sign of life.
    pub last_heartbeat: Timestamp,
}

/// What one executor or driver needs of a worker at least.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Need {
    pub(super) cores: u32,
    pub(super) memory_mib: u64,
    pub(super) resources: BTreeMap<ResourceName, u32>,
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
            addresses: AddressPools::new(&description.resources),
            description,
            peer,
            state,
            last_heartbeat: now,
            executors: BTreeMap::new(),
            drivers: BTreeMap::new(),
            owes_state: state == WorkerState::Unknown,
            cores_used: 0,
            memory_used_mib: 0,
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

    /// Cores that nobody uses.
    pub fn cores_free(&self) -> u32 {
        self.description.cores - self.cores_used
    }

    /// Memory that nobody uses, in mebibytes.
    pub fn memory_free_mib(&self) -> u64 {
        self.description.memory_mib - self.memory_used_mib
    }

    /// How many executors that each take `resources` the free addresses suffice for.
    pub(super) fn fits_by_addresses(&self, resources: &BTreeMap<ResourceName, u32>) -> u32 {
        self.addresses.fits(resources)
    }

    /// Whether it is alive and one executor or driver fits.
    pub(super) fn can_launch(&self, need: &Need) -> bool {
        self.state == WorkerState::Alive
            && self.cores_free() >= need.cores
            && self.memory_free_mib() >= need.memory_mib
            && self.addresses.fits(&need.resources) >= 1
    }

    /// Sets `need` aside. The caller has checked that it fits.
    pub(super) fn acquire(&mut self, need: &Need) -> Holding {
        assert!(need.cores <= self.cores_free() && need.memory_mib <= self.memory_free_mib());
        self.cores_used += need.cores;
        self.memory_used_mib += need.memory_mib;
        let resources = self.addresses.take(&need.resources);
        Holding { cores: need.cores, memory_mib: need.memory_mib, resources }
    }

    /// Sets aside what the worker says is in use; false and nothing when it does not have that much.
    pub(super) fn acquire_reported(&mut self, holding: &Holding) -> bool {
        let fits = holding.cores <= self.cores_free() && holding.memory_mib <= self.memory_free_mib();
        if !fits || !self.addresses.take_exactly(&holding.resources) {
            return false;
        }
        self.cores_used += holding.cores;
        self.memory_used_mib += holding.memory_mib;
        true
    }

    /// Removes an executor and takes back what it used.
    pub(super) fn remove_executor(&mut self, app: &AppId, executor: ExecutorId) -> Option<ExecutorDesc> {
        let desc = self.executors.remove(&(app.clone(), executor))?;
        self.release(&desc.holding);
        Some(desc)
    }

    /// Removes a driver and takes back what it used.
    pub(super) fn remove_driver(&mut self, driver: &DriverId) {
        if let Some(holding) = self.drivers.remove(driver) {
            self.release(&holding);
        }
    }

    fn release(&mut self, holding: &Holding) {
        self.cores_used -= holding.cores;
        self.memory_used_mib -= holding.memory_mib;
        self.addresses.give_back(&holding.resources);
    }

    /// Asserts that what is used is what the executors and drivers hold, and no address twice.
    pub(super) fn check_invariants(&self) {
        let holdings = || self.executors.values().map(|desc| &desc.holding).chain(self.drivers.values());
        let cores: u32 = holdings().map(|holding| holding.cores).sum();
        let memory_mib: u64 = holdings().map(|holding| holding.memory_mib).sum();
        assert_eq!((cores, memory_mib), (self.cores_used, self.memory_used_mib));
        assert!(cores <= self.description.cores && memory_mib <= self.description.memory_mib);

        let mut given = BTreeSet::new();
        for (name, addresses) in holdings().flat_map(|holding| &holding.resources) {
            for address in addresses {
                assert!(given.insert((name.clone(), address.clone())), "{name} {address} is given twice");
            }
        }
        assert_eq!(given, self.addresses.taken());
    }
}
