//! Executors start, run and end on their workers.
//!
//! Handlers of [`Master`] for what workers report of executors, and the one place where an executor is taken from
//! its application and its worker at once.

use firesteel_types::{AppId, ExecutorKey, Timestamp, WorkerId};

use super::{
    app_info::AppEnd,
    effect::{AppMessage, IgnoredReason, MasterEffect},
    event::Peer,
    machine::{Master, ignored, to_worker},
    worker_info::ExecutorDesc,
};
use crate::deploy::{ExecutorState, ExecutorStateChange, MasterToWorker};

impl Master {
    pub(super) fn on_executor_state_changed(
        &mut self,
        now: Timestamp,
        peer: Peer,
        worker: &WorkerId,
        change: ExecutorStateChange,
        out: &mut Vec<MasterEffect>,
    ) {
        let ExecutorStateChange { executor, state, message, exit_code } = change;
        let acknowledgement = MasterToWorker::ExecutorStateAck { executor: executor.clone(), state };
        // Another worker may have had an executor of this number, ordered by a master before.
        let known = self.executor(&executor).filter(|(holder, _)| *holder == worker);
        match known.map(|(_, desc)| desc.state) {
            None => self.on_state_of_foreign_executor(worker, executor, state, out),
            Some(before) if state == ExecutorState::Running && before != ExecutorState::Launching => {
                out.push(ignored(IgnoredReason::NotLaunching { executor }));
            }
            Some(_) => {
                let update = AppMessage::ExecutorUpdated {
                    executor: executor.executor,
                    state,
                    message,
                    exit_code,
                    worker_host: None,
                };
                self.tell_app(&executor.app, update, out);
                self.apply_executor_state(now, &executor, state, exit_code, out);
            }
        }
        out.push(to_worker(peer, acknowledgement));
    }

    fn apply_executor_state(
        &mut self,
        now: Timestamp,
        executor: &ExecutorKey,
        state: ExecutorState,
        exit_code: Option<i32>,
        out: &mut Vec<MasterEffect>,
    ) {
        match state {
            ExecutorState::Launching => (),
            ExecutorState::Running => {
                self.set_executor_state(executor, ExecutorState::Running);
                self.apps.get_mut(&executor.app).expect("its executor was found").failures = 0;
            }
            ExecutorState::Decommissioned => {
                self.set_executor_state(executor, ExecutorState::Decommissioned);
            }
            ExecutorState::Killed | ExecutorState::Failed | ExecutorState::Lost | ExecutorState::Exited => {
                self.executor_ended(now, executor, exit_code, out);
            }
        }
    }

    fn executor_ended(
        &mut self,
        now: Timestamp,
        executor: &ExecutorKey,
        exit_code: Option<i32>,
        out: &mut Vec<MasterEffect>,
    ) {
        let (_, desc) = self.take_executor(executor).expect("the caller has found it");
        let expected = exit_code == Some(0) || desc.state == ExecutorState::Decommissioned;
        if expected {
            return;
        }
        let app = &executor.app;
        let info = self.apps.get_mut(app).expect("its executor was found");
        info.failures = info.failures.saturating_add(1);
        let too_many = self.config.max_executor_retries.is_some_and(|most| info.failures >= most);
        // Without a bound, an application that cannot run would be given executors for ever.
        if too_many && !self.has_running_executor(app) {
            self.remove_application(now, app, AppEnd::Failed, out);
        }
    }

    /// An executor was ordered on a connection that broke, and its worker has never heard of it.
    pub(super) fn executor_never_started(&mut self, executor: &ExecutorKey, out: &mut Vec<MasterEffect>) {
        self.take_executor(executor).expect("the caller has found it");
        let update = AppMessage::ExecutorUpdated {
            executor: executor.executor,
            state: ExecutorState::Lost,
            message: Some("the order to start it was lost".to_owned()),
            exit_code: None,
            worker_host: None,
        };
        self.tell_app(&executor.app, update, out);
    }

    /// A report of an executor that its application does not have there: late, or from a worker that is leaving.
    fn on_state_of_foreign_executor(
        &mut self,
        worker: &WorkerId,
        executor: ExecutorKey,
        state: ExecutorState,
        out: &mut Vec<MasterEffect>,
    ) {
        let is_held = self.workers.get(worker).is_some_and(|info| info.executors.contains_key(&executor));
        if !is_held {
            if let Some(app) = self.apps.get_mut(&executor.app) {
                // It may have been ordered by another master. The worker may report this again, and must not be taken
                // to mean a later executor of the same number.
                app.skip_executor(executor.executor);
            }
            out.push(ignored(IgnoredReason::UnknownExecutor { executor }));
        } else if state.is_final() {
            self.workers.update(worker, |worker| worker.remove_executor(&executor));
        } else {
            out.push(ignored(IgnoredReason::WorkerDecommissioned { worker: worker.clone() }));
        }
    }

    /// Takes an executor from its application and its worker.
    pub(super) fn take_executor(&mut self, executor: &ExecutorKey) -> Option<(WorkerId, ExecutorDesc)> {
        let info = self.apps.get_mut(&executor.app)?;
        let worker = info.executors.get(&executor.executor)?.clone();
        let desc = self.workers.update(&worker, |worker| worker.remove_executor(executor));
        let desc = desc.expect("applications and workers list the same executors");
        info.remove_executor(executor.executor, desc.profile, desc.grant.cores);
        self.changed = true;
        Some((worker, desc))
    }

    pub(super) fn executor(&self, executor: &ExecutorKey) -> Option<(&WorkerId, &ExecutorDesc)> {
        let worker = self.apps.get(&executor.app)?.executors.get(&executor.executor)?;
        let desc = self.workers.get(worker)?.executors.get(executor)?;
        Some((worker, desc))
    }

    fn set_executor_state(&mut self, executor: &ExecutorKey, state: ExecutorState) {
        let (worker, _) = self.executor(executor).expect("the caller has found it");
        let worker = worker.clone();
        self.workers.update(&worker, |worker| {
            worker.executors.get_mut(executor).expect("the executor was found here").state = state;
        });
    }

    fn has_running_executor(&self, app: &AppId) -> bool {
        let info = self.apps.get(app).expect("the caller has found it");
        info.executors.keys().any(|executor| {
            let key = ExecutorKey { app: app.clone(), executor: *executor };
            self.executor(&key).is_some_and(|(_, desc)| desc.state == ExecutorState::Running)
        })
    }
}
