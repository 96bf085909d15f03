//! A listener whose services tell what they see, handlers that record, and a proxy that stops.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

use crate::{
    Accepted, Address, Closed, Dialer, Handler, Line, LineConf, Listener, ListenerConf, NetError, OneSecret,
    Realm, Secret, Service, Services,
};

/// Longer than anything takes that works; only a failure waits for it.
pub(super) const GUARD: Duration = Duration::from_secs(30);

/// Waits for something that another thread does soon.
pub(super) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < GUARD, "{what} never came");
        thread::yield_now();
    }
}

/// What a handler heard.
#[derive(Debug)]
pub(super) enum Heard {
    Batch(Vec<String>),
    Closed(Closed),
}

/// Sends what it hears to a test.
pub(super) struct Ear {
    heard: mpsc::Sender<Heard>,
    /// The line it came by, which stays open while this is there.
    _line: Option<Line<String>>,
}

impl Handler<String> for Ear {
    fn messages(&mut self, messages: &mut Vec<String>) {
        // A test that is over listens no more.
        let _ = self.heard.send(Heard::Batch(std::mem::take(messages)));
    }

    fn closed(&mut self, why: Closed) {
        let _ = self.heard.send(Heard::Closed(why));
    }
}

/// What one end of a line hears.
pub(super) struct Ears(mpsc::Receiver<Heard>);

impl Ears {
    pub(super) fn new() -> (Ear, Self) {
        let (heard, ears) = mpsc::channel();
        (Ear { heard, _line: None }, Self(ears))
    }

    /// Waits for `count` messages, none of which may be the last.
    pub(super) fn messages(&self, count: usize) -> Vec<String> {
        let mut all = Vec::new();
        while all.len() < count {
            match self.0.recv_timeout(GUARD).unwrap() {
                Heard::Batch(batch) => all.extend(batch),
                Heard::Closed(why) => panic!("closed after {} messages of {count}: {why}", all.len()),
            }
        }
        assert_eq!(all.len(), count, "more came than expected");
        all
    }

    /// Waits for the end: the messages before it, and why.
    pub(super) fn end(&self) -> (Vec<String>, Closed) {
        let mut all = Vec::new();
        loop {
            match self.0.recv_timeout(GUARD).unwrap() {
                Heard::Batch(batch) => all.extend(batch),
                Heard::Closed(why) => {
                    assert!(self.0.recv_timeout(GUARD).is_err(), "closed comes once and last");
                    return (all, why);
                }
            }
        }
    }
}

/// The listening end of a line, as a test sees it.
pub(super) struct Taken {
    pub(super) line: Line<String>,
    pub(super) realm: Realm,
    pub(super) peer: SocketAddr,
    pub(super) ears: Ears,
}

/// A listener with lines at the service of the master and an echo of bytes at that of artifacts.
pub(super) struct Rig {
    pub(super) listener: Listener,
    pub(super) realm: Realm,
    pub(super) secret: Secret,
    pub(super) conf: LineConf,
    taken: mpsc::Receiver<Taken>,
}

impl Rig {
    pub(super) fn new() -> Self {
        Self::with(|_, _| {})
    }

    pub(super) fn with(change: impl FnOnce(&mut ListenerConf, &mut LineConf)) -> Self {
        let (realm, secret) = (Realm::from("app-1"), Secret::random());
        let secrets = Arc::new(OneSecret { realm: realm.clone(), secret: secret.clone() });
        let (mut conf, mut line_conf) = (ListenerConf::new(secrets), LineConf::default());
        change(&mut conf, &mut line_conf);
        let (tell, taken) = mpsc::channel();
        let tell = Mutex::new(tell);
        let services = Services::new()
            .lines::<String, String>(Service::Master, line_conf.clone(), move |accepted| {
                let Accepted { line, realm, peer } = accepted;
                let (ear, ears) = Ears::new();
                tell.lock().send(Taken { line, realm, peer, ears }).ok()?;
                Some(Box::new(ear))
            })
            .streams(Service::Artifacts, |mut stream, _| {
                let mut buffer = [0; 1000];
                while let Ok(read @ 1..) = stream.read(&mut buffer) {
                    let _ = stream.write_all(&buffer[..read]).and_then(|()| stream.flush());
                }
            });
        let listener = Listener::bind("127.0.0.1", 0, 0, conf, services).unwrap();
        Self { listener, realm, secret, conf: line_conf, taken }
    }

    pub(super) fn address(&self) -> Address {
        Address::from(self.listener.address())
    }

    pub(super) fn dialer(&self) -> Dialer {
        Dialer::new(self.realm.clone(), self.secret.clone())
    }

    /// A line to the listener, and both ends' ears.
    pub(super) fn line(&self) -> (Line<String>, Ears, Taken) {
        self.line_over(&self.dialer(), &self.address())
    }

    pub(super) fn line_over(&self, dialer: &Dialer, to: &Address) -> (Line<String>, Ears, Taken) {
        let (ear, ears) = Ears::new();
        let line = dialer.line(to, Service::Master, &self.conf, ear).unwrap();
        (line, ears, self.taken())
    }

    pub(super) fn taken(&self) -> Taken {
        self.taken.recv_timeout(GUARD).unwrap()
    }

    /// That the listener still serves a new client.
    pub(super) fn assert_goes_on(&self) {
        assert_eq!(echo(&self.dialer(), &self.address()).unwrap(), "still here");
    }
}

/// Sends a few bytes to and fro.
pub(super) fn echo(dialer: &Dialer, to: &Address) -> Result<String, NetError> {
    let mut stream = dialer.stream(to, Service::Artifacts)?;
    stream.write_all(b"still here").unwrap();
    stream.flush().unwrap();
    let mut echo = [0; 10];
    stream.read_exact(&mut echo).unwrap();
    Ok(String::from_utf8_lossy(&echo).into_owned())
}

/// Stands between two ends, and stops forwarding when it is told, without closing anything.
pub(super) struct Proxy {
    pub(super) address: Address,
    /// Everything that went in either direction.
    pub(super) seen: Arc<Mutex<Vec<u8>>>,
    gate: Arc<(Mutex<bool>, Condvar)>,
}

impl Proxy {
    pub(super) fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::from(listener.local_addr().unwrap());
        let (seen, gate) = (Arc::<Mutex<Vec<u8>>>::default(), Arc::<(Mutex<bool>, Condvar)>::default());
        let proxy = Self { address, seen: seen.clone(), gate: gate.clone() };
        thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(to)) else { return };
                let (client, server) = (Arc::new(client), Arc::new(server));
                for (from, to) in [(client.clone(), server.clone()), (server, client)] {
                    let (seen, gate) = (seen.clone(), gate.clone());
                    thread::spawn(move || forward(&from, &to, &seen, &gate));
                }
            }
        });
        proxy
    }

    /// From now on bytes are taken and go nowhere.
    pub(super) fn stop(&self) {
        *self.gate.0.lock() = true;
        self.gate.1.notify_all();
    }
}

fn forward(mut from: &TcpStream, mut to: &TcpStream, seen: &Mutex<Vec<u8>>, gate: &(Mutex<bool>, Condvar)) {
    let mut buffer = [0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if *gate.0.lock() {
            continue;
        }
        seen.lock().extend_from_slice(&buffer[..read]);
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    if !*gate.0.lock() {
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }
}
