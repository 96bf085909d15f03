//! The connections of a worker or an application to its masters: [`MasterLinks`].
//!
//! A machine says "send this to that master, connecting first if need be", and must not wait. While a master cannot be
//! reached, a thread dials it again and again with growing pauses, so that a master that comes back is found at once.
//! What is to be said to it then is kept: only the last message, since all that is said without a connection is a
//! registration, and a later one says the same.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use firesteel_net::{Address, Closed, Dialer, Handler, Line, LineConf, NetError, Service};
use firesteel_scheduler::deploy::MasterAddress;
use hashbrown::HashMap;
use parking_lot::{Condvar, Mutex};

use crate::protocol::{FromMaster, ToMaster};

/// What happened on a connection to a master.
#[derive(Debug)]
pub(crate) enum LinkNews {
    /// A master said something.
    Heard { master: MasterAddress, message: FromMaster },
    /// A connection broke.
    Lost { master: MasterAddress },
}

/// Tells the owner what happened, from any thread.
pub(crate) type Tell = Arc<dyn Fn(LinkNews) + Send + Sync>;

/// How patiently masters are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redial {
    /// The pause after the first failure; each further one is twice as long.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
}

impl Default for Redial {
    fn default() -> Self {
        Self { first: Duration::from_millis(100), longest: Duration::from_secs(2) }
    }
}

/// Connections to some masters, made when they are needed.
pub(crate) struct MasterLinks {
    shared: Arc<Shared>,
}

struct Shared {
    dialer: Dialer,
    line: LineConf,
    redial: Redial,
    tell: Tell,
    links: Mutex<HashMap<MasterAddress, Link>>,
    /// Wakes dialing threads that pause.
    changed: Condvar,
    numbers: AtomicU64,
}

enum Link {
    /// A thread looks for the master. The number is that of the search.
    Dialing { search: u64, pending: ToMaster },
    /// Connected. The number is that of the connection.
    Up { number: u64, line: Line<ToMaster> },
    /// It is over.
    Stopped,
}

impl MasterLinks {
    pub(crate) fn new(dialer: Dialer, line: LineConf, redial: Redial, tell: Tell) -> Self {
        let (links, numbers) = (Mutex::default(), AtomicU64::new(0));
        Self {
            shared: Arc::new(Shared { dialer, line, redial, tell, links, changed: Condvar::new(), numbers }),
        }
    }

    /// Sends without waiting, and looks for the master if there is no connection to it.
    pub(crate) fn send(&self, master: &MasterAddress, message: ToMaster) {
        let mut links = self.shared.links.lock();
        match links.get_mut(master) {
            // A message on a connection that just broke is lost with it. The owner is about to hear of that.
            Some(Link::Up { line, .. }) => {
                if let Err(error) = line.send(&message) {
                    tracing::warn!(%master, %error, "a message was not sent");
                }
            }
            Some(Link::Dialing { pending, .. }) => *pending = message,
            Some(Link::Stopped) => {}
            None => {
                let search = self.shared.number();
                links.insert(master.clone(), Link::Dialing { search, pending: message });
                drop(links);
                self.shared.clone().search(master.clone(), search);
            }
        }
    }

    /// Stops to look for other masters than this one, which has answered.
    pub(crate) fn settle(&self, on: &MasterAddress) {
        let mut links = self.shared.links.lock();
        links.retain(|master, link| master == on || !matches!(link, Link::Dialing { .. }));
        self.shared.changed.notify_all();
    }

    /// Closes every connection after what was sent on it, and looks for nobody any more.
    pub(crate) fn stop(&self, masters: &[MasterAddress]) {
        let mut open = Vec::new();
        {
            let mut links = self.shared.links.lock();
            let known: Vec<MasterAddress> = links.keys().cloned().collect();
            for master in masters.iter().chain(&known) {
                if let Some(Link::Up { line, .. }) = links.insert(master.clone(), Link::Stopped) {
                    open.push(line);
                }
            }
            self.shared.changed.notify_all();
        }
        for line in &open {
            line.close();
        }
        for line in open {
            line.wait_closed(self.shared.line.close_timeout);
        }
    }
}

impl Shared {
    fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Dials on a thread of its own, until there is a connection or nobody wants one.
    fn search(self: Arc<Self>, master: MasterAddress, search: u64) {
        let run = {
            let (shared, master) = (self.clone(), master.clone());
            move || shared.dial_until_connected(&master, search)
        };
        if let Err(error) = thread::Builder::new().name("dial-master".to_owned()).spawn(run) {
            tracing::error!(%master, %error, "no thread to look for a master");
            self.links.lock().remove(&master);
        }
    }

    fn dial_until_connected(self: &Arc<Self>, master: &MasterAddress, search: u64) {
        let mut pause = self.redial.first;
        let mut said: Option<String> = None;
        loop {
            let number = self.number();
            match self.dial(master, number) {
                Ok(line) => match self.connected(master, search, number, line) {
                    Connected::Up | Connected::Unwanted => return,
                    Connected::Broken => {}
                },
                Err(error) => {
                    // The same trouble is told once and not every two seconds.
                    let text = error.to_string();
                    if said.as_deref() != Some(&text) {
                        tracing::warn!(%master, %error, "cannot reach the master; trying again");
                        said = Some(text);
                    }
                }
            }
            let mut links = self.links.lock();
            if !is_searched(&links, master, search) {
                return;
            }
            self.changed.wait_for(&mut links, pause);
            if !is_searched(&links, master, search) {
                return;
            }
            pause = (pause * 2).min(self.redial.longest);
        }
    }

    fn dial(self: &Arc<Self>, master: &MasterAddress, number: u64) -> Result<Line<ToMaster>, NetError> {
        let address: Address = master.as_str().parse().map_err(|_| NetError::Refused {
            address: Address::new(master.as_str(), 0),
            reason: "this is not an address".to_owned(),
        })?;
        let ear = Ear { shared: self.clone(), master: master.clone(), number };
        self.dialer.line(&address, Service::Master, &self.line, ear)
    }

    /// Takes a new connection, and says on it what waited to be said.
    fn connected(&self, master: &MasterAddress, search: u64, number: u64, line: Line<ToMaster>) -> Connected {
        let mut links = self.links.lock();
        let pending = match links.get(master) {
            Some(Link::Dialing { search: of, pending }) if *of == search => pending.clone(),
            Some(_) | None => return Connected::Unwanted,
        };
        if line.send(&pending).is_err() {
            return Connected::Broken;
        }
        tracing::info!(%master, "connected to the master");
        links.insert(master.clone(), Link::Up { number, line });
        Connected::Up
    }

    fn lost(&self, master: &MasterAddress, number: u64) {
        let mut links = self.links.lock();
        // A connection that broke before it was taken in is known to nobody, and the search goes on.
        if matches!(links.get(master), Some(Link::Up { number: of, .. }) if *of == number) {
            links.remove(master);
            drop(links);
            (self.tell)(LinkNews::Lost { master: master.clone() });
        }
    }
}

enum Connected {
    Up,
    Unwanted,
    Broken,
}

fn is_searched(links: &HashMap<MasterAddress, Link>, master: &MasterAddress, search: u64) -> bool {
    matches!(links.get(master), Some(Link::Dialing { search: of, .. }) if *of == search)
}

/// Hears one connection.
struct Ear {
    shared: Arc<Shared>,
    master: MasterAddress,
    number: u64,
}

impl Handler<FromMaster> for Ear {
    fn messages(&mut self, messages: &mut Vec<FromMaster>) {
        for message in messages.drain(..) {
            (self.shared.tell)(LinkNews::Heard { master: self.master.clone(), message });
        }
    }

    fn closed(&mut self, why: Closed) {
        tracing::info!(master = %self.master, %why, "the connection to the master ended");
        self.shared.lost(&self.master, self.number);
    }
}
