//! The listener, its threads and their end: [`BlockServer`].

use std::{
    fmt,
    io::{self, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs},
    os::unix::net::UnixStream,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use hashbrown::HashMap;
use parking_lot::{Condvar, Mutex};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{
    auth::Secrets,
    frame::{FrameError, Refusal},
    handshake,
    serve::{BlockSource, Session},
    stream::{Socket, Timeouts, is_timeout},
    tls::TlsServer,
};

/// A connection's thread copies between sockets and files; it needs no deep stack.
const STACK_BYTES: usize = 512 << 10;

/// How long to wait after the operating system had no descriptor or thread left.
const BREATHER: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// What a block server allows.
#[derive(Clone)]
pub struct ServerConf {
    /// Where the secrets of the applications are looked up.
    pub secrets: Arc<dyn Secrets>,
    /// The certificate; none for connections in clear.
    pub tls: Option<TlsServer>,
    /// The longest request, in bytes, without the payload of an upload.
    pub max_message: usize,
    /// The largest block that may be uploaded.
    pub max_upload: u64,
    /// The most connections, and so threads, at a time. More are refused.
    pub max_connections: usize,
    /// How long a client may take until it has proved itself.
    pub handshake_timeout: Duration,
    /// How long a client may have nothing to ask before its connection is closed.
    pub idle_timeout: Duration,
    /// How long the header of a request may take, and how long an upload may stall.
    pub read_timeout: Duration,
    /// How long a client may take nothing of what is sent to it.
    pub write_timeout: Duration,
}

impl ServerConf {
    /// The usual limits, without TLS.
    pub fn new(secrets: Arc<dyn Secrets>) -> Self {
        Self {
            secrets,
            tls: None,
            max_message: 128 << 10,
            max_upload: 8 << 30,
            max_connections: 1024,
            handshake_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(600),
            read_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(120),
        }
    }
}

impl fmt::Debug for ServerConf {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ServerConf")
            .field("tls", &self.tls)
            .field("max_connections", &self.max_connections)
            .finish_non_exhaustive()
    }
}

/// Serves the blocks of a [`BlockSource`] until it is stopped or dropped.
///
/// ```
/// use std::sync::Arc;
///
/// use firesteel_storage::{block::BlockId, transfer::*};
/// use firesteel_types::{AppId, AttemptId, StorageLevel};
///
/// struct Greeting;
///
/// impl BlockSource for Greeting {
///     fn open(&self, _: &AppId, id: &BlockId) -> Result<Payload, String> {
///         match id {
///             BlockId::TaskResult(_) => Ok(Payload::from("hello")),
///             other => Err(format!("no {other} here")),
///         }
///     }
///     fn store(
///         &self, _: &AppId, _: &BlockId, _: StorageLevel, _: u64, _: &mut dyn std::io::Read,
///     ) -> Result<(), String> {
///         Err("takes no uploads".to_owned())
///     }
/// }
///
/// let (app, secret) = (AppId::from("app-1"), Secret::random());
/// let secrets = Arc::new(OneSecret { app: app.clone(), secret: secret.clone() });
/// let server = BlockServer::start("127.0.0.1:0", Arc::new(Greeting), ServerConf::new(secrets))?;
///
/// let client = BlockClient::new(ClientConf::new(app, secret));
/// let address = Address::from(server.local_addr());
/// let mut got = Vec::new();
/// client.fetch_bytes(&address, &[BlockId::TaskResult(AttemptId(1))], 1 << 20, &mut |_, block| {
///     got.push(block.expect("the block is served"));
/// });
/// assert_eq!(got, ["hello"]);
///
/// server.stop();
/// assert_eq!(server.connections(), 0);
/// # std::io::Result::Ok(())
/// ```
pub struct BlockServer {
    shared: Arc<Shared>,
    local_addr: SocketAddr,
    /// Bytes here end the wait for connections.
    wake: UnixStream,
    acceptor: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    source: Arc<dyn BlockSource>,
    conf: ServerConf,
    open: Mutex<Open>,
    closed_one: Condvar,
}

/// The connections that have a thread.
#[derive(Default)]
struct Open {
    sockets: HashMap<u64, Arc<TcpStream>>,
    next: u64,
    stopping: bool,
}

impl BlockServer {
    /// Listens at `listen`, port 0 for any free port.
    pub fn start(
        listen: impl ToSocketAddrs,
        source: Arc<dyn BlockSource>,
        conf: ServerConf,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(listen)?;
        // A client may be gone between the poll and the accept, and then an accept that blocks would hang.
        listener.set_nonblocking(true)?;
        let local_addr = listener.local_addr()?;
        let (wake, woken) = UnixStream::pair()?;
        let shared = Arc::new(Shared { source, conf, open: Mutex::default(), closed_one: Condvar::new() });
        let acceptor = thread::Builder::new().name("block-accept".to_owned()).spawn({
            let shared = shared.clone();
            move || shared.accept_all(&listener, &woken)
        })?;
        tracing::info!(address = %local_addr, "block server listens");
        Ok(Self { shared, local_addr, wake, acceptor: Mutex::new(Some(acceptor)) })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.shared.open.lock().sockets.len()
    }

    /// Closes the listener and every connection, and returns when their threads have ended.
    ///
    /// A thread inside the source ends when the source returns. Stopping again does nothing.
    pub fn stop(&self) {
        let Some(acceptor) = self.acceptor.lock().take() else { return };
        self.shared.open.lock().stopping = true;
        // Only fails when the acceptor is gone already.
        let _ = (&self.wake).write_all(&[0]);
        if acceptor.join().is_err() {
            tracing::error!(address = %self.local_addr, "the acceptor of the block server panicked");
        }
        let mut open = self.shared.open.lock();
        for socket in open.sockets.values() {
            let _ = socket.shutdown(Shutdown::Both);
        }
        while !open.sockets.is_empty() {
            self.shared.closed_one.wait(&mut open);
        }
        tracing::info!(address = %self.local_addr, "block server stopped");
    }
}

impl Drop for BlockServer {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for BlockServer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("BlockServer").field("local_addr", &self.local_addr).finish_non_exhaustive()
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
            if self.open.lock().stopping {
                return;
            }
            pause = None;
            match listener.accept() {
                Ok((socket, peer)) => self.take(Arc::new(socket), peer),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection; are there too few file descriptors?");
                    pause = Some(BREATHER);
                }
            }
        }
    }

    /// Gives a connection its thread, or refuses it.
    fn take(self: &Arc<Self>, socket: Arc<TcpStream>, peer: SocketAddr) {
        let mut open = self.open.lock();
        if open.sockets.len() >= self.conf.max_connections {
            drop(open);
            let most = self.conf.max_connections;
            tracing::warn!(%peer, most, "refused a connection: there are as many as allowed");
            return refuse_busy(&socket);
        }
        let key = open.next;
        open.next += 1;
        open.sockets.insert(key, socket.clone());
        drop(open);

        let slot = Slot { shared: self.clone(), key };
        let serve = {
            let socket = socket.clone();
            move || slot.shared.serve(socket, peer)
        };
        let thread = thread::Builder::new().name("block-serve".to_owned()).stack_size(STACK_BYTES);
        if let Err(error) = thread.spawn(serve) {
            tracing::warn!(%peer, %error, "refused a connection: no thread can be started");
            refuse_busy(&socket);
        }
    }

    fn serve(&self, socket: Arc<TcpStream>, peer: SocketAddr) {
        let timeouts = Timeouts { read: self.conf.idle_timeout, write: self.conf.write_timeout };
        let conf = &self.conf;
        let accepted = socket
            .set_nonblocking(false)
            .and_then(|()| Socket::new(socket, timeouts))
            .map_err(handshake::Rejected::from)
            .and_then(|socket| {
                handshake::accept(socket, conf.tls.as_ref(), &*conf.secrets, conf.handshake_timeout)
            });
        let (stream, app) = match accepted {
            Ok(accepted) => accepted,
            Err(handshake::Rejected { told, detail }) => {
                tracing::warn!(%peer, ?told, detail, "refused a connection");
                return;
            }
        };
        match Session::new(stream, app.clone(), &*self.source, conf).run() {
            Ok(()) => tracing::debug!(%peer, %app, "connection ended"),
            Err(FrameError::Io(error)) if is_timeout(&error) => {
                tracing::warn!(%peer, %app, "closed a connection: the peer was too slow");
            }
            Err(FrameError::Io(error)) => tracing::debug!(%peer, %app, %error, "connection broke"),
            Err(error) => tracing::warn!(%peer, %app, %error, "closed a connection"),
        }
    }
}

/// Says why before it closes. The few bytes fit into a new socket, so this does not wait for the peer.
fn refuse_busy(socket: &TcpStream) {
    let _ = socket.set_nonblocking(true);
    let mut writer = socket;
    let _ = writer.write_all(&handshake::refusal(Refusal::Busy));
    let _ = socket.shutdown(Shutdown::Write);
}

/// A connection's place among the open ones, given back when its thread ends in whatever way.
struct Slot {
    shared: Arc<Shared>,
    key: u64,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.shared.open.lock().sockets.remove(&self.key);
        self.shared.closed_one.notify_all();
    }
}
