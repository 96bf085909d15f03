//! Workers that are told to leave: they get nothing new, and their executors count as gone.
//!
//! Handlers of [`Master`]. The driver is told the host as well, because all shuffle output on it will be lost when the
//! executors go.

use std::collections::BTreeSet;

use firesteel_types::{ExecutorKey, Timestamp, WorkerId};

use super::{
    effect::{AppMessage, IgnoredReason, MasterEffect, ObjectName, Reply},
    event::Peer,
    machine::{Master, ignored, reply},
    worker_info::WorkerState,
};
use crate::deploy::{ExecutorState, MasterToWorker};

impl Master {
    pub(super) fn on_worker_decommissioning(
        &mut self,
        now: Timestamp,
        worker: WorkerId,
        out: &mut Vec<MasterEffect>,
    ) {
        match self.workers.get(&worker).map(|info| info.state) {
            Some(WorkerState::Alive | WorkerState::Unknown) => {
                self.decommission_worker(&worker, out);
                self.complete_recovery_if_possible(now, out);
            }
            Some(WorkerState::Decommissioned) => {
                out.push(ignored(IgnoredReason::WorkerDecommissioned { worker }));
            }
            None => out.push(ignored(IgnoredReason::UnknownWorker { worker })),
        }
    }

    /// Answers with the number of workers on the hosts, those that are leaving already included.
    pub(super) fn on_decommission_workers_on_hosts(
        &mut self,
        now: Timestamp,
        peer: Peer,
        hosts: &[String],
        out: &mut Vec<MasterEffect>,
    ) {
        let hosts: BTreeSet<String> = hosts.iter().map(|host| host.to_lowercase()).collect();
        let on_hosts =
            self.workers.iter().filter(|info| hosts.contains(&info.host().as_str().to_lowercase()));
        let found: Vec<(WorkerId, WorkerState)> =
            on_hosts.map(|info| (info.id().clone(), info.state)).collect();
        let workers = u32::try_from(found.len()).unwrap_or(u32::MAX);
        for (worker, state) in found {
            match state {
                WorkerState::Alive | WorkerState::Unknown => {
                    self.decommission_worker(&worker, out);
                    self.order(&worker, MasterToWorker::DecommissionWorker, out);
                }
                WorkerState::Decommissioned => {
                    out.push(ignored(IgnoredReason::WorkerDecommissioned { worker }));
                }
            }
        }
        out.push(reply(peer, Reply::WorkersDecommissioned { workers }));
        self.complete_recovery_if_possible(now, out);
    }

    fn decommission_worker(&mut self, id: &WorkerId, out: &mut Vec<MasterEffect>) {
        self.workers.update(id, |worker| worker.state = WorkerState::Decommissioned);
        self.let_executors_leave(id, out);
        // A new master must not count on a worker that is leaving.
        out.push(MasterEffect::Forget(ObjectName::Worker(id.clone())));
        self.changed = true;
    }

    /// The executors of a leaving worker belong to their applications no longer, but hold their resources until
    /// they end.
    pub(super) fn let_executors_leave(&mut self, id: &WorkerId, out: &mut Vec<MasterEffect>) {
        let apps = &mut self.apps;
        self.workers.update(id, |worker| {
            for (ExecutorKey { app, executor }, desc) in &mut worker.executors {
                desc.state = ExecutorState::Decommissioned;
                let info = apps.get_mut(app).expect("executors belong to live applications");
                info.remove_executor(*executor, desc.profile, desc.grant.cores);
                let message = AppMessage::ExecutorUpdated {
                    executor: *executor,
                    state: ExecutorState::Decommissioned,
                    message: Some("worker decommissioned".to_owned()),
                    exit_code: None,
                    worker_host: Some(worker.description.host.clone()),
                };
                out.push(MasterEffect::ToApp { peer: info.peer, message });
            }
        });
    }
}
