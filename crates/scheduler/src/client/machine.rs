//! The client's state, and the way in: [`Client::handle`].

use std::collections::{BTreeMap, VecDeque, btree_map::Entry};

use firesteel_types::{AppId, ExecutorId, Host, ProfileId, Timestamp};

use super::{
    config::{ClientConfig, ClientConfigError},
    effect::{ClientEffect, ClientIgnored},
    event::{ClientEvent, RequestId},
    message::AppToMaster,
};
use crate::{
    deploy::{ExecutorState, MasterAddress},
    master::{AppDescription, AppMessage, ProfileTotal, Reply},
};

/// An application's client of the standalone cluster.
///
/// Feed it [`ClientEvent::Started`] first, then each event as it happens; wake it with [`ClientEvent::Tick`] at
/// [`Client::next_deadline`].
#[derive(Clone, Debug)]
pub struct Client {
    config: ClientConfig,
    description: AppDescription,
    phase: Phase,
    /// What the master has yet to answer, oldest first. It answers in order.
    asked: VecDeque<Asked>,
    /// The executors a master granted last, for one that does not know.
    totals: BTreeMap<ProfileId, ProfileTotal>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// Not started.
    Idle,
    /// Asking every master; `tries` were made, and the next is due at `next`.
    Registering { tries: u32, next: Timestamp },
    /// Taken in.
    Connected { app: AppId, master: MasterAddress },
    /// The connection to `last` broke. The application goes on and looks for its master.
    Disconnected { app: AppId, last: MasterAddress, next: Timestamp },
    /// Dead or stopped.
    Ended,
}

/// A question that a master has to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    about: Question,
    /// The request to answer; none for what the client asks by itself.
    request: Option<RequestId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Question {
    Totals(Vec<ProfileTotal>),
    Kill,
}

impl Client {
    /// A client for the application `description`.
    pub fn new(config: ClientConfig, description: AppDescription) -> Result<Self, ClientConfigError> {
        config.check()?;
        let (asked, totals) = (VecDeque::new(), BTreeMap::new());
        Ok(Self { config, description, phase: Phase::Idle, asked, totals })
    }

    /// Takes an event that happened at `now`, then does what is due by then.
    pub fn handle(&mut self, now: Timestamp, event: ClientEvent) -> Vec<ClientEffect> {
        let mut out = Vec::new();
        match event {
            ClientEvent::Started => self.on_started(now, &mut out),
            ClientEvent::FromMaster { master, message } => self.on_message(master, message, &mut out),
            ClientEvent::Answered { master, reply } => self.on_reply(master, reply, &mut out),
            ClientEvent::MasterLost { master } => self.on_master_lost(now, master, &mut out),
            ClientEvent::RequestExecutors { request, totals } => {
                self.on_request_executors(request, totals, &mut out);
            }
            ClientEvent::KillExecutors { request, executors } => {
                self.on_kill_executors(request, &executors, &mut out);
            }
            ClientEvent::Stopped => self.on_stopped(&mut out),
            ClientEvent::Tick => {}
        }
        self.do_what_is_due(now, &mut out);
        out
    }

    /// When it next wants a [`ClientEvent::Tick`].
    pub fn next_deadline(&self) -> Option<Timestamp> {
        match self.phase {
            Phase::Registering { next, .. } | Phase::Disconnected { next, .. } => Some(next),
            Phase::Idle | Phase::Connected { .. } | Phase::Ended => None,
        }
    }

    /// The application's id, once it is registered.
    pub fn app(&self) -> Option<&AppId> {
        match &self.phase {
            Phase::Connected { app, .. } | Phase::Disconnected { app, .. } => Some(app),
            Phase::Idle | Phase::Registering { .. } | Phase::Ended => None,
        }
    }

    /// Whether no request waits for an answer.
    pub fn is_quiescent(&self) -> bool {
        self.asked.is_empty()
    }

    fn on_started(&mut self, now: Timestamp, out: &mut Vec<ClientEffect>) {
        if self.phase != Phase::Idle {
            return ignore(ClientIgnored::OutOfOrder, out);
        }
        self.register(now, 1, out);
    }

    fn register(&mut self, now: Timestamp, tries: u32, out: &mut Vec<ClientEffect>) {
        self.phase = Phase::Registering { tries, next: now + self.config.registration_timeout };
        let message = AppToMaster::RegisterApplication(Box::new(self.description.clone()));
        self.tell_all(&message, out);
    }

    fn tell_all(&self, message: &AppToMaster, out: &mut Vec<ClientEffect>) {
        for master in &self.config.masters {
            out.push(ClientEffect::ToMaster { master: master.clone(), message: message.clone() });
        }
    }

    fn do_what_is_due(&mut self, now: Timestamp, out: &mut Vec<ClientEffect>) {
        match &mut self.phase {
            Phase::Registering { tries, next } if *next <= now => {
                let tries = *tries;
                if tries < self.config.registration_tries {
                    self.register(now, tries + 1, out);
                } else {
                    self.die("all masters are unresponsive, giving up".to_owned(), out);
                }
            }
            Phase::Disconnected { app, next, .. } if *next <= now => {
                *next = now + self.config.reconnect_interval;
                let message = AppToMaster::ReconnectApplication { app: app.clone() };
                self.tell_all(&message, out);
            }
            Phase::Idle
            | Phase::Registering { .. }
            | Phase::Connected { .. }
            | Phase::Disconnected { .. }
            | Phase::Ended => {}
        }
    }

    fn on_reply(&mut self, master: MasterAddress, reply: Reply, out: &mut Vec<ClientEffect>) {
        match reply {
            Reply::RegisteredApplication { app } => self.on_registered(master, app, out),
            Reply::RegisterApplicationFailed { message } => match self.phase {
                Phase::Registering { .. } => {
                    self.die(format!("{master} refused the application: {message}"), out);
                }
                Phase::Idle | Phase::Connected { .. } | Phase::Disconnected { .. } | Phase::Ended => {
                    ignore(ClientIgnored::NotActiveMaster { master }, out);
                }
            },
            Reply::ExecutorsRequested { accepted } => {
                let is_about = |question: &Question| matches!(question, Question::Totals(_));
                self.on_answer(master, is_about, accepted, out);
            }
            Reply::ExecutorsKilled { accepted } => {
                self.on_answer(master, |question| *question == Question::Kill, accepted, out);
            }
            Reply::DriverSubmitted { .. }
            | Reply::DriverKilled { .. }
            | Reply::AllDriversKilled
            | Reply::DriverStatus { .. }
            | Reply::CompletedCleared
            | Reply::NotAlive { .. }
            | Reply::WorkersDecommissioned { .. } => ignore(ClientIgnored::NothingAsked, out),
        }
    }

    fn on_registered(&mut self, master: MasterAddress, app: AppId, out: &mut Vec<ClientEffect>) {
        match &self.phase {
            Phase::Registering { .. } => {
                self.phase = Phase::Connected { app: app.clone(), master };
                out.push(ClientEffect::Connected { app });
            }
            Phase::Connected { app: known, .. } | Phase::Disconnected { app: known, .. } if *known == app => {
                ignore(ClientIgnored::AlreadyRegistered { master }, out);
            }
            // Left registered there, the application would hold executors that it does not use.
            Phase::Connected { .. } | Phase::Disconnected { .. } | Phase::Ended => {
                let message = AppToMaster::UnregisterApplication { app };
                out.push(ClientEffect::ToMaster { master: master.clone(), message });
                ignore(ClientIgnored::AlreadyRegistered { master }, out);
            }
            Phase::Idle => ignore(ClientIgnored::OutOfOrder, out),
        }
    }

    fn on_answer(
        &mut self,
        master: MasterAddress,
        is_about: impl Fn(&Question) -> bool,
        accepted: bool,
        out: &mut Vec<ClientEffect>,
    ) {
        if !self.is_active(&master) {
            return ignore(ClientIgnored::NotActiveMaster { master }, out);
        }
        let Some(Asked { about, request }) = self.asked.pop_front_if(|asked| is_about(&asked.about)) else {
            return ignore(ClientIgnored::NothingAsked, out);
        };
        if let (Question::Totals(totals), true) = (about, accepted) {
            self.remember_totals(totals);
        }
        out.extend(request.map(|request| ClientEffect::Answer { request, accepted }));
    }

    /// Only the first request of a profile has to define it, so the definition is kept.
    fn remember_totals(&mut self, totals: Vec<ProfileTotal>) {
        for wanted in totals {
            match self.totals.entry(wanted.profile) {
                Entry::Occupied(mut known) => known.get_mut().total = wanted.total,
                Entry::Vacant(free) => {
                    free.insert(wanted);
                }
            }
        }
    }

    fn on_message(&mut self, master: MasterAddress, message: AppMessage, out: &mut Vec<ClientEffect>) {
        match (&self.phase, message) {
            (Phase::Idle | Phase::Registering { .. }, _) => ignore(ClientIgnored::OutOfOrder, out),
            (Phase::Ended, _) => ignore(ClientIgnored::Ended, out),
            (Phase::Connected { app, .. } | Phase::Disconnected { app, .. }, AppMessage::MasterChanged) => {
                let app = app.clone();
                self.on_master_changed(master, app, out);
            }
            // Another master may never have heard of the application.
            (
                Phase::Connected { master: active, .. } | Phase::Disconnected { last: active, .. },
                AppMessage::ApplicationRemoved { message },
            ) if *active == master => {
                self.die(format!("{master} removed the application: {message}"), out);
            }
            (Phase::Connected { master: active, .. }, message) if *active == master => {
                on_executors_message(message, out);
            }
            (Phase::Connected { .. } | Phase::Disconnected { .. }, _) => {
                ignore(ClientIgnored::NotActiveMaster { master }, out);
            }
        }
    }

    /// A master leads that knows the application, or knows it again.
    fn on_master_changed(&mut self, master: MasterAddress, app: AppId, out: &mut Vec<ClientEffect>) {
        let was_lost = matches!(self.phase, Phase::Disconnected { .. });
        if !was_lost && !self.is_active(&master) {
            self.give_up_answers(out);
        }
        self.phase = Phase::Connected { app: app.clone(), master: master.clone() };
        let acknowledged = AppToMaster::MasterChangeAcknowledged { app: app.clone() };
        out.push(ClientEffect::ToMaster { master: master.clone(), message: acknowledged });
        if !self.totals.is_empty() {
            let totals: Vec<ProfileTotal> = self.totals.values().cloned().collect();
            self.asked.push_back(Asked { about: Question::Totals(totals.clone()), request: None });
            let message = AppToMaster::RequestExecutors { app: app.clone(), totals };
            out.push(ClientEffect::ToMaster { master, message });
        }
        if was_lost {
            out.push(ClientEffect::Connected { app });
        }
    }

    fn on_master_lost(&mut self, now: Timestamp, master: MasterAddress, out: &mut Vec<ClientEffect>) {
        match &self.phase {
            Phase::Connected { app, master: active } if *active == master => {
                let app = app.clone();
                out.push(ClientEffect::Disconnected);
                self.give_up_answers(out);
                self.phase = Phase::Disconnected { app, last: master, next: now };
            }
            Phase::Ended => ignore(ClientIgnored::Ended, out),
            // Tries to find one are under way.
            Phase::Idle
            | Phase::Registering { .. }
            | Phase::Connected { .. }
            | Phase::Disconnected { .. } => {
                ignore(ClientIgnored::NotActiveMaster { master }, out);
            }
        }
    }

    fn on_request_executors(
        &mut self,
        request: RequestId,
        totals: Vec<ProfileTotal>,
        out: &mut Vec<ClientEffect>,
    ) {
        let Some(app) = self.ask(request, Question::Totals(totals.clone()), out) else { return };
        self.tell(AppToMaster::RequestExecutors { app, totals }, out);
    }

    fn on_kill_executors(
        &mut self,
        request: RequestId,
        executors: &[ExecutorId],
        out: &mut Vec<ClientEffect>,
    ) {
        let Some(app) = self.ask(request, Question::Kill, out) else { return };
        let executors = executors.iter().map(|executor| executor.0.to_string()).collect();
        self.tell(AppToMaster::KillExecutors { app, executors }, out);
    }

    /// Notes a question of the driver. Without a master its answer is no, and there is nothing to send.
    fn ask(&mut self, request: RequestId, about: Question, out: &mut Vec<ClientEffect>) -> Option<AppId> {
        let Phase::Connected { app, .. } = &self.phase else {
            out.push(ClientEffect::Answer { request, accepted: false });
            return None;
        };
        self.asked.push_back(Asked { about, request: Some(request) });
        Some(app.clone())
    }

    fn tell(&self, message: AppToMaster, out: &mut Vec<ClientEffect>) {
        if let Phase::Connected { master, .. } = &self.phase {
            out.push(ClientEffect::ToMaster { master: master.clone(), message });
        }
    }

    fn on_stopped(&mut self, out: &mut Vec<ClientEffect>) {
        if let Phase::Connected { app, .. } = &self.phase {
            let app = app.clone();
            self.tell(AppToMaster::UnregisterApplication { app }, out);
        }
        self.give_up_answers(out);
        self.phase = Phase::Ended;
    }

    fn die(&mut self, reason: String, out: &mut Vec<ClientEffect>) {
        self.give_up_answers(out);
        self.phase = Phase::Ended;
        out.push(ClientEffect::Dead { reason });
    }

    /// What is not answered on a connection never will be.
    fn give_up_answers(&mut self, out: &mut Vec<ClientEffect>) {
        let waiting = self.asked.drain(..).filter_map(|asked| asked.request);
        out.extend(waiting.map(|request| ClientEffect::Answer { request, accepted: false }));
    }

    fn is_active(&self, master: &MasterAddress) -> bool {
        matches!(&self.phase, Phase::Connected { master: active, .. } if active == master)
    }
}

fn on_executors_message(message: AppMessage, out: &mut Vec<ClientEffect>) {
    match message {
        AppMessage::ExecutorAdded { executor, worker, host, port, cores, memory_mib } => {
            out.push(ClientEffect::ExecutorAdded { executor, worker, host, port, cores, memory_mib });
        }
        AppMessage::ExecutorUpdated { executor, state, message, exit_code, worker_host } => {
            on_executor_updated(executor, state, message, exit_code, worker_host, out);
        }
        AppMessage::WorkerRemoved { worker, host, message } => {
            out.push(ClientEffect::WorkerRemoved { worker, host, message });
        }
        AppMessage::ApplicationRemoved { .. } | AppMessage::MasterChanged => {
            unreachable!("these are about the application, and were looked at before")
        }
    }
}

fn on_executor_updated(
    executor: ExecutorId,
    state: ExecutorState,
    message: Option<String>,
    exit_code: Option<i32>,
    worker_host: Option<Host>,
    out: &mut Vec<ClientEffect>,
) {
    let message = message.unwrap_or_default();
    match state {
        ExecutorState::Launching | ExecutorState::Running => {
            ignore(ClientIgnored::Progress { executor }, out);
        }
        ExecutorState::Decommissioned => {
            out.push(ClientEffect::ExecutorDecommissioned { executor, message, worker_host });
        }
        ExecutorState::Killed | ExecutorState::Failed | ExecutorState::Lost | ExecutorState::Exited => {
            out.push(ClientEffect::ExecutorRemoved { executor, message, exit_code, worker_host });
        }
    }
}

/// Reports that an event changed nothing.
fn ignore(reason: ClientIgnored, out: &mut Vec<ClientEffect>) {
    out.push(ClientEffect::Ignored { reason });
}
