//! Applications register, set how many executors they want, give some up, and end.
//!
//! Handlers of [`Master`].

use firesteel_types::{AppId, ExecutorId, ExecutorKey, ExecutorRequest, Timestamp, WorkerId};

use super::{
    app_info::{AppEnd, AppInfo, AppState, CompletedApp},
    effect::{AppMessage, IgnoredReason, MasterEffect, ObjectName, Reply, StoredObject},
    event::{AppDescription, Peer, ProfileTotal, StoredApp},
    machine::{Master, Owner, ignored, remember, reply, to_worker},
};
use crate::deploy::MasterToWorker;

impl Master {
    pub(super) fn on_register_application(
        &mut self,
        now: Timestamp,
        peer: Peer,
        description: AppDescription,
        out: &mut Vec<MasterEffect>,
    ) {
        if self.is_standby() {
            // No answer: the application asks every master, and only the leader speaks.
            out.push(ignored(IgnoredReason::NotLeading));
            return;
        }
        let answer = match self.register_application(now, peer, description, out) {
            Ok(app) => Reply::RegisteredApplication { app },
            Err(message) => Reply::RegisterApplicationFailed { message: message.to_owned() },
        };
        out.push(reply(peer, answer));
    }

    fn register_application(
        &mut self,
        now: Timestamp,
        peer: Peer,
        description: AppDescription,
        out: &mut Vec<MasterEffect>,
    ) -> Result<AppId, &'static str> {
        match self.peers.get(&peer) {
            // It asked again because the first answer was slow.
            Some(Owner::App(app)) => return Ok(app.clone()),
            Some(Owner::Worker(_)) => return Err("the connection belongs to a worker"),
            None => (),
        }
        if !has_cores(&description.executor) {
            return Err(
                "executors cannot have 0 cores; leave firesteel.executor.cores unset or set it to 1 or more",
            );
        }
        let Some(id) = self.new_app_id(now) else {
            return Err("every application id is in use; raise firesteel.deploy.appNumberModulo");
        };
        let stored = StoredApp { id: id.clone(), registered: now, description };
        out.push(MasterEffect::Persist(StoredObject::App(stored.clone())));
        let app = AppInfo::new(stored, peer, self.config.default_cores, AppState::Waiting);
        self.apps.insert(id.clone(), app);
        self.peers.insert(peer, Owner::App(id.clone()));
        self.changed = true;
        Ok(id)
    }

    /// The next id that no live application has; none when the modulo leaves none.
    fn new_app_id(&mut self, now: Timestamp) -> Option<AppId> {
        for _ in 0..=self.apps.len() {
            let id = AppId::from(self.patterns.app.numbered_id(now, self.next_app_number));
            self.next_app_number += 1;
            if let Some(modulo) = self.config.app_number_modulo {
                self.next_app_number %= modulo;
            }
            if !self.apps.contains_key(&id) {
                return Some(id);
            }
        }
        None
    }

    pub(super) fn on_unregister_application(
        &mut self,
        now: Timestamp,
        app: AppId,
        out: &mut Vec<MasterEffect>,
    ) {
        if self.apps.contains_key(&app) {
            self.finish_application(now, &app, out);
            self.complete_recovery_if_possible(now, out);
        } else {
            out.push(ignored(IgnoredReason::UnknownApp { app }));
        }
    }

    pub(super) fn finish_application(&mut self, now: Timestamp, app: &AppId, out: &mut Vec<MasterEffect>) {
        self.remove_application(now, app, AppEnd::Finished, out);
    }

    /// Kills the executors of an application and moves it to the history.
    pub(super) fn remove_application(
        &mut self,
        now: Timestamp,
        app: &AppId,
        end: AppEnd,
        out: &mut Vec<MasterEffect>,
    ) {
        let info = self.apps.shift_remove(app).expect("the caller has looked");
        self.peers.remove(&info.peer);
        for (executor, worker) in &info.executors {
            let executor = ExecutorKey { app: app.clone(), executor: *executor };
            self.workers.update(worker, |worker| worker.remove_executor(&executor));
            self.order(worker, MasterToWorker::KillExecutor { executor }, out);
        }
        if end == AppEnd::Failed {
            let message = AppMessage::ApplicationRemoved { message: "its executors fail to run".to_owned() };
            out.push(MasterEffect::ToApp { peer: info.peer, message });
        }
        out.push(MasterEffect::Forget(ObjectName::App(app.clone())));
        for worker in self.workers.iter() {
            out.push(to_worker(worker.peer, MasterToWorker::ApplicationFinished { app: app.clone() }));
        }
        let StoredApp { id, registered, description } = info.stored;
        let completed = CompletedApp { id, name: description.name, registered, ended: now, end };
        remember(&mut self.completed_apps, self.config.retained_apps, completed);
        self.changed = true;
    }

    /// Sets the totals of an application. Executors above a total are not killed; none are added.
    pub(super) fn on_request_executors(
        &mut self,
        peer: Peer,
        app: AppId,
        totals: &[ProfileTotal],
        out: &mut Vec<MasterEffect>,
    ) {
        let refusal = totals.iter().find_map(|wanted| refusal_of(&app, wanted));
        let accepted = match (self.apps.get_mut(&app), refusal) {
            (Some(info), None) => {
                for wanted in totals {
                    info.request(wanted);
                }
                self.changed = true;
                true
            }
            (Some(_), Some(reason)) => {
                out.push(ignored(reason));
                false
            }
            (None, _) => {
                out.push(ignored(IgnoredReason::UnknownApp { app }));
                false
            }
        };
        out.push(reply(peer, Reply::ExecutorsRequested { accepted }));
    }

    /// Kills executors of an application, which has lowered its totals before if it wants no others instead.
    pub(super) fn on_kill_executors(
        &mut self,
        peer: Peer,
        app: AppId,
        executors: Vec<String>,
        out: &mut Vec<MasterEffect>,
    ) {
        let accepted = self.apps.contains_key(&app);
        if accepted {
            for text in executors {
                match text.parse() {
                    Ok(id) => {
                        let executor = ExecutorKey { app: app.clone(), executor: ExecutorId(id) };
                        self.kill_executor(executor, out);
                    }
                    Err(_) => out.push(ignored(IgnoredReason::NotAnExecutorId { text })),
                }
            }
        } else {
            out.push(ignored(IgnoredReason::UnknownApp { app }));
        }
        out.push(reply(peer, Reply::ExecutorsKilled { accepted }));
    }

    fn kill_executor(&mut self, executor: ExecutorKey, out: &mut Vec<MasterEffect>) {
        if let Some((worker, _)) = self.take_executor(&executor) {
            self.order(&worker, MasterToWorker::KillExecutor { executor }, out);
        } else {
            out.push(ignored(IgnoredReason::UnknownExecutor { executor }));
        }
    }

    /// Sends to a worker that is there.
    pub(super) fn order(&self, worker: &WorkerId, message: MasterToWorker, out: &mut Vec<MasterEffect>) {
        let peer = self.workers.get(worker).expect("orders go to workers that are there").peer;
        out.push(to_worker(peer, message));
    }

    /// Sends to an application that is there.
    pub(super) fn tell_app(&self, app: &AppId, message: AppMessage, out: &mut Vec<MasterEffect>) {
        let peer = self.apps.get(app).expect("only applications that are there are told").peer;
        out.push(MasterEffect::ToApp { peer, message });
    }
}

/// Executors without cores would fit any number of times.
pub(super) fn has_cores(executor: &ExecutorRequest) -> bool {
    executor.cores != Some(0)
}

fn refusal_of(app: &AppId, wanted: &ProfileTotal) -> Option<IgnoredReason> {
    let (app, profile) = (app.clone(), wanted.profile);
    if wanted.total < 0 {
        Some(IgnoredReason::NegativeTotal { app, profile })
    } else if wanted.executor.as_ref().is_some_and(|executor| !has_cores(executor)) {
        Some(IgnoredReason::NoCores { app, profile })
    } else {
        None
    }
}
