//! Accepts connections: [`Listener`].

use std::{
    fmt,
    io::{self, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    os::unix::net::UnixStream,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::notice::notice;
use crate::{
    connections::{Connections, Slot},
    error::NetError,
    handshake::{self, Door, Guest, Rejected},
    hello::Refusal,
    line::STACK_BYTES,
    secrets::Secrets,
    services::Services,
    stream::Socket,
    tls::TlsServer,
};

/// How long to wait after the operating system had no descriptor or thread left.
const BREATHER: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The ports below need rights that we do not have; who counts up beyond the last one goes on here.
const FIRST_FREE_PORT: u32 = 1024;

/// What a listener asks and allows.
#[derive(Clone)]
pub struct ListenerConf {
    /// Where the secrets of the realms are looked up.
    pub secrets: Arc<dyn Secrets>,
    /// The certificate; none for connections in clear.
    pub tls: Option<TlsServer>,
    /// How long a client may take until it has proved itself.
    pub handshake_timeout: Duration,
    /// The most connections, and so threads, at a time. More are refused.
    pub max_connections: usize,
}

impl ListenerConf {
    /// The usual limits, without TLS.
    pub fn new(secrets: Arc<dyn Secrets>) -> Self {
        Self { secrets, tls: None, handshake_timeout: Duration::from_secs(10), max_connections: 10_000 }
    }
}

impl fmt::Debug for ListenerConf {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ListenerConf")
            .field("tls", &self.tls)
            .field("handshake_timeout", &self.handshake_timeout)
            .field("max_connections", &self.max_connections)
            .finish_non_exhaustive()
    }
}

/// Accepts connections for its services until it is stopped or dropped.
///
/// One thread accepts. Every connection has its handshake and then its service on a thread of its own, so that a slow
/// peer delays no other. The example of the crate shows it.
pub struct Listener {
    shared: Arc<Shared>,
    address: SocketAddr,
    /// Bytes here end the wait for connections.
    wake: UnixStream,
    acceptor: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    conf: ListenerConf,
    services: Services,
    connections: Arc<Connections>,
}

impl Listener {
    /// Listens at `port` of `host`, or at the next port that is free.
    ///
    /// Port 0 is any free port. Else, when a port is taken, up to `port_tries` further ones are tried, each one higher;
    /// after 65535 comes 1024.
    pub fn bind(
        host: &str,
        port: u16,
        port_tries: u16,
        conf: ListenerConf,
        services: Services,
    ) -> Result<Self, NetError> {
        let listener = bind_first(host, port, port_tries)?;
        Self::start(listener, conf, services).map_err(|error| not_listening(host, &[port], error))
    }

    fn start(listener: TcpListener, conf: ListenerConf, services: Services) -> io::Result<Self> {
        // A client may be gone between the poll and the accept, and then an accept that blocks would hang.
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (wake, woken) = UnixStream::pair()?;
        let shared = Arc::new(Shared { conf, services, connections: Arc::default() });
        let acceptor = thread::Builder::new().name("accept".to_owned()).spawn({
            let shared = shared.clone();
            move || shared.accept_all(&listener, &woken)
        })?;
        tracing::info!(%address, services = ?shared.services, "listening");
        Ok(Self { shared, address, wake, acceptor: Mutex::new(Some(acceptor)) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.shared.connections.len()
    }

    /// Closes the listener and every connection, and returns when their threads have ended.
    ///
    /// Lines are closed in order, so what was sent on them before still arrives. A thread inside a handler ends when
    /// the handler returns; a handler may itself stop the listener, and then its own thread is not waited for.
    /// Stopping again does nothing.
    pub fn stop(&self) {
        let Some(acceptor) = self.acceptor.lock().take() else { return };
        self.shared.connections.set_stopping();
        // Only fails when the acceptor is gone already.
        let _ = (&self.wake).write_all(&[0]);
        if acceptor.join().is_err() {
            notice(|| tracing::error!(address = %self.address, "the acceptor panicked"));
        }
        self.shared.connections.close_all();
        tracing::info!(address = %self.address, "stopped listening");
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Listener").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Shared {
    fn accept_all(self: &Arc<Self>, listener: &TcpListener, woken: &UnixStream) {
        let mut pause = None;
        loop {
            let mut wanted = [PollFd::new(woken, PollFlags::IN), PollFd::new(listener, PollFlags::IN)];
            // After an error only the wake-up is waited for: the listener would be ready at once.
            let wanted = if pause.is_some() { &mut wanted[..1] } else { &mut wanted[..] };
            let _ = poll(wanted, pause.as_ref());
            if self.connections.is_stopping() {
                return;
            }
            pause = None;
            match listener.accept() {
                Ok((socket, peer)) => self.take(Arc::new(socket), peer),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    notice(
                        || tracing::warn!(%error, "cannot accept a connection; are there too few file descriptors?"),
                    );
                    pause = Some(BREATHER);
                }
            }
        }
    }

    /// Gives a connection its thread, or refuses it.
    fn take(self: &Arc<Self>, socket: Arc<TcpStream>, peer: SocketAddr) {
        let most = self.conf.max_connections;
        let Some(slot) = self.connections.add(socket.clone(), most) else {
            notice(|| tracing::warn!(%peer, most, "refused a connection: there are as many as allowed"));
            return refuse_busy(&socket);
        };
        let serve = {
            let (shared, socket) = (self.clone(), socket.clone());
            move || shared.serve(socket, peer, &slot)
        };
        let thread = thread::Builder::new().name("connection".to_owned()).stack_size(STACK_BYTES);
        if let Err(error) = thread.spawn(serve) {
            notice(|| tracing::warn!(%peer, %error, "refused a connection: no thread can be started"));
            refuse_busy(&socket);
        }
    }

    fn serve(&self, socket: Arc<TcpStream>, peer: SocketAddr, slot: &Slot) {
        slot.begin();
        let door = Door {
            tls: self.conf.tls.as_ref(),
            secrets: &*self.conf.secrets,
            serves: &|service| self.services.find(service).is_some(),
            timeout: self.conf.handshake_timeout,
        };
        let accepted = socket
            .set_nonblocking(false)
            .and_then(|()| Socket::new(socket))
            .map_err(Rejected::from)
            .and_then(|socket| door.accept(socket));
        match accepted {
            Ok(guest) => self.welcome(guest, slot),
            Err(Rejected { told, detail }) => {
                notice(|| tracing::warn!(%peer, ?told, detail, "refused a connection"))
            }
        }
    }

    fn welcome(&self, guest: Guest, slot: &Slot) {
        let serve = self.services.find(guest.service).expect("the handshake lets in only who can be served");
        serve(guest, slot);
    }
}

fn bind_first(host: &str, port: u16, port_tries: u16) -> Result<TcpListener, NetError> {
    let more = if port == 0 { 0 } else { usize::from(port_tries) };
    let mut tried = Vec::new();
    loop {
        let candidate = nth_port(port, tried.len());
        tried.push(candidate);
        match TcpListener::bind((host, candidate)) {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && tried.len() <= more => {
                notice(|| tracing::warn!(host, port = candidate, "the port is taken; the next one is tried"));
            }
            Err(error) => return Err(not_listening(host, &tried, error)),
        }
    }
}

/// The `nth` port after `first`, round the end of the ports.
fn nth_port(first: u16, nth: usize) -> u16 {
    let port = u32::from(first) + nth as u32;
    let round = if port > u32::from(u16::MAX) { port - (1 << 16) + FIRST_FREE_PORT } else { port };
    round as u16
}

fn not_listening(host: &str, tried: &[u16], error: io::Error) -> NetError {
    let tried = match tried {
        [first, .., last] => format!("ports {first} to {last}"),
        [port] => format!("port {port}"),
        [] => "no port".to_owned(),
    };
    NetError::Listen { host: host.to_owned(), tried, source: Arc::new(error) }
}

/// Says why before it closes. The few bytes fit into a new socket, so this does not wait for the peer.
fn refuse_busy(socket: &TcpStream) {
    let _ = socket.set_nonblocking(true);
    let mut writer = socket;
    let _ = writer.write_all(&handshake::refusal(Refusal::Busy));
    let _ = socket.shutdown(Shutdown::Write);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_go_round_the_end_to_the_first_that_needs_no_rights() {
        assert_eq!((0..3).map(|nth| nth_port(7077, nth)).collect::<Vec<_>>(), [7077, 7078, 7079]);
        assert_eq!((0..3).map(|nth| nth_port(65534, nth)).collect::<Vec<_>>(), [65534, 65535, 1024]);
    }
}
