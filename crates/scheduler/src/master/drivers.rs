//! Drivers are submitted, killed, asked after, and end.
//!
//! Handlers of [`Master`]. Clients are served only while the master is alive; workers are always heard.

use firesteel_types::Timestamp;

use super::{
    driver_info::{CompletedDriver, DriverInfo, DriverOutcome, DriverPlace},
    effect::{DriverStatus, IgnoredReason, MasterEffect, ObjectName, Reply, StoredObject, WorkerMessage},
    event::{DriverDescription, DriverEnd, StoredDriver},
    ids::{DriverId, Peer},
    machine::{Master, Phase, ignored, remember, reply},
};

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

    /// The worker of a driver says that it ended.
    pub(super) fn on_driver_state_changed(
        &mut self,
        now: Timestamp,
        driver: DriverId,
        end: DriverEnd,
        error: Option<String>,
        out: &mut Vec<MasterEffect>,
    ) {
        match self.drivers.get(&driver).map(|info| &info.place) {
            Some(DriverPlace::Running { .. } | DriverPlace::Unclaimed) => {
                self.end_driver(now, &driver, DriverOutcome::Ended { end, error }, out);
            }
            Some(DriverPlace::Waiting) => out.push(ignored(IgnoredReason::DriverNotRunning { driver })),
            None => out.push(ignored(IgnoredReason::UnknownDriver { driver })),
        }
    }

    /// A waiting driver ends at once. A running one ends when its worker says so.
    fn kill_driver(&mut self, now: Timestamp, driver: &DriverId, out: &mut Vec<MasterEffect>) {
        let info = self.drivers.get(driver).expect("the caller has looked");
        match &info.place {
            DriverPlace::Running { worker } => {
                let message = WorkerMessage::KillDriver { driver: driver.clone() };
                out.push(MasterEffect::ToWorker { worker: worker.clone(), message });
            }
            DriverPlace::Waiting | DriverPlace::Unclaimed => {
                let outcome = DriverOutcome::Ended { end: DriverEnd::Killed, error: None };
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
            let id = DriverId::from(self.patterns.driver.id(now, self.next_driver_number));
            self.next_driver_number += 1;
            // Numbers start from 0 again after a recovery, and may meet a driver that was stored.
            if !self.drivers.contains_key(&id) {
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
