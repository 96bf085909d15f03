//! The invariants of a master: what must hold between two events for any messages of its peers.
//!
//! Walks everything, so it runs only in debug builds and tests.

use std::collections::BTreeSet;

use firesteel_types::ExecutorKey;

use super::{
    driver_info::DriverPlace,
    machine::{Master, Owner, Phase},
    worker_info::WorkerState,
};

impl Master {
    /// Asserts that resources, lists and connections agree with each other.
    ///
    /// # Panics
    /// When they do not, which is a bug of this machine.
    pub fn check_invariants(&self) {
        assert_ne!(self.phase, Phase::CompletingRecovery, "recovery completes within one event");
        self.workers.check_invariants();
        self.dead_workers.check_invariants();
        self.check_executors();
        self.check_drivers();
        self.check_peers();
    }

    fn check_executors(&self) {
        for app in self.apps.values() {
            let descs = app.executors.keys().map(|executor| {
                let key = ExecutorKey { app: app.id().clone(), executor: *executor };
                let (_, desc) = self.executor(&key).expect("the worker lists it too");
                desc
            });
            let descs: Vec<_> = descs.collect();
            let cores: u64 = descs.iter().map(|desc| u64::from(desc.grant.cores)).sum();
            assert_eq!(cores, app.cores_granted);
            for (id, profile) in &app.profiles {
                let count = descs.iter().filter(|desc| desc.profile == *id).count();
                assert_eq!(count, profile.executors as usize);
            }
        }
        for worker in self.workers.iter() {
            for ExecutorKey { app, executor } in worker.executors.keys() {
                let owner = self.apps.get(app).and_then(|app| app.executors.get(executor));
                match worker.state {
                    WorkerState::Alive | WorkerState::Unknown => assert_eq!(owner, Some(worker.id())),
                    WorkerState::Decommissioned => assert_eq!(owner, None),
                }
            }
        }
    }

    fn check_drivers(&self) {
        let waiting: BTreeSet<_> = self.waiting_drivers.iter().collect();
        assert_eq!(waiting.len(), self.waiting_drivers.len(), "a driver waits once");
        for driver in self.drivers.values() {
            assert_eq!(waiting.contains(driver.id()), driver.place == DriverPlace::Waiting);
            if let Some(worker) = driver.worker() {
                let worker = self.workers.get(worker).expect("a driver's worker is there");
                assert!(worker.drivers.contains_key(driver.id()));
            }
        }
        for worker in self.workers.iter() {
            for driver in worker.drivers.keys() {
                assert_eq!(self.drivers.get(driver).and_then(|driver| driver.worker()), Some(worker.id()));
            }
        }
        assert!(waiting.iter().all(|driver| self.drivers.contains_key(*driver)));
    }

    fn check_peers(&self) {
        assert_eq!(self.peers.len(), self.workers.iter().count() + self.apps.len());
        for (peer, owner) in &self.peers {
            match owner {
                Owner::Worker(id) => assert_eq!(self.workers.get(id).map(|worker| worker.peer), Some(*peer)),
                Owner::App(id) => assert_eq!(self.apps.get(id).map(|app| app.peer), Some(*peer)),
            }
        }
    }
}
