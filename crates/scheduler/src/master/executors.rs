//! Executors start, run and end on their workers.
//!
//! Handlers of [`Master`] for what workers report of executors, and the one place where an executor is taken from
//! its application and its worker at once.

use firesteel_types::{ExecutorId, Timestamp};

use super::{
    app_info::AppEnd,
    effect::{AppMessage, IgnoredReason, MasterEffect, Reply},
    event::ExecutorState,
    ids::{AppId, Peer, WorkerId},
    machine::{Master, Owner, ignored, reply},
    worker_info::{ExecutorDesc, ExecutorPhase},
};

impl Master {
    #[expect(clippy::too_many_arguments, reason = "the fields of one event")]
    pub(super) fn on_executor_state_changed(
        &mut self,
        now: Timestamp,
        peer: Peer,
        app: &AppId,
        executor: ExecutorId,
        state: ExecutorState,
        message: Option<String>,
        exit_code: Option<i32>,
        out: &mut Vec<MasterEffect>,
    ) {
        let phase = self.executor(app, executor).map(|(_, desc)| desc.state);
        match phase {
            None => self.on_state_of_foreign_executor(peer, app, executor, state, out),
            Some(phase) if state == ExecutorState::Running && phase != ExecutorPhase::Launching => {
                out.push(ignored(IgnoredReason::NotLaunching { app: app.clone(), executor }));
            }
            Some(_) => {
                let update =
                    AppMessage::ExecutorUpdated { executor, state, message, exit_code, worker_host: None };
                out.push(MasterEffect::ToApp { app: app.clone(), message: update });
                self.apply_executor_state(now, app, executor, state, exit_code, out);
            }
        }
        out.push(reply(peer, Reply::ExecutorStateAcknowledged));
    }

    fn apply_executor_state(
        &mut self,
        now: Timestamp,
        app: &AppId,
        executor: ExecutorId,
        state: ExecutorState,
        exit_code: Option<i32>,
        out: &mut Vec<MasterEffect>,
    ) {
        match state {
            ExecutorState::Launching => (),
            ExecutorState::Running => {
                self.set_executor_phase(app, executor, ExecutorPhase::Running);
                self.apps.get_mut(app).expect("its executor was found").failures = 0;
            }
            ExecutorState::Decommissioned => {
                self.set_executor_phase(app, executor, ExecutorPhase::Decommissioned);
            }
            ExecutorState::Killed | ExecutorState::Failed | ExecutorState::Lost | ExecutorState::Exited => {
                self.executor_ended(now, app, executor, exit_code, out);
            }
        }
    }

    fn executor_ended(
        &mut self,
        now: Timestamp,
        app: &AppId,
        executor: ExecutorId,
        exit_code: Option<i32>,
        out: &mut Vec<MasterEffect>,
    ) {
        let (_, desc) = self.take_executor(app, executor).expect("the caller has found it");
        let expected = exit_code == Some(0) || desc.state == ExecutorPhase::Decommissioned;
        if expected {
            return;
        }
        let info = self.apps.get_mut(app).expect("its executor was found");
        info.failures = info.failures.saturating_add(1);
        let too_many = self.config.max_executor_retries.is_some_and(|most| info.failures >= most);
        // Without a bound, an application that cannot run would be given executors for ever.
        if too_many && !self.has_running_executor(app) {
            self.remove_application(now, app, AppEnd::Failed, out);
        }
    }

    /// A report of an executor that its application does not have: late, or from a worker that is leaving.
    fn on_state_of_foreign_executor(
        &mut self,
        peer: Peer,
        app: &AppId,
        executor: ExecutorId,
        state: ExecutorState,
        out: &mut Vec<MasterEffect>,
    ) {
        let key = (app.clone(), executor);
        let holder = match self.peers.get(&peer) {
            Some(Owner::Worker(id)) => {
                self.workers.get(id).filter(|worker| worker.executors.contains_key(&key))
            }
            Some(Owner::App(_)) | None => None,
        };
        match (holder.map(|worker| worker.id().clone()), is_finished(state)) {
            (Some(worker), true) => {
                self.workers.update(&worker, |worker| worker.remove_executor(app, executor));
            }
            (Some(worker), false) => out.push(ignored(IgnoredReason::WorkerDecommissioned { worker })),
            (None, _) => {
                out.push(ignored(IgnoredReason::UnknownExecutor { app: app.clone(), executor }));
            }
        }
    }

    /// Takes an executor from its application and its worker.
    pub(super) fn take_executor(
        &mut self,
        app: &AppId,
        executor: ExecutorId,
    ) -> Option<(WorkerId, ExecutorDesc)> {
        let info = self.apps.get_mut(app)?;
        let worker = info.executors.get(&executor)?.clone();
        let desc = self.workers.update(&worker, |worker| worker.remove_executor(app, executor));
        let desc = desc.expect("applications and workers list the same executors");
        info.remove_executor(executor, desc.profile, desc.holding.cores);
        self.changed = true;
        Some((worker, desc))
    }

    pub(super) fn executor(&self, app: &AppId, executor: ExecutorId) -> Option<(&WorkerId, &ExecutorDesc)> {
        let worker = self.apps.get(app)?.executors.get(&executor)?;
        let desc = self.workers.get(worker)?.executors.get(&(app.clone(), executor))?;
        Some((worker, desc))
    }

    fn set_executor_phase(&mut self, app: &AppId, executor: ExecutorId, phase: ExecutorPhase) {
        let (worker, _) = self.executor(app, executor).expect("the caller has found it");
        let worker = worker.clone();
        self.workers.update(&worker, |worker| {
            let desc = worker.executors.get_mut(&(app.clone(), executor));
            desc.expect("the executor was found here").state = phase;
        });
    }

    fn has_running_executor(&self, app: &AppId) -> bool {
        let info = self.apps.get(app).expect("the caller has found it");
        let phase = |id: &ExecutorId| self.executor(app, *id).map(|(_, desc)| desc.state);
        info.executors.keys().any(|id| phase(id) == Some(ExecutorPhase::Running))
    }
}

pub(super) fn is_finished(state: ExecutorState) -> bool {
    match state {
        ExecutorState::Launching | ExecutorState::Running | ExecutorState::Decommissioned => false,
        ExecutorState::Killed | ExecutorState::Failed | ExecutorState::Lost | ExecutorState::Exited => true,
    }
}
