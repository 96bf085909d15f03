//! The thread that owns the master's machine: [`Run`].

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender},
    },
    time::Duration,
};

use firesteel_net::Line;
use firesteel_scheduler::{
    deploy::{ArtifactSource, ContentHash},
    master::{Master, MasterEffect, MasterEvent, ObjectName, Peer, StoredObject},
};
use hashbrown::HashSet;

use super::{
    peers::{PeerNumbers, Peers},
    status::{MasterStatus, status},
};
use crate::{
    artifact::Uploads,
    chores::Chores,
    clock::Clock,
    ending::Ending,
    protocol::{FromMaster, Heard, ToMaster},
    store::Store,
};

/// Something for the master's thread.
pub(super) enum Note {
    /// A peer connected.
    Joined { peer: Peer, line: Line<FromMaster> },
    /// A peer sent a message.
    Said { peer: Peer, message: ToMaster },
    /// A connection is gone.
    Left { peer: Peer },
    /// A status request.
    Status(Sender<MasterStatus>),
    /// It is over.
    Stop,
}

/// A master's machine and all that it acts on.
pub(super) struct Run {
    pub(super) machine: Master,
    pub(super) url: String,
    pub(super) clock: Clock,
    pub(super) store: Box<dyn Store>,
    pub(super) peers: Peers,
    pub(super) numbers: PeerNumbers,
    pub(super) uploads: Arc<Uploads>,
    pub(super) artifact_age: Duration,
    pub(super) chores: Chores,
}

impl Run {
    /// Works until it is told to stop or its machine wants to end.
    pub(super) fn run(mut self, inbox: &Receiver<Note>) -> Ending {
        let mut ending = self.feed(MasterEvent::Elected);
        while ending.is_none() {
            let wait = self.clock.until(self.machine.next_deadline());
            let note = match inbox.recv_timeout(wait) {
                Ok(note) => Some(note),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ending::Stopped,
            };
            // Before the inbox: a flood of messages must not keep the clock from being heard.
            if self.machine.next_deadline().is_some_and(|deadline| deadline <= self.clock.now()) {
                ending = self.feed(MasterEvent::Tick);
            }
            match note {
                Some(Note::Stop) => return Ending::Stopped,
                Some(note) => ending = self.take(note).or(ending),
                None => {}
            }
        }
        ending.unwrap_or(Ending::Stopped)
    }

    fn take(&mut self, note: Note) -> Option<Ending> {
        match note {
            Note::Joined { peer, line } => {
                self.peers.add(peer, line);
                None
            }
            Note::Said { peer, message } => match message.heard_from(peer) {
                Heard::Event(event) => self.feed(event),
                Heard::StateAsked => {
                    self.peers.send(peer, &FromMaster::State(self.machine.state()));
                    None
                }
                Heard::WaitAsked(app) => {
                    self.peers.send(peer, &FromMaster::AppWaits(self.machine.why_waits(&app)));
                    None
                }
            },
            Note::Left { peer } => {
                self.peers.remove(peer);
                self.feed(MasterEvent::Disconnected { peer })
            }
            Note::Status(asked) => {
                // The requester may have gone.
                let _ = asked.send(status(&self.machine, &self.url));
                None
            }
            Note::Stop => Some(Ending::Stopped),
        }
    }

    /// Gives an event to the machine, and does what follows from it.
    fn feed(&mut self, event: MasterEvent) -> Option<Ending> {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            tracing::debug!(?event, "master");
            for effect in self.machine.handle(self.clock.now(), event) {
                tracing::trace!(?effect, "master");
                match effect {
                    MasterEffect::LoadStored => events.push_back(self.load_stored()),
                    MasterEffect::ShutDown => {
                        let reason = "this master leads no longer".to_owned();
                        return Some(Ending::GaveUp { code: 1, reason });
                    }
                    effect => self.perform(effect),
                }
            }
        }
        None
    }

    fn perform(&mut self, effect: MasterEffect) {
        match effect {
            MasterEffect::ToWorker { peer, message } => self.peers.send(peer, &FromMaster::Worker(message)),
            MasterEffect::ToApp { peer, message } => self.peers.send(peer, &FromMaster::App(message)),
            MasterEffect::ToClient { peer, reply } => self.peers.send(peer, &FromMaster::Reply(reply)),
            MasterEffect::Persist(object) => self.persist(&object),
            MasterEffect::Forget(name) => self.forget(&name),
            MasterEffect::Ignored { reason } => tracing::debug!(?reason, "nothing to do"),
            MasterEffect::LoadStored | MasterEffect::ShutDown => {
                unreachable!("these are looked at where events are fed")
            }
        }
    }

    fn persist(&mut self, object: &StoredObject) {
        let name = object.name();
        tracing::info!(object = %name, "new");
        if let Err(error) = self.store.persist(object) {
            tracing::error!(object = %name, %error, "not stored: it would be lost with this master");
        }
    }

    fn forget(&mut self, name: &ObjectName) {
        tracing::info!(object = %name, "gone");
        if let Err(error) = self.store.forget(name) {
            tracing::error!(object = %name, %error, "still stored: the next master would wait for it");
        }
        if matches!(name, ObjectName::Driver(_)) {
            self.sweep_uploads();
        }
    }

    /// Lets go of artifacts that no driver needs any more.
    fn sweep_uploads(&self) {
        let artifacts = self.machine.drivers().flat_map(|driver| &driver.description().command.artifacts);
        let needed: HashSet<ContentHash> = artifacts
            .filter(|artifact| artifact.from == ArtifactSource::Master)
            .map(|artifact| artifact.sha256)
            .collect();
        let (uploads, age) = (self.uploads.clone(), self.artifact_age);
        self.chores.add(move || uploads.sweep(age, |sha256| needed.contains(sha256)));
    }

    /// Everything that was stored, with numbers of connections that are not there: the others come by themselves.
    fn load_stored(&mut self) -> MasterEvent {
        let objects = self.store.load().unwrap_or_else(|error| {
            tracing::error!(%error, "what was stored cannot be read; the cluster begins empty");
            Vec::new()
        });
        if !objects.is_empty() {
            tracing::info!(objects = objects.len(), "recovering");
        }
        let (mut apps, mut drivers, mut workers) = (Vec::new(), Vec::new(), Vec::new());
        for object in objects {
            match object {
                StoredObject::App(app) => apps.push((app, self.numbers.next())),
                StoredObject::Driver(driver) => drivers.push(driver),
                StoredObject::Worker(worker) => workers.push((worker, self.numbers.next())),
            }
        }
        MasterEvent::Recovered { apps, drivers, workers }
    }
}
