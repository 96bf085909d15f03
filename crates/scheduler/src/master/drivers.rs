//! Drivers are submitted, killed, asked after, and end.
//!
//! Handlers of [`Master`]. Clients are served only while the master is alive; workers are always heard.

use firesteel_types::{DriverId, Timestamp, WorkerId};

use super::{
    driver_info::{CompletedDriver, DriverInfo, DriverOutcome, DriverPlace},
    effect::{DriverStatus, IgnoredReason, MasterEffect, ObjectName, Reply, StoredObject},
    event::{DriverDescription, Peer, StoredDriver},
    machine::{Master, Phase, ignored, remember, reply, to_worker},
};
use crate::deploy::{DriverState, DriverStateChange, MasterToWorker};

impl Master {
    pub(super) fn on_submit_driver(
        &mut self,
        now: Timestamp,
        peer: Peer,
        driver: DriverDescription,
        out: &mut Vec<MasterEffect>,
    ) {
        if self.refuses_clients(peer, out) {
            return;
        }
        let driver = self.add_driver(now, driver, out);
        out.push(reply(peer, Reply::DriverSubmitted { driver }));
    }

    pub(super) fn on_kill_driver(
        &mut self,
        now: Timestamp,
        peer: Peer,
        driver: DriverId,
        out: &mut Vec<MasterEffect>,
    ) {
        if self.refuses_clients(peer, out) {
            return;
        }
        let accepted = self.drivers.contains_key(&driver);
        if accepted {
            self.kill_driver(now, &driver, out);
        }
        out.push(reply(peer, Reply::DriverKilled { driver, accepted }));
    }

    pub(super) fn on_kill_all_drivers(&mut self, now: Timestamp, peer: Peer, out: &mut Vec<MasterEffect>) {
        if self.refuses_clients(peer, out) {
            return;
        }
        for driver in self.drivers.keys().cloned().collect::<Vec<_>>() {
            self.kill_driver(now, &driver, out);
        }
        out.push(reply(peer, Reply::AllDriversKilled));
    }

    pub(super) fn on_driver_status(&mut self, peer: Peer, driver: DriverId, out: &mut Vec<MasterEffect>) {
        if self.refuses_clients(peer, out) {
            return;
        }
        let live = self.drivers.get(&driver).map(DriverInfo::status);
        let status = live.or_else(|| self.completed_driver_status(&driver));
        out.push(reply(peer, Reply::DriverStatus { driver, status }));
    }

    fn completed_driver_status(&self, driver: &DriverId) -> Option<DriverStatus> {
        let completed = self.completed_drivers.iter().rev().find(|completed| completed.stored.id == *driver);
        completed.map(CompletedDriver::status)
    }

    /// The worker of a driver reports that it ended.
    pub(super) fn on_driver_state_changed(
        &mut self,
        now: Timestamp,
        peer: Peer,
        worker: WorkerId,
        change: DriverStateChange,
        out: &mut Vec<MasterEffect>,
    ) {
        let DriverStateChange { driver, state, error } = change;
        let acknowledgement = to_worker(peer, MasterToWorker::DriverStateAck { driver: driver.clone() });
        let is_there = self.drivers.get(&driver).map(|info| match &info.place {
            DriverPlace::Running { worker: its_worker } => *its_worker == worker,
            // It ended before its worker could report it as running there.
            DriverPlace::Unclaimed => true,
            DriverPlace::Waiting => false,
        });
        match is_there {
            Some(true) => self.end_driver(now, &driver, DriverOutcome::Ended { state, error }, out),
            Some(false) => out.push(ignored(IgnoredReason::DriverNotThere { driver, worker })),
            None => out.push(ignored(IgnoredReason::UnknownDriver { driver })),
        }
        out.push(acknowledgement);
    }

    /// A waiting driver ends at once. A running one ends when its worker reports its end.
    fn kill_driver(&mut self, now: Timestamp, driver: &DriverId, out: &mut Vec<MasterEffect>) {
        let info = self.drivers.get(driver).expect("the caller has looked");
        match &info.place {
            DriverPlace::Running { worker } => {
                self.order(worker, MasterToWorker::KillDriver { driver: driver.clone() }, out);
            }
            DriverPlace::Waiting | DriverPlace::Unclaimed => {
                let outcome = DriverOutcome::Ended { state: DriverState::Killed, error: None };
                self.end_driver(now, driver, outcome, out);
            }
        }
    }

    /// Stores a driver under a new id and lets it wait for a worker.
    fn add_driver(
        &mut self,
        now: Timestamp,
        description: DriverDescription,
        out: &mut Vec<MasterEffect>,
    ) -> DriverId {
        let stored = StoredDriver { id: self.new_driver_id(now), submitted: now, description };
        let id = stored.id.clone();
        out.push(MasterEffect::Persist(StoredObject::Driver(stored.clone())));
        self.drivers.insert(id.clone(), DriverInfo { stored, place: DriverPlace::Waiting });
        self.waiting_drivers.push_back(id.clone());
        self.changed = true;
        id
    }

    /// Submits the driver again under a new id.
    ///
    /// Its worker may come back with the old one still running. Under one id, the end of the old one would be
    /// taken for the end of the new one.
    pub(super) fn relaunch_driver(&mut self, now: Timestamp, old: &DriverId, out: &mut Vec<MasterEffect>) {
        let description = self.drivers.get(old).expect("the caller has looked").description().clone();
        let new_id = self.add_driver(now, description, out);
        self.end_driver(now, old, DriverOutcome::Relaunched { new_id }, out);
    }

    /// A driver whose launch never reached its worker waits for one again.
    pub(super) fn driver_never_started(&mut self, driver: &DriverId) {
        let info = self.drivers.get_mut(driver).expect("workers hold drivers that have not ended");
        let DriverPlace::Running { worker } = std::mem::replace(&mut info.place, DriverPlace::Waiting) else {
            unreachable!("a driver on a worker is running");
        };
        self.workers.update(&worker, |worker| worker.remove_driver(driver));
        self.waiting_drivers.push_back(driver.clone());
        self.changed = true;
    }

    /// Moves a driver to the history and gives back what it used.
    pub(super) fn end_driver(
        &mut self,
        now: Timestamp,
        driver: &DriverId,
        outcome: DriverOutcome,
        out: &mut Vec<MasterEffect>,
    ) {
        let DriverInfo { stored, place } = self.drivers.remove(driver).expect("the caller has looked");
        let worker = match place {
            DriverPlace::Running { worker } => {
                // A worker that is being removed is out of the table already.
                if self.workers.get(&worker).is_some() {
                    self.workers.update(&worker, |worker| worker.remove_driver(driver));
                }
                Some(worker)
            }
            DriverPlace::Waiting => {
                self.waiting_drivers.retain(|waiting| waiting != driver);
                None
            }
            DriverPlace::Unclaimed => None,
        };
        out.push(MasterEffect::Forget(ObjectName::Driver(driver.clone())));
        let completed = CompletedDriver { stored, ended: now, worker, outcome };
        remember(&mut self.completed_drivers, self.config.retained_drivers, completed);
        self.changed = true;
    }

    fn new_driver_id(&mut self, now: Timestamp) -> DriverId {
        loop {
            let id = DriverId::from(self.patterns.driver.numbered_id(now, self.next_driver_number));
            self.next_driver_number += 1;
            // Numbers start from 0 again after a recovery, and may meet a driver that was stored, or just has ended.
            let is_ended = self.completed_drivers.iter().any(|driver| driver.stored.id == id);
            if !is_ended && !self.drivers.contains_key(&id) {
                return id;
            }
        }
    }

    fn refuses_clients(&self, peer: Peer, out: &mut Vec<MasterEffect>) -> bool {
        let refuses = self.phase != Phase::Alive;
        if refuses {
            out.push(reply(peer, Reply::NotAlive { state: self.state() }));
        }
        refuses
    }
}
