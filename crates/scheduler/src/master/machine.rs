//! The machine itself: its state, the one entry for events, its timers and what can be read of it.
//!
//! [`Master`] is the main type. Each kind of event has its handler in a file of its own; this file only dispatches.

use std::collections::{BTreeMap, VecDeque};

use firesteel_types::{AppId, DriverId, Rng, Timestamp, WorkerId};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::{
    app_info::{AppInfo, CompletedApp},
    config::{IdPatterns, MasterConfig, MasterConfigError},
    dead_workers::DeadWorkers,
    driver_info::{CompletedDriver, DriverInfo},
    effect::{IgnoredReason, MasterEffect, Reply},
    event::{MasterEvent, Peer},
    worker_info::{DeadWorker, WorkerInfo},
    worker_table::WorkerTable,
};
use crate::deploy::{MasterToWorker, WorkerToMaster};

/// How far a master is on its way to lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecoveryState {
    /// It does not lead, or does not know yet what was stored.
    Standby,
    /// It waits for the workers and applications that were stored.
    Recovering,
    /// It gives up on those that did not answer. Never seen between two events.
    CompletingRecovery,
    /// It schedules.
    Alive,
}

/// The master of a standalone cluster.
#[derive(Clone, Debug)]
pub struct Master {
    pub(super) config: MasterConfig,
    pub(super) patterns: IdPatterns,
    pub(super) rng: Rng,
    pub(super) phase: Phase,
    pub(super) workers: WorkerTable,
    pub(super) dead_workers: DeadWorkers,
    /// In the order of registration.
    pub(super) apps: IndexMap<AppId, AppInfo, FxBuildHasher>,
    pub(super) drivers: BTreeMap<DriverId, DriverInfo>,
    /// In the order of submission.
    pub(super) waiting_drivers: VecDeque<DriverId>,
    pub(super) completed_apps: VecDeque<CompletedApp>,
    pub(super) completed_drivers: VecDeque<CompletedDriver>,
    pub(super) peers: BTreeMap<Peer, Owner>,
    pub(super) next_app_number: u64,
    pub(super) next_driver_number: u64,
    /// When silent workers are looked for next; set by the first event.
    pub(super) next_check: Option<Timestamp>,
    /// Whether a scheduling pass could do something that the last one could not.
    pub(super) changed: bool,
    pub(super) passes: u64,
}

/// [`RecoveryState`] with what is needed only inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Standby,
    /// Elected, but what was stored has not been read yet.
    Loading,
    Recovering {
        until: Timestamp,
    },
    CompletingRecovery,
    Alive,
    /// No leader any more; the process is about to end.
    Revoked,
}

/// Who is at the other end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Worker(WorkerId),
    App(AppId),
}

impl Master {
    /// A master in standby. `seed` decides the order in which workers are asked to run drivers.
    pub fn new(config: MasterConfig, seed: u64) -> Result<Self, MasterConfigError> {
        Ok(Self {
            patterns: config.check()?,
            rng: Rng::new(seed),
            phase: Phase::Standby,
            workers: WorkerTable::new(config.worker_selection),
            dead_workers: DeadWorkers::default(),
            apps: IndexMap::default(),
            drivers: BTreeMap::new(),
            waiting_drivers: VecDeque::new(),
            completed_apps: VecDeque::new(),
            completed_drivers: VecDeque::new(),
            peers: BTreeMap::new(),
            next_app_number: 0,
            next_driver_number: 0,
            next_check: None,
            changed: false,
            passes: 0,
            config,
        })
    }

    /// Takes an event and returns what must happen.
    pub fn handle(&mut self, now: Timestamp, event: MasterEvent) -> Vec<MasterEffect> {
        let mut out = Vec::new();
        self.next_check.get_or_insert(now + self.config.worker_timeout);
        if self.phase == Phase::Revoked {
            out.push(ignored(IgnoredReason::NotLeading));
        } else {
            self.dispatch(now, event, &mut out);
            self.schedule(&mut out);
        }
        if cfg!(debug_assertions) {
            self.check_invariants();
        }
        out
    }

    fn dispatch(&mut self, now: Timestamp, event: MasterEvent, out: &mut Vec<MasterEffect>) {
        use MasterEvent as E;
        match event {
            E::Elected => self.on_elected(out),
            E::Recovered { apps, drivers, workers } => self.on_recovered(now, apps, drivers, workers, out),
            E::RevokedLeadership => self.on_revoked_leadership(out),
            E::Tick => self.on_tick(now, out),
            E::Disconnected { peer } => self.on_disconnected(now, peer, out),

            E::FromWorker { peer, message } => self.on_worker_message(now, peer, message, out),

            E::RegisterApplication { peer, app } => self.on_register_application(now, peer, app, out),
            E::UnregisterApplication { app } => self.on_unregister_application(now, app, out),
            E::ReconnectApplication { peer, app } => self.on_reconnect_application(now, peer, app, out),
            E::MasterChangeAcknowledged { peer, app } => {
                self.on_master_change_acknowledged(now, peer, app, out);
            }
            E::RequestExecutors { peer, app, totals } => self.on_request_executors(peer, app, &totals, out),
            E::KillExecutors { peer, app, executors } => self.on_kill_executors(peer, app, executors, out),

            E::RequestSubmitDriver { peer, driver } => self.on_submit_driver(now, peer, driver, out),
            E::RequestKillDriver { peer, driver } => self.on_kill_driver(now, peer, driver, out),
            E::RequestKillAllDrivers { peer } => self.on_kill_all_drivers(now, peer, out),
            E::RequestDriverStatus { peer, driver } => self.on_driver_status(peer, driver, out),
            E::RequestClearCompleted { peer } => {
                self.completed_apps.clear();
                self.completed_drivers.clear();
                out.push(reply(peer, Reply::CompletedCleared));
            }
            E::DecommissionWorkersOnHosts { peer, hosts } => {
                self.on_decommission_workers_on_hosts(now, peer, &hosts, out);
            }
        }
    }

    fn on_worker_message(
        &mut self,
        now: Timestamp,
        peer: Peer,
        message: WorkerToMaster,
        out: &mut Vec<MasterEffect>,
    ) {
        use WorkerToMaster as W;
        if self.is_standby() {
            Self::send_away(peer, &message, out);
            return;
        }
        match message {
            W::RegisterWorker { worker, contacted } => {
                self.on_register_worker(now, peer, worker, contacted, out);
            }
            W::Heartbeat { worker } => self.on_heartbeat(now, peer, worker, out),
            W::LatestState(report) => self.on_latest_state(peer, report, out),
            W::SchedulerState(report) => self.on_scheduler_state(now, peer, report, out),
            W::ExecutorStateChanged { worker, change } => {
                self.on_executor_state_changed(now, peer, &worker, change, out);
            }
            W::DriverStateChanged { worker, change } => {
                self.on_driver_state_changed(now, peer, worker, change, out);
            }
            W::WorkerDecommissioning { worker } => self.on_worker_decommissioning(now, worker, out),
        }
    }

    /// A master that does not lead answers who asks, and acknowledges nothing: the leader has to hear it.
    fn send_away(peer: Peer, message: &WorkerToMaster, out: &mut Vec<MasterEffect>) {
        match message {
            WorkerToMaster::RegisterWorker { .. } | WorkerToMaster::WorkerDecommissioning { .. } => {
                out.push(to_worker(peer, MasterToWorker::MasterInStandby));
            }
            WorkerToMaster::Heartbeat { .. }
            | WorkerToMaster::LatestState(_)
            | WorkerToMaster::SchedulerState(_)
            | WorkerToMaster::ExecutorStateChanged { .. }
            | WorkerToMaster::DriverStateChanged { .. } => out.push(ignored(IgnoredReason::NotLeading)),
        }
    }

    /// When the master wants the next [`Tick`](MasterEvent::Tick); a tick at another time does no harm.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        match self.phase {
            Phase::Recovering { until } => Some(self.next_check.map_or(until, |check| check.min(until))),
            Phase::Revoked => None,
            Phase::Standby | Phase::Loading | Phase::CompletingRecovery | Phase::Alive => self.next_check,
        }
    }

    fn on_tick(&mut self, now: Timestamp, out: &mut Vec<MasterEffect>) {
        if let Phase::Recovering { until } = self.phase
            && now >= until
        {
            self.complete_recovery(now, out);
        }
        let check = self.next_check.expect("the first event sets it");
        if now >= check {
            self.time_out_workers(now, out);
            // At a fixed rate; checks that were missed are not made up for.
            let period = self.config.worker_timeout;
            let missed = now.since(check).as_micros() / period.as_micros();
            let steps = u32::try_from(missed + 1).unwrap_or(u32::MAX);
            self.next_check = Some(check + period.saturating_mul(steps));
        }
        self.complete_recovery_if_possible(now, out);
    }

    fn on_disconnected(&mut self, now: Timestamp, peer: Peer, out: &mut Vec<MasterEffect>) {
        match self.peers.get(&peer).cloned() {
            Some(Owner::Worker(worker)) => self.remove_worker(now, &worker, "connection lost", out),
            Some(Owner::App(app)) => self.finish_application(now, &app, out),
            None => out.push(ignored(IgnoredReason::UnknownPeer { peer })),
        }
        self.complete_recovery_if_possible(now, out);
    }

    /// Moves a worker or application to the connection it was last heard on; false when that is another's.
    pub(super) fn rebind(&mut self, old: Peer, new: Peer) -> bool {
        if old == new {
            return true;
        }
        if self.peers.contains_key(&new) {
            return false;
        }
        let owner = self.peers.remove(&old).expect("workers and applications own their connection");
        match &owner {
            Owner::Worker(worker) => self.workers.update(worker, |worker| worker.peer = new),
            Owner::App(app) => self.apps.get_mut(app).expect("owners are there").peer = new,
        }
        self.peers.insert(new, owner);
        true
    }

    /// Whether this master does not lead, or does not know yet what was stored.
    pub(super) fn is_standby(&self) -> bool {
        self.state() == RecoveryState::Standby
    }

    /// How far the master is on its way to lead.
    pub fn state(&self) -> RecoveryState {
        match self.phase {
            Phase::Standby | Phase::Loading | Phase::Revoked => RecoveryState::Standby,
            Phase::Recovering { .. } => RecoveryState::Recovering,
            Phase::CompletingRecovery => RecoveryState::CompletingRecovery,
            Phase::Alive => RecoveryState::Alive,
        }
    }

    /// The workers that take part, by id.
    pub fn workers(&self) -> impl Iterator<Item = &WorkerInfo> {
        self.workers.iter()
    }

    /// The workers that were lost and are still listed, by id.
    pub fn dead_workers(&self) -> impl Iterator<Item = &DeadWorker> {
        self.dead_workers.iter()
    }

    /// The live applications, in the order they registered.
    pub fn apps(&self) -> impl Iterator<Item = &AppInfo> {
        self.apps.values()
    }

    /// The drivers that have not ended, by id.
    pub fn drivers(&self) -> impl Iterator<Item = &DriverInfo> {
        self.drivers.values()
    }

    /// The applications that ended last, oldest first.
    pub fn completed_apps(&self) -> impl Iterator<Item = &CompletedApp> {
        self.completed_apps.iter()
    }

    /// The drivers that ended last, oldest first.
    pub fn completed_drivers(&self) -> impl Iterator<Item = &CompletedDriver> {
        self.completed_drivers.iter()
    }

    /// How many scheduling passes there were. Events that can change nothing run none.
    pub fn scheduling_passes(&self) -> u64 {
        self.passes
    }

    /// Whether nothing runs and nothing waits.
    pub fn is_quiescent(&self) -> bool {
        let idle = |worker: &WorkerInfo| worker.executors.is_empty() && worker.drivers.is_empty();
        self.apps.is_empty() && self.drivers.is_empty() && self.workers.iter().all(idle)
    }
}

pub(super) fn reply(peer: Peer, reply: Reply) -> MasterEffect {
    MasterEffect::ToClient { peer, reply }
}

pub(super) fn to_worker(peer: Peer, message: MasterToWorker) -> MasterEffect {
    MasterEffect::ToWorker { peer, message }
}

pub(super) fn ignored(reason: IgnoredReason) -> MasterEffect {
    MasterEffect::Ignored { reason }
}

/// Adds to a history of at most `retained`; a full one first drops its oldest tenth, at least one.
pub(super) fn remember<T>(history: &mut VecDeque<T>, retained: usize, ended: T) {
    if history.len() >= retained {
        let dropped = (retained / 10).max(1).min(history.len());
        history.drain(..dropped);
    }
    history.push_back(ended);
}
