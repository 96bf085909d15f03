//! Workers come, stay in touch and go.
//!
//! Handlers of [`Master`] for registration, heartbeats, the list of what a worker runs, silence and loss.

use firesteel_types::{ExecutorId, Timestamp};

use super::{
    driver_info::DriverOutcome,
    effect::{AppMessage, IgnoredReason, MasterEffect, ObjectName, Reply, StoredObject, WorkerMessage},
    event::{DriverEnd, ExecutorState, WorkerDescription},
    ids::{AppId, DriverId, Peer, WorkerId},
    machine::{Master, Owner, ignored, reply},
    worker_info::{DeadWorker, WorkerInfo, WorkerState},
};

impl Master {
    pub(super) fn on_register_worker(
        &mut self,
        now: Timestamp,
        peer: Peer,
        worker: WorkerDescription,
        master_address: String,
        out: &mut Vec<MasterEffect>,
    ) {
        if self.is_standby() {
            out.push(reply(peer, Reply::MasterInStandby));
            return;
        }
        let registered = if self.workers.get(&worker.id).is_some() {
            self.register_known_worker(now, peer, &worker.id).map(|()| true)
        } else {
            self.register_new_worker(now, peer, worker, out).map(|()| false)
        };
        let answer = match registered {
            Ok(duplicate) => Reply::RegisteredWorker { master_address, duplicate },
            Err(message) => Reply::RegisterWorkerFailed { message },
        };
        out.push(reply(peer, answer));
    }

    /// The worker lost its connection before the master noticed, or answers after a recovery.
    fn register_known_worker(&mut self, now: Timestamp, peer: Peer, id: &WorkerId) -> Result<(), String> {
        let old = self.workers.get(id).expect("the caller has looked").peer;
        if !self.rebind(old, peer) {
            return Err("the connection belongs to another worker or application".to_owned());
        }
        self.workers.update(id, |worker| worker.last_heartbeat = now);
        if self.workers.get(id).is_some_and(|worker| worker.state == WorkerState::Unknown) {
            self.workers.update(id, |worker| worker.state = WorkerState::Alive);
            self.changed = true;
        }
        Ok(())
    }

    fn register_new_worker(
        &mut self,
        now: Timestamp,
        peer: Peer,
        worker: WorkerDescription,
        out: &mut Vec<MasterEffect>,
    ) -> Result<(), String> {
        self.dead_workers.forget_at(&worker.host, worker.port);
        if let Some(old) = self.workers.at_address(&worker.host, worker.port) {
            if old.state != WorkerState::Unknown {
                return Err(format!("a worker at {}:{} is registered already", worker.host, worker.port));
            }
            // It was restarted while this master recovered.
            let old = old.id().clone();
            self.remove_worker(now, &old, "replaced by a new worker at the same address", out);
        }
        if self.peers.contains_key(&peer) {
            return Err("the connection belongs to another worker or application".to_owned());
        }
        out.push(MasterEffect::Persist(StoredObject::Worker(worker.clone())));
        self.peers.insert(peer, Owner::Worker(worker.id.clone()));
        self.workers.insert(WorkerInfo::new(worker, peer, WorkerState::Alive, now));
        self.changed = true;
        Ok(())
    }

    pub(super) fn on_heartbeat(
        &mut self,
        now: Timestamp,
        peer: Peer,
        worker: WorkerId,
        out: &mut Vec<MasterEffect>,
    ) {
        if self.workers.get(&worker).is_some() {
            self.workers.update(&worker, |worker| worker.last_heartbeat = now);
        } else if self.dead_workers.contains(&worker) {
            out.push(reply(peer, Reply::ReconnectWorker));
        } else {
            out.push(ignored(IgnoredReason::UnknownWorker { worker }));
        }
    }

    /// Orders the worker to kill what the master does not know.
    pub(super) fn on_worker_latest_state(
        &mut self,
        worker: WorkerId,
        executors: Vec<(AppId, ExecutorId)>,
        drivers: Vec<DriverId>,
        out: &mut Vec<MasterEffect>,
    ) {
        let Some(info) = self.workers.get(&worker) else {
            out.push(ignored(IgnoredReason::UnknownWorker { worker }));
            return;
        };
        if info.owes_state {
            out.push(ignored(IgnoredReason::WorkerOwesState { worker }));
            return;
        }
        let mut order = |message| out.push(MasterEffect::ToWorker { worker: worker.clone(), message });
        for known in executors {
            if !info.executors.contains_key(&known) {
                let (app, executor) = known;
                order(WorkerMessage::KillExecutor { app, executor });
            }
        }
        for driver in drivers {
            if !info.drivers.contains_key(&driver) {
                order(WorkerMessage::KillDriver { driver });
            }
        }
    }

    /// Declares silent workers dead, and stops to list those that have long been.
    pub(super) fn time_out_workers(&mut self, now: Timestamp, out: &mut Vec<MasterEffect>) {
        self.dead_workers.forget_old(now, self.config.dead_worker_kept());

        let timeout = self.config.worker_timeout;
        let silent = self.workers.iter().filter(|worker| now.since(worker.last_heartbeat) > timeout);
        let silent: Vec<WorkerId> = silent.map(|worker| worker.id().clone()).collect();
        let message = format!("not receiving heartbeat for {} seconds", timeout.as_secs());
        for worker in silent {
            self.remove_worker(now, &worker, &message, out);
        }
    }

    /// A worker is gone, with all that ran there.
    pub(super) fn remove_worker(
        &mut self,
        now: Timestamp,
        id: &WorkerId,
        message: &str,
        out: &mut Vec<MasterEffect>,
    ) {
        let worker = self.workers.remove(id).expect("only workers that are there are removed");
        self.peers.remove(&worker.peer);
        self.tell_of_lost_executors(&worker, message, out);
        for driver in worker.drivers.keys() {
            self.driver_lost_its_worker(now, driver, out);
        }
        for app in self.apps.keys() {
            let message = AppMessage::WorkerRemoved {
                worker: id.clone(),
                host: worker.host().clone(),
                message: message.to_owned(),
            };
            out.push(MasterEffect::ToApp { app: app.clone(), message });
        }
        // A decommissioned worker was forgotten when its leaving began.
        if worker.state != WorkerState::Decommissioned {
            out.push(MasterEffect::Forget(ObjectName::Worker(id.clone())));
        }
        self.dead_workers
            .insert(DeadWorker { description: worker.description, last_heartbeat: worker.last_heartbeat });
        self.changed = true;
    }

    fn tell_of_lost_executors(&mut self, worker: &WorkerInfo, message: &str, out: &mut Vec<MasterEffect>) {
        let message = format!("worker lost: {message}");
        for ((app, executor), desc) in &worker.executors {
            // The executors of a decommissioned worker may outlive their application.
            let Some(info) = self.apps.get_mut(app) else { continue };
            info.remove_executor(*executor, desc.profile, desc.holding.cores);
            let message = AppMessage::ExecutorUpdated {
                executor: *executor,
                state: ExecutorState::Lost,
                message: Some(message.clone()),
                exit_code: None,
                worker_host: Some(worker.host().clone()),
            };
            out.push(MasterEffect::ToApp { app: app.clone(), message });
        }
    }

    /// Supervised drivers run again elsewhere; others end.
    pub(super) fn driver_lost_its_worker(
        &mut self,
        now: Timestamp,
        driver: &DriverId,
        out: &mut Vec<MasterEffect>,
    ) {
        let info = self.drivers.get(driver).expect("workers hold drivers that have not ended");
        if info.description().supervise {
            self.relaunch_driver(now, driver, out);
        } else {
            let outcome = DriverOutcome::Ended { end: DriverEnd::Error, error: None };
            self.end_driver(now, driver, outcome, out);
        }
    }
}
