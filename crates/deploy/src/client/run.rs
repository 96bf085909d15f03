//! The thread that owns the client's machine: [`Run`].

use std::sync::{
    Arc,
    mpsc::{Receiver, RecvTimeoutError, Sender},
};

use firesteel_net::notice;
use firesteel_scheduler::{
    client::{Client, ClientEffect, ClientEvent, RequestId},
    deploy::MasterAddress,
    master::{AppMessage, ProfileTotal, Reply},
};
use firesteel_types::ExecutorId;
use hashbrown::HashMap;

use super::events::{AppEvents, ExecutorPlace};
use crate::{
    clock::Clock,
    master_links::{LinkNews, MasterLinks},
    protocol::{FromMaster, ToMaster},
};

/// Something for the client's thread.
pub(super) enum Note {
    /// A master spoke, or was lost.
    Link(LinkNews),
    /// The driver sets how many executors it wants.
    Request { totals: Vec<ProfileTotal>, answer: Sender<bool> },
    /// The driver gives executors up.
    Kill { executors: Vec<ExecutorId>, answer: Sender<bool> },
    /// It is over.
    Stop,
}

/// A client's machine and all that it acts on.
pub(super) struct Run {
    pub(super) machine: Client,
    pub(super) masters: Vec<MasterAddress>,
    pub(super) clock: Clock,
    pub(super) links: MasterLinks,
    pub(super) events: Arc<dyn AppEvents>,
    pub(super) asked: HashMap<RequestId, Sender<bool>>,
    pub(super) next_request: u64,
}

impl Run {
    /// Works until it is told to stop.
    pub(super) fn run(mut self, inbox: &Receiver<Note>) {
        self.feed(ClientEvent::Started);
        loop {
            match inbox.recv_timeout(self.clock.until(self.machine.next_deadline())) {
                Ok(Note::Link(news)) => self.on_link(news),
                Ok(Note::Request { totals, answer }) => {
                    let request = self.ask(answer);
                    self.feed(ClientEvent::RequestExecutors { request, totals });
                }
                Ok(Note::Kill { executors, answer }) => {
                    let request = self.ask(answer);
                    self.feed(ClientEvent::KillExecutors { request, executors });
                }
                Ok(Note::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => self.feed(ClientEvent::Tick),
            }
        }
        self.feed(ClientEvent::Stopped);
        self.links.stop(&self.masters);
    }

    fn ask(&mut self, answer: Sender<bool>) -> RequestId {
        let request = RequestId(self.next_request);
        self.next_request += 1;
        self.asked.insert(request, answer);
        request
    }

    fn on_link(&mut self, news: LinkNews) {
        match news {
            LinkNews::Heard { master, message: FromMaster::App(message) } => {
                if matches!(message, AppMessage::MasterChanged) {
                    self.links.settle(&master);
                }
                self.feed(ClientEvent::FromMaster { master, message });
            }
            LinkNews::Heard { master, message: FromMaster::Reply(reply) } => {
                if matches!(reply, Reply::RegisteredApplication { .. }) {
                    self.links.settle(&master);
                }
                self.feed(ClientEvent::Answered { master, reply });
            }
            LinkNews::Heard { master, message } => {
                notice(
                    || tracing::warn!(%master, ?message, "the master takes this application for another one"),
                );
            }
            LinkNews::Lost { master } => self.feed(ClientEvent::MasterLost { master }),
        }
    }

    fn feed(&mut self, event: ClientEvent) {
        tracing::debug!(?event, "client");
        for effect in self.machine.handle(self.clock.now(), event) {
            tracing::trace!(?effect, "client");
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: ClientEffect) {
        match effect {
            ClientEffect::ToMaster { master, message } => self.links.send(&master, ToMaster::App(message)),
            ClientEffect::Answer { request, accepted } => {
                if let Some(answer) = self.asked.remove(&request) {
                    // The caller may have given up.
                    let _ = answer.send(accepted);
                }
            }
            ClientEffect::Connected { app } => {
                tracing::info!(%app, "connected to a master");
                self.events.connected(&app);
            }
            ClientEffect::Disconnected => {
                notice(|| tracing::warn!("lost the master; the application goes on and looks for it"));
                self.events.disconnected();
            }
            ClientEffect::Dead { reason } => {
                notice(|| tracing::error!(reason, "the application has no master any more"));
                self.events.dead(&reason);
            }
            ClientEffect::ExecutorAdded { executor, worker, host, port, cores, memory_mib } => {
                let place = ExecutorPlace { worker, host, port, cores, memory_mib };
                self.events.executor_added(executor, &place);
            }
            ClientEffect::ExecutorRemoved { executor, message, exit_code, worker_host } => {
                self.events.executor_removed(executor, &message, exit_code, worker_host.as_ref());
            }
            ClientEffect::ExecutorDecommissioned { executor, message, worker_host } => {
                self.events.executor_decommissioned(executor, &message, worker_host.as_ref());
            }
            ClientEffect::WorkerRemoved { worker, host, message } => {
                self.events.worker_removed(&worker, &host, &message);
            }
            ClientEffect::Ignored { reason } => tracing::debug!(?reason, "nothing to do"),
        }
    }
}
