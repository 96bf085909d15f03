//! The connections that wait for the next request: [`Pool`].

use std::time::{Duration, Instant};

use firesteel_net::Address;
use hashbrown::HashMap;
use parking_lot::Mutex;

use super::link::Link;

/// Idle links by server.
#[derive(Debug)]
pub(super) struct Pool {
    idle: Mutex<HashMap<Address, Vec<Idle>>>,
    max_per_peer: usize,
    max_age: Duration,
}

#[derive(Debug)]
struct Idle {
    link: Link,
    since: Instant,
}

impl Pool {
    pub(super) fn new(max_per_peer: usize, max_age: Duration) -> Self {
        Self { idle: Mutex::default(), max_per_peer, max_age }
    }

    /// The link used last to this server, if it is still good.
    pub(super) fn take(&self, to: &Address) -> Option<Link> {
        loop {
            let Idle { mut link, since } = self.idle.lock().get_mut(to)?.pop()?;
            if since.elapsed() <= self.max_age && link.is_usable() {
                return Some(link);
            }
        }
    }

    /// Keeps a link for the next request, and closes those to any server that were idle for too long.
    pub(super) fn put(&self, link: Link) {
        let mut idle = self.idle.lock();
        idle.retain(|_, links| {
            links.retain(|idle| idle.since.elapsed() <= self.max_age);
            !links.is_empty()
        });
        let links = idle.entry_ref(link.address()).or_default();
        if links.len() < self.max_per_peer {
            links.push(Idle { link, since: Instant::now() });
        }
    }

    pub(super) fn len(&self) -> usize {
        self.idle.lock().values().map(Vec::len).sum()
    }

    pub(super) fn clear(&self) {
        self.idle.lock().clear();
    }
}
