//! The connections of a master: [`Peers`].

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
    mpsc::SyncSender,
};

use firesteel_net::{Accepted, Closed, Handler, Line, Realm};
use firesteel_scheduler::master::Peer;
use hashbrown::HashMap;

use super::run::Note;
use crate::protocol::{FromMaster, ToMaster};

/// Gives connections their numbers, from any thread.
#[derive(Clone, Debug, Default)]
pub(super) struct PeerNumbers(Arc<AtomicU64>);

impl PeerNumbers {
    pub(super) fn next(&self) -> Peer {
        Peer(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// The lines of those who are connected, by number.
#[derive(Debug, Default)]
pub(super) struct Peers {
    lines: HashMap<Peer, Line<FromMaster>>,
}

impl Peers {
    pub(super) fn add(&mut self, peer: Peer, line: Line<FromMaster>) {
        self.lines.insert(peer, line);
    }

    pub(super) fn remove(&mut self, peer: Peer) {
        self.lines.remove(&peer);
    }

    /// Sends without waiting. Who is not connected, or not yet again, misses it.
    pub(super) fn send(&self, peer: Peer, message: &FromMaster) {
        match self.lines.get(&peer).map(|line| line.send(message)) {
            Some(Ok(())) => {}
            Some(Err(error)) => tracing::warn!(peer = peer.0, %error, "a message was not sent"),
            None => tracing::debug!(peer = peer.0, "a message for a peer that is not connected"),
        }
    }
}

/// Takes a new connection in, and gives who hears it.
pub(super) fn accept(
    accepted: Accepted<FromMaster>,
    numbers: &PeerNumbers,
    inbox: &SyncSender<Note>,
) -> Option<Box<dyn Handler<ToMaster>>> {
    let Accepted { line, realm, peer: address } = accepted;
    if realm != Realm::cluster() {
        tracing::warn!(%address, %realm, "refused a connection that is not of the cluster");
        return None;
    }
    let peer = numbers.next();
    tracing::debug!(peer = peer.0, %address, "connected");
    let inbox = inbox.clone();
    inbox.send(Note::Joined { peer, line }).ok()?;
    Some(Box::new(Ear { peer, inbox }))
}

/// Brings what is said on a line to the inbox.
struct Ear {
    peer: Peer,
    inbox: SyncSender<Note>,
}

impl Handler<ToMaster> for Ear {
    fn messages(&mut self, messages: &mut Vec<ToMaster>) {
        for message in messages.drain(..) {
            // The master is stopping, and its inbox is closed.
            let _ = self.inbox.send(Note::Said { peer: self.peer, message });
        }
    }

    fn closed(&mut self, why: Closed) {
        tracing::debug!(peer = self.peer.0, %why, "disconnected");
        let _ = self.inbox.send(Note::Left { peer: self.peer });
    }
}
