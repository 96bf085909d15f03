//! A new master takes over: it reads what was stored, asks all workers and applications what runs, and goes on.
//!
//! Handlers of [`Master`]. Only descriptions are stored; where executors and drivers run is known to the workers, and
//! their reports are checked before they are believed.

use firesteel_types::{AppId, DriverId, Timestamp, WorkerId};

use super::{
    app_info::{AppInfo, AppState, MAX_EXECUTOR},
    apps::has_cores,
    driver_info::{DriverInfo, DriverPlace},
    effect::{AppMessage, IgnoredReason, MasterEffect, ObjectName},
    event::{Peer, StoredApp, StoredDriver},
    machine::{Master, Owner, Phase, ignored, to_worker},
    worker_info::{ExecutorDesc, Owes, WorkerInfo, WorkerState},
};
use crate::deploy::{DriverReport, ExecutorReport, MasterToWorker, WorkerDescription, WorkerReport};

impl Master {
    pub(super) fn on_elected(&mut self, out: &mut Vec<MasterEffect>) {
        if self.phase == Phase::Standby {
            self.phase = Phase::Loading;
            out.push(MasterEffect::LoadStored);
        } else {
            out.push(ignored(IgnoredReason::AlreadyLeading));
        }
    }

    /// Two masters must never give orders, so a leader that is one no longer ends.
    pub(super) fn on_revoked_leadership(&mut self, out: &mut Vec<MasterEffect>) {
        if self.phase == Phase::Standby {
            out.push(ignored(IgnoredReason::NotLeading));
        } else {
            self.phase = Phase::Revoked;
            out.push(MasterEffect::ShutDown);
        }
    }

    pub(super) fn on_recovered(
        &mut self,
        now: Timestamp,
        mut apps: Vec<(StoredApp, Peer)>,
        drivers: Vec<StoredDriver>,
        workers: Vec<(WorkerDescription, Peer)>,
        out: &mut Vec<MasterEffect>,
    ) {
        if self.phase != Phase::Loading {
            out.push(ignored(IgnoredReason::NotLoading));
            return;
        }
        self.changed = true;
        if apps.is_empty() && drivers.is_empty() && workers.is_empty() {
            self.phase = Phase::Alive;
            return;
        }
        self.phase = Phase::Recovering { until: now + self.config.recovery_timeout() };
        // The order of registration, however the objects were read.
        apps.sort_by(|(a, _), (b, _)| (a.registered, &a.id).cmp(&(b.registered, &b.id)));
        for (app, peer) in apps {
            self.recover_app(app, peer, out);
        }
        for stored in drivers {
            let driver = DriverInfo { stored, place: DriverPlace::Unclaimed };
            self.drivers.insert(driver.id().clone(), driver);
        }
        for (worker, peer) in workers {
            self.recover_worker(now, worker, peer, out);
        }
        self.complete_recovery_if_possible(now, out);
    }

    fn recover_app(&mut self, stored: StoredApp, peer: Peer, out: &mut Vec<MasterEffect>) {
        let app = stored.id.clone();
        let is_new = !self.apps.contains_key(&app);
        if !is_new || self.peers.contains_key(&peer) || !has_cores(&stored.description.executor) {
            refuse_stored(ObjectName::App(app), is_new, out);
            return;
        }
        self.peers.insert(peer, Owner::App(app.clone()));
        let info = AppInfo::new(stored, peer, self.config.default_cores, AppState::Unknown);
        self.apps.insert(app, info);
        out.push(MasterEffect::ToApp { peer, message: AppMessage::MasterChanged });
    }

    fn recover_worker(
        &mut self,
        now: Timestamp,
        worker: WorkerDescription,
        peer: Peer,
        out: &mut Vec<MasterEffect>,
    ) {
        let id = worker.id.clone();
        let is_new = self.workers.get(&id).is_none();
        let address_in_use = self.workers.at_address(&worker.host, worker.port).is_some();
        if !is_new || address_in_use || self.peers.contains_key(&peer) {
            refuse_stored(ObjectName::Worker(id), is_new, out);
            return;
        }
        self.peers.insert(peer, Owner::Worker(id.clone()));
        self.workers.insert(WorkerInfo::new(worker, peer, WorkerState::Unknown, now));
        out.push(to_worker(peer, MasterToWorker::MasterChanged));
    }

    /// An application comes back by itself, instead of waiting for the message of a new master.
    pub(super) fn on_reconnect_application(
        &mut self,
        now: Timestamp,
        peer: Peer,
        app: AppId,
        out: &mut Vec<MasterEffect>,
    ) {
        if self.is_standby() {
            out.push(ignored(IgnoredReason::NotLeading));
            return;
        }
        let Some(old) = self.apps.get(&app).map(|info| info.peer) else {
            let message = format!("the master does not know {app}: it ended when its connection was lost");
            out.push(MasterEffect::ToApp { peer, message: AppMessage::ApplicationRemoved { message } });
            return;
        };
        if !self.rebind(old, peer) {
            out.push(ignored(IgnoredReason::PeerInUse { peer }));
            return;
        }
        let info = self.apps.get_mut(&app).expect("found above");
        if info.state == AppState::Unknown {
            info.state = AppState::Waiting;
        }
        out.push(MasterEffect::ToApp { peer, message: AppMessage::MasterChanged });
        self.complete_recovery_if_possible(now, out);
    }

    pub(super) fn on_master_change_acknowledged(
        &mut self,
        now: Timestamp,
        peer: Peer,
        app: AppId,
        out: &mut Vec<MasterEffect>,
    ) {
        let Some(info) = self.apps.get_mut(&app) else {
            out.push(ignored(IgnoredReason::UnknownApp { app }));
            return;
        };
        let (old, state) = (info.peer, info.state);
        if state != AppState::Unknown {
            out.push(ignored(IgnoredReason::AppNotWaitedFor { app }));
        } else if self.rebind(old, peer) {
            self.apps.get_mut(&app).expect("found above").state = AppState::Waiting;
        } else {
            out.push(ignored(IgnoredReason::PeerInUse { peer }));
        }
        self.complete_recovery_if_possible(now, out);
    }

    pub(super) fn on_scheduler_state(
        &mut self,
        now: Timestamp,
        peer: Peer,
        report: WorkerReport,
        out: &mut Vec<MasterEffect>,
    ) {
        let WorkerReport { worker, executors, drivers } = report;
        let Some(info) = self.workers.get(&worker) else {
            out.push(ignored(IgnoredReason::UnknownWorker { worker }));
            return;
        };
        let (state, old) = (info.state, info.peer);
        if !info.is_unheard() {
            out.push(ignored(IgnoredReason::WorkerNotWaitedFor { worker }));
            return;
        }
        if !self.rebind(old, peer) {
            out.push(ignored(IgnoredReason::PeerInUse { peer }));
            return;
        }
        self.workers.update(&worker, |info| {
            info.owes = Owes::Nothing;
            info.last_heartbeat = now;
            if info.state == WorkerState::Unknown {
                info.state = WorkerState::Alive;
            }
        });
        self.changed = true;
        for executor in executors {
            self.attach_executor(&worker, executor, out);
        }
        for driver in drivers {
            self.attach_driver(&worker, driver, out);
        }
        if state == WorkerState::Decommissioned {
            self.let_executors_leave(&worker, out);
        }
        self.complete_recovery_if_possible(now, out);
    }

    fn attach_executor(&mut self, worker: &WorkerId, report: ExecutorReport, out: &mut Vec<MasterEffect>) {
        let ExecutorReport { executor, profile, grant, state } = report;
        if state.is_final() {
            out.push(ignored(IgnoredReason::UnknownExecutor { executor }));
            return;
        }
        let Some(info) = self.apps.get_mut(&executor.app) else {
            self.order(worker, MasterToWorker::KillExecutor { executor }, out);
            return;
        };
        let holder = info.executors.get(&executor.executor);
        if holder == Some(worker) {
            return; // Reported twice.
        }
        let is_possible = holder.is_none()
            && executor.executor < MAX_EXECUTOR
            && self.workers.update(worker, |worker| worker.acquire_reported(&grant));
        if is_possible {
            info.add_executor(executor.executor, profile, grant.cores, worker.clone());
            let desc = ExecutorDesc { profile, state, grant };
            self.workers.update(worker, |worker| worker.executors.insert(executor, desc));
        } else {
            out.push(ignored(IgnoredReason::ImpossibleReport { worker: worker.clone() }));
            self.order(worker, MasterToWorker::KillExecutor { executor }, out);
        }
    }

    fn attach_driver(&mut self, worker: &WorkerId, report: DriverReport, out: &mut Vec<MasterEffect>) {
        let DriverReport { driver, grant } = report;
        let is_ours = match self.drivers.get_mut(&driver) {
            Some(info) if info.worker() == Some(worker) => return, // Reported twice.
            Some(info) if info.place == DriverPlace::Unclaimed => {
                let is_possible = self.workers.update(worker, |worker| {
                    let is_possible = worker.acquire_reported(&grant);
                    if is_possible {
                        worker.drivers.insert(driver.clone(), grant);
                    }
                    is_possible
                });
                if is_possible {
                    info.place = DriverPlace::Running { worker: worker.clone() };
                } else {
                    out.push(ignored(IgnoredReason::ImpossibleReport { worker: worker.clone() }));
                }
                is_possible
            }
            Some(_) | None => false,
        };
        if !is_ours {
            self.order(worker, MasterToWorker::KillDriver { driver }, out);
        }
    }

    /// Completes the recovery when all stored workers and applications have answered.
    pub(super) fn complete_recovery_if_possible(&mut self, now: Timestamp, out: &mut Vec<MasterEffect>) {
        let Phase::Recovering { .. } = self.phase else { return };
        let is_unknown = |app: &AppInfo| app.state == AppState::Unknown;
        if !self.workers.has_unheard() && !self.apps.values().any(is_unknown) {
            self.complete_recovery(now, out);
        }
    }

    /// Gives up on those that did not answer, and lets the others go on.
    pub(super) fn complete_recovery(&mut self, now: Timestamp, out: &mut Vec<MasterEffect>) {
        self.phase = Phase::CompletingRecovery;
        let silent = self.workers.iter().filter(|worker| worker.is_unheard());
        for worker in silent.map(|worker| worker.id().clone()).collect::<Vec<_>>() {
            self.remove_worker(now, &worker, "not responding for recovery", out);
        }
        let silent = self.apps.values().filter(|app| app.state == AppState::Unknown);
        for app in silent.map(|app| app.id().clone()).collect::<Vec<_>>() {
            self.finish_application(now, &app, out);
        }
        for app in self.apps.values_mut() {
            app.state = AppState::Running;
        }
        let unclaimed = self.drivers.values().filter(|driver| driver.place == DriverPlace::Unclaimed);
        for driver in unclaimed.map(|driver| driver.id().clone()).collect::<Vec<DriverId>>() {
            self.driver_lost_its_worker(now, &driver, out);
        }
        self.phase = Phase::Alive;
        self.changed = true;
    }
}

/// Drops a stored object that cannot be: its place is taken by another.
fn refuse_stored(name: ObjectName, is_new: bool, out: &mut Vec<MasterEffect>) {
    if is_new {
        out.push(MasterEffect::Forget(name.clone()));
    }
    out.push(ignored(IgnoredReason::StoredTwice { name }));
}
