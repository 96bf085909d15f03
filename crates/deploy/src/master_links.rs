//! The connections of a worker or an application to its masters: [`MasterLinks`].
//!
//! A machine orders "send this to that master, connecting first if need be", and must not wait. While a master cannot
//! be reached, a thread dials it again and again with growing pauses, so that a master that comes back is found at
//! once. What is to be sent to it then is kept: only the last message, since all that is sent without a connection is a
//! registration, and a later one replaces it. A connection on which the master never replied was made to a master that
//! was about to go; the same is sent on the next one.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use firesteel_net::{Address, Closed, Dialer, Handler, Line, LineConf, NetError, Service, notice};
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
    Up { number: u64, line: Line<ToMaster>, unheard: Option<Unheard> },
    /// It is over.
    Stopped,
}

/// What was said on a connection on which the master has not spoken yet.
struct Unheard {
    said: ToMaster,
    /// How long to wait before it is said on another one.
    pause: Duration,
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
                    notice(|| tracing::warn!(%master, %error, "a message was not sent"));
                }
            }
            Some(Link::Dialing { pending, .. }) => *pending = message,
            Some(Link::Stopped) => {}
            None => {
                let search = self.shared.number();
                links.insert(master.clone(), Link::Dialing { search, pending: message });
                drop(links);
                self.shared.search(master, search, None);
            }
        }
    }

    /// Stops to look for other masters than this one, which has answered.
    pub(crate) fn settle(&self, on: &MasterAddress) {
        let mut links = self.shared.links.lock();
        links.retain(|master, link| match link {
            _ if master == on => true,
            Link::Dialing { .. } => false,
            Link::Up { unheard, .. } => {
                *unheard = None;
                true
            }
            Link::Stopped => true,
        });
        self.shared.changed.notify_all();
    }

    /// Closes every connection after what was sent on it, and dials no master any more.
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

    /// Dials on a thread of its own, until there is a connection or the search is given up. A pause, if given, comes
    /// first.
    fn search(self: &Arc<Self>, master: &MasterAddress, search: u64, pause: Option<Duration>) {
        let run = {
            let (shared, master) = (self.clone(), master.clone());
            move || shared.dial_until_connected(&master, search, pause)
        };
        if let Err(error) = thread::Builder::new().name("dial-master".to_owned()).spawn(run) {
            notice(|| tracing::error!(%master, %error, "no thread to look for a master"));
            self.links.lock().remove(master);
        }
    }

    fn dial_until_connected(self: &Arc<Self>, master: &MasterAddress, search: u64, first: Option<Duration>) {
        let mut pause = first.unwrap_or(self.redial.first);
        if first.is_some() && !self.pause(master, search, &mut pause) {
            return;
        }
        let mut said: Option<String> = None;
        loop {
            let number = self.number();
            match self.dial(master, number) {
                Ok(line) => {
                    let is_settled = self.connected(master, search, number, line, pause);
                    if is_settled {
                        return;
                    }
                }
                Err(error) => {
                    // The same trouble is told once and not every two seconds.
                    let text = error.to_string();
                    if said.as_deref() != Some(&text) {
                        notice(|| tracing::warn!(%master, %error, "cannot reach the master; trying again"));
                        said = Some(text);
                    }
                }
            }
            if !self.pause(master, search, &mut pause) {
                return;
            }
        }
    }

    /// Waits before the next try, each time longer; false when the search was given up.
    fn pause(&self, master: &MasterAddress, search: u64, pause: &mut Duration) -> bool {
        let mut links = self.links.lock();
        self.changed.wait_while_for(&mut links, |links| is_searched(links, master, search), *pause);
        *pause = (*pause * 2).min(self.redial.longest);
        is_searched(&links, master, search)
    }

    fn dial(self: &Arc<Self>, master: &MasterAddress, number: u64) -> Result<Line<ToMaster>, NetError> {
        let address: Address = master.as_str().parse().map_err(|_| NetError::Refused {
            address: Address::new(master.as_str(), 0),
            reason: "this is not an address".to_owned(),
        })?;
        let ear = Ear { shared: self.clone(), master: master.clone(), number };
        self.dialer.line(&address, Service::Master, &self.line, ear)
    }

    /// Takes a new connection, and sends the message that waited. False when the search must go on.
    fn connected(
        &self,
        master: &MasterAddress,
        search: u64,
        number: u64,
        line: Line<ToMaster>,
        pause: Duration,
    ) -> bool {
        let mut links = self.links.lock();
        let pending = match links.get(master) {
            Some(Link::Dialing { search: of, pending }) if *of == search => pending.clone(),
            Some(_) | None => return true,
        };
        if line.send(&pending).is_err() {
            return false;
        }
        tracing::info!(%master, "connected to the master");
        let unheard = Some(Unheard { said: pending, pause });
        links.insert(master.clone(), Link::Up { number, line, unheard });
        true
    }

    fn heard(&self, master: &MasterAddress, number: u64) {
        if let Some(Link::Up { number: of, unheard, .. }) = self.links.lock().get_mut(master)
            && *of == number
        {
            *unheard = None;
        }
    }

    fn lost(self: &Arc<Self>, master: &MasterAddress, number: u64) {
        let mut links = self.links.lock();
        let unheard = match links.get_mut(master) {
            Some(Link::Up { number: of, unheard, .. }) if *of == number => unheard.take(),
            // It broke before it was registered, so no other thread knows it, and the search goes on.
            Some(_) | None => return,
        };
        if let Some(Unheard { said, pause }) = unheard {
            let search = self.number();
            links.insert(master.clone(), Link::Dialing { search, pending: said });
            drop(links);
            self.search(master, search, Some(pause));
        } else {
            links.remove(master);
            drop(links);
            (self.tell)(LinkNews::Lost { master: master.clone() });
        }
    }
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
        self.shared.heard(&self.master, self.number);
        for message in messages.drain(..) {
            (self.shared.tell)(LinkNews::Heard { master: self.master.clone(), message });
        }
    }

    fn closed(&mut self, why: Closed) {
        tracing::info!(master = %self.master, %why, "the connection to the master ended");
        self.shared.lost(&self.master, self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        atomic::AtomicUsize,
        mpsc::{Receiver, Sender, channel},
    };

    use firesteel_net::{Accepted, Listener, ListenerConf, OneSecret, Realm, Secret, Services};
    use firesteel_scheduler::master::RecoveryState;

    use super::*;
    use crate::protocol::ClientToMaster;

    /// Longer than anything takes that works.
    const GUARD: Duration = Duration::from_secs(60);

    /// A master that hangs up on the first `silent` connections, and tells what it hears on the others.
    struct Echo(Sender<ToMaster>, Line<FromMaster>);

    impl Handler<ToMaster> for Echo {
        fn messages(&mut self, messages: &mut Vec<ToMaster>) {
            for message in messages.drain(..) {
                self.0.send(message).unwrap();
                self.1.send(&FromMaster::State(RecoveryState::Alive)).unwrap();
            }
        }

        fn closed(&mut self, _: Closed) {}
    }

    fn listen(port: u16, silent: usize, secret: &Secret) -> (Listener, Receiver<ToMaster>) {
        let (tell, told) = channel();
        let (tell, accepted) = (Mutex::new(tell), AtomicUsize::new(0));
        let accept = move |line: Accepted<FromMaster>| -> Option<Box<dyn Handler<ToMaster>>> {
            let hangs_up = accepted.fetch_add(1, Ordering::Relaxed) < silent;
            (!hangs_up).then(|| Box::new(Echo(tell.lock().clone(), line.line)) as Box<dyn Handler<ToMaster>>)
        };
        let services = Services::new().lines(Service::Master, LineConf::default(), accept);
        let secrets = OneSecret { realm: Realm::cluster(), secret: secret.clone() };
        let conf = ListenerConf::new(Arc::new(secrets));
        (Listener::bind("127.0.0.1", port, 0, conf, services).unwrap(), told)
    }

    fn links(secret: &Secret) -> (MasterLinks, Receiver<LinkNews>) {
        let (tell, news) = channel();
        let tell = Mutex::new(tell);
        let redial = Redial { first: Duration::from_millis(2), longest: Duration::from_millis(10) };
        let dialer = Dialer::new(Realm::cluster(), secret.clone());
        let tell: Tell = Arc::new(move |told| {
            let _ = tell.lock().send(told);
        });
        (MasterLinks::new(dialer, LineConf::default(), redial, tell), news)
    }

    fn said(hosts: &str) -> ToMaster {
        ToMaster::Client(ClientToMaster::DecommissionHosts { hosts: vec![hosts.to_owned()] })
    }

    #[test]
    fn what_was_said_to_a_master_that_hung_up_is_said_again_and_nobody_hears_of_a_loss() {
        let secret = Secret::random();
        let (listener, heard) = listen(0, 3, &secret);
        let (links, news) = links(&secret);
        let master = MasterAddress::from(listener.address().to_string());

        links.send(&master, said("a"));

        assert_eq!(heard.recv_timeout(GUARD), Ok(said("a")));
        assert!(matches!(news.recv_timeout(GUARD), Ok(LinkNews::Heard { .. })));
        listener.stop();
        assert!(matches!(news.recv_timeout(GUARD), Ok(LinkNews::Lost { master: of }) if of == master));
    }

    #[test]
    fn the_last_message_reaches_a_master_that_comes_later_and_none_a_master_that_nobody_wants() {
        let secret = Secret::random();
        let (listener, _) = listen(0, 0, &secret);
        let address = listener.address();
        listener.stop();
        let (links, _news) = links(&secret);
        let (master, other) = (MasterAddress::from(address.to_string()), MasterAddress::from("127.0.0.1:1"));
        links.send(&master, said("a"));
        links.send(&other, said("a"));
        links.send(&master, said("b"));

        links.settle(&master);
        assert!(!links.shared.links.lock().contains_key(&other));
        let (_listener, heard) = listen(address.port(), 0, &secret);
        assert_eq!(heard.recv_timeout(GUARD), Ok(said("b")));
        links.send(&master, said("c"));
        assert_eq!(heard.recv_timeout(GUARD), Ok(said("c")));

        links.stop(&[]);
        links.send(&master, said("d"));
        assert!(matches!(links.shared.links.lock()[&master], Link::Stopped), "no master is searched for");
    }
}
