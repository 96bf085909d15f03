//! Every worker that takes part, found by id, by address, and in the order executors are placed.
//!
//! [`WorkerTable`] is the one place where a [`WorkerInfo`] changes, because its place in the order hangs on what
//! it has free. It keeps that order at each change, so a scheduling pass sorts nothing.

use std::collections::{BTreeMap, BTreeSet};

use firesteel_types::{Host, WorkerId};

use super::{config::WorkerSelection, worker_info::WorkerInfo};
use crate::deploy::Need;

/// The workers of the master.
#[derive(Clone, Debug)]
pub(super) struct WorkerTable {
    selection: WorkerSelection,
    by_id: BTreeMap<WorkerId, WorkerInfo>,
    by_address: BTreeMap<(Host, u16), WorkerId>,
    /// Alive workers with a free core, by what the selection looks at.
    ready: BTreeSet<(u64, WorkerId)>,
    /// How many workers have not told a new master what they run.
    unheard: usize,
}

impl WorkerTable {
    pub(super) fn new(selection: WorkerSelection) -> Self {
        Self {
            selection,
            by_id: BTreeMap::new(),
            by_address: BTreeMap::new(),
            ready: BTreeSet::new(),
            unheard: 0,
        }
    }

    pub(super) fn get(&self, id: &WorkerId) -> Option<&WorkerInfo> {
        self.by_id.get(id)
    }

    pub(super) fn at_address(&self, host: &Host, port: u16) -> Option<&WorkerInfo> {
        let id = self.by_address.get(&(host.clone(), port))?;
        Some(self.by_id.get(id).expect("addresses are those of workers that are there"))
    }

    /// All workers, by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = &WorkerInfo> {
        self.by_id.values()
    }

    /// Ids of the workers that may be given work, in order.
    pub(super) fn alive(&self) -> Vec<WorkerId> {
        let alive = self.iter().filter(|worker| worker.takes_work());
        alive.map(|worker| worker.id().clone()).collect()
    }

    /// Whether a worker has yet to tell a new master what it runs.
    pub(super) fn has_unheard(&self) -> bool {
        self.unheard > 0
    }

    pub(super) fn insert(&mut self, worker: WorkerInfo) {
        let id = worker.id().clone();
        let address = (worker.host().clone(), worker.description.port);
        assert!(!self.by_id.contains_key(&id) && !self.by_address.contains_key(&address), "{id} is there");
        self.by_address.insert(address, id.clone());
        self.list(&worker);
        self.by_id.insert(id, worker);
    }

    pub(super) fn remove(&mut self, id: &WorkerId) -> Option<WorkerInfo> {
        let worker = self.by_id.remove(id)?;
        self.unlist(&worker);
        self.by_address.remove(&(worker.host().clone(), worker.description.port));
        Some(worker)
    }

    /// Changes a worker that is there.
    pub(super) fn update<R>(&mut self, id: &WorkerId, change: impl FnOnce(&mut WorkerInfo) -> R) -> R {
        let mut worker = self.by_id.remove(id).expect("only workers that are there are changed");
        self.unlist(&worker);
        let result = change(&mut worker);
        self.list(&worker);
        self.by_id.insert(id.clone(), worker);
        result
    }

    /// The first `most` workers, in the order of the selection, that have room for `need`.
    pub(super) fn usable(&self, need: &Need, most: usize) -> Vec<&WorkerInfo> {
        let fits = |worker: &&WorkerInfo| worker.can_launch(need);
        let at = |(_, id): &(u64, WorkerId)| self.by_id.get(id).expect("ready workers are there");
        let cores = u64::from(need.cores);
        match self.selection {
            WorkerSelection::MostCoresFree => {
                let enough_cores = self.ready.iter().rev().take_while(|(free, _)| *free >= cores);
                enough_cores.map(at).filter(fits).take(most).collect()
            }
            WorkerSelection::MostMemoryFree => {
                self.ready.iter().rev().map(at).filter(fits).take(most).collect()
            }
            WorkerSelection::FewestCoresFree
            | WorkerSelection::LeastMemoryFree
            | WorkerSelection::WorkerId => self.ready.iter().map(at).filter(fits).take(most).collect(),
        }
    }

    /// Whether no worker has a free core.
    pub(super) fn is_full(&self) -> bool {
        self.ready.is_empty()
    }

    fn rank(&self, worker: &WorkerInfo) -> Option<(u64, WorkerId)> {
        let key = match self.selection {
            WorkerSelection::FewestCoresFree | WorkerSelection::MostCoresFree => {
                u64::from(worker.cores_free())
            }
            WorkerSelection::LeastMemoryFree | WorkerSelection::MostMemoryFree => worker.memory_free_mib(),
            WorkerSelection::WorkerId => 0,
        };
        (worker.takes_work() && worker.cores_free() > 0).then(|| (key, worker.id().clone()))
    }

    fn list(&mut self, worker: &WorkerInfo) {
        self.unheard += usize::from(worker.is_unheard());
        if let Some(rank) = self.rank(worker) {
            self.ready.insert(rank);
        }
    }

    fn unlist(&mut self, worker: &WorkerInfo) {
        self.unheard -= usize::from(worker.is_unheard());
        if let Some(rank) = self.rank(worker) {
            self.ready.remove(&rank);
        }
    }

    /// Asserts that the orders and counts are those of the workers.
    pub(super) fn check_invariants(&self) {
        let ready: BTreeSet<_> = self.iter().filter_map(|worker| self.rank(worker)).collect();
        assert_eq!(ready, self.ready);
        assert_eq!(self.iter().filter(|worker| worker.is_unheard()).count(), self.unheard);
        let address =
            |worker: &WorkerInfo| ((worker.host().clone(), worker.description.port), worker.id().clone());
        assert_eq!(self.iter().map(address).collect::<BTreeMap<_, _>>(), self.by_address);
        for worker in self.iter() {
            worker.check_invariants();
        }
    }
}
