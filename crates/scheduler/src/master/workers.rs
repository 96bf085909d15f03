//! Workers come, stay in touch and go.
//!
//! Handlers of [`Master`] for registration, heartbeats, the list of what a worker runs, silence and loss.

use std::collections::BTreeSet;

use firesteel_types::{DriverId, ExecutorKey, Timestamp, WorkerId};

use super::{
    driver_info::DriverOutcome,
    effect::{AppMessage, IgnoredReason, MasterEffect, ObjectName, StoredObject},
    event::Peer,
    machine::{Master, Owner, ignored, to_worker},
    worker_info::{DeadWorker, Owes, WorkerInfo, WorkerState},
};
use crate::deploy::{
    DriverReport, DriverState, ExecutorReport, ExecutorState, MasterAddress, MasterToWorker,
    WorkerDescription, WorkerReport,
};

impl Master {
    pub(super) fn on_register_worker(
        &mut self,
        now: Timestamp,
        peer: Peer,
        worker: WorkerDescription,
        contacted: MasterAddress,
        out: &mut Vec<MasterEffect>,
    ) {
        let id = worker.id.clone();
        let registered = if self.workers.get(&worker.id).is_some() {
            self.register_known_worker(now, peer, &worker.id).map(|()| true)
        } else {
            self.register_new_worker(now, peer, worker, out).map(|()| false)
        };
        let answer = match registered {
            Ok(duplicate) => MasterToWorker::RegisteredWorker { contacted, duplicate },
            Err(message) => MasterToWorker::RegisterWorkerFailed { message },
        };
        out.push(to_worker(peer, answer));
        if self.workers.get(&id).is_some_and(|worker| worker.is_unheard() && worker.peer == peer) {
            // It came by itself, so the question what it runs may have gone to a connection it does not have.
            out.push(to_worker(peer, MasterToWorker::MasterChanged));
        }
    }

    /// The worker lost its connection before the master noticed, or answers after a recovery.
    fn register_known_worker(&mut self, now: Timestamp, peer: Peer, id: &WorkerId) -> Result<(), String> {
        let old = self.workers.get(id).expect("the caller has looked").peer;
        if !self.rebind(old, peer) {
            return Err("the connection belongs to another worker or application".to_owned());
        }
        self.workers.update(id, |worker| {
            worker.last_heartbeat = now;
            if worker.state == WorkerState::Unknown {
                worker.state = WorkerState::Alive;
            }
            if old != peer && worker.owes == Owes::Nothing {
                worker.owes = Owes::LatestState;
            }
        });
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
            out.push(to_worker(peer, MasterToWorker::ReconnectWorker));
        } else {
            out.push(ignored(IgnoredReason::UnknownWorker { worker }));
        }
    }

    /// Orders the worker to kill what the master does not know, and gives up what the worker never heard of.
    pub(super) fn on_latest_state(&mut self, peer: Peer, report: WorkerReport, out: &mut Vec<MasterEffect>) {
        let WorkerReport { worker, executors, drivers } = report;
        let Some(info) = self.workers.get(&worker) else {
            out.push(ignored(IgnoredReason::UnknownWorker { worker }));
            return;
        };
        if info.peer != peer {
            out.push(ignored(IgnoredReason::OldConnection { worker }));
            return;
        }
        let owed = info.owes;
        if owed == Owes::SchedulerState {
            out.push(ignored(IgnoredReason::WorkerOwesState { worker }));
            return;
        }
        let mut lost: BTreeSet<ExecutorKey> = info.executors.keys().cloned().collect();
        let mut lost_drivers: BTreeSet<DriverId> = info.drivers.keys().cloned().collect();
        for ExecutorReport { executor, .. } in executors {
            if !lost.remove(&executor) {
                if let Some(app) = self.apps.get_mut(&executor.app) {
                    // Ordered by another master. While it ends, its number must not come up here again.
                    app.skip_executor(executor.executor);
                }
                out.push(to_worker(peer, MasterToWorker::KillExecutor { executor }));
            }
        }
        for DriverReport { driver, .. } in drivers {
            if !lost_drivers.remove(&driver) {
                out.push(to_worker(peer, MasterToWorker::KillDriver { driver }));
            }
        }
        if owed == Owes::LatestState {
            self.workers.update(&worker, |worker| worker.owes = Owes::Nothing);
            self.changed = true;
            self.give_up_unheard(&worker, lost, lost_drivers, out);
        }
    }

    /// What a worker was ordered on a connection that broke, and has never heard of.
    fn give_up_unheard(
        &mut self,
        worker: &WorkerId,
        executors: BTreeSet<ExecutorKey>,
        drivers: BTreeSet<DriverId>,
        out: &mut Vec<MasterEffect>,
    ) {
        let is_leaving =
            self.workers.get(worker).is_some_and(|info| info.state == WorkerState::Decommissioned);
        for executor in executors {
            if is_leaving {
                // Its application was told when the leaving began.
                self.workers.update(worker, |worker| worker.remove_executor(&executor));
            } else {
                self.executor_never_started(&executor, out);
            }
        }
        for driver in drivers {
            self.driver_never_started(&driver);
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
        for app in self.apps.values() {
            let message = AppMessage::WorkerRemoved {
                worker: id.clone(),
                host: worker.host().clone(),
                message: message.to_owned(),
            };
            out.push(MasterEffect::ToApp { peer: app.peer, message });
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
        for (ExecutorKey { app, executor }, desc) in &worker.executors {
            // The executors of a decommissioned worker may outlive their application.
            let Some(info) = self.apps.get_mut(app) else { continue };
            info.remove_executor(*executor, desc.profile, desc.grant.cores);
            let message = AppMessage::ExecutorUpdated {
                executor: *executor,
                state: ExecutorState::Lost,
                message: Some(message.clone()),
                exit_code: None,
                worker_host: Some(worker.host().clone()),
            };
            out.push(MasterEffect::ToApp { peer: info.peer, message });
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
            let outcome = DriverOutcome::Ended { state: DriverState::Error, error: None };
            self.end_driver(now, driver, outcome, out);
        }
    }
}
