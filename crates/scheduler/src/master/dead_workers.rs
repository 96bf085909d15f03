//! Workers that were lost and are still listed, found by id and by address.
//!
//! [`DeadWorkers`] holds at most one of each: a worker that registers at an address takes the place of a dead one.

use std::{collections::BTreeMap, time::Duration};

use firesteel_types::{Host, Timestamp, WorkerId};

use super::worker_info::DeadWorker;

#[derive(Clone, Debug, Default)]
pub(super) struct DeadWorkers {
    by_id: BTreeMap<WorkerId, DeadWorker>,
    by_address: BTreeMap<(Host, u16), WorkerId>,
}

impl DeadWorkers {
    pub(super) fn contains(&self, id: &WorkerId) -> bool {
        self.by_id.contains_key(id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &DeadWorker> {
        self.by_id.values()
    }

    /// Lists a worker in place of any other with its id or address.
    pub(super) fn insert(&mut self, worker: DeadWorker) {
        let id = worker.description.id.clone();
        if let Some(earlier) = self.by_id.remove(&id) {
            self.by_address.remove(&address(&earlier));
        }
        self.forget_at(&worker.description.host, worker.description.port);
        self.by_address.insert(address(&worker), id.clone());
        self.by_id.insert(id, worker);
    }

    /// Stops to list the worker at an address, if there is one.
    pub(super) fn forget_at(&mut self, host: &Host, port: u16) {
        if let Some(id) = self.by_address.remove(&(host.clone(), port)) {
            self.by_id.remove(&id);
        }
    }

    /// Stops to list those whose last sign of life is longer ago than `kept`.
    pub(super) fn forget_old(&mut self, now: Timestamp, kept: Duration) {
        self.by_id.retain(|_, dead| now.since(dead.last_heartbeat) <= kept);
        self.by_address.retain(|_, id| self.by_id.contains_key(id));
    }

    pub(super) fn check_invariants(&self) {
        let addresses: BTreeMap<_, _> =
            self.by_id.iter().map(|(id, dead)| (address(dead), id.clone())).collect();
        assert_eq!(addresses, self.by_address);
        assert_eq!(self.by_id.len(), self.by_address.len());
    }
}

fn address(worker: &DeadWorker) -> (Host, u16) {
    (worker.description.host.clone(), worker.description.port)
}
