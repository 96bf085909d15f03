//! A server with blocks in a map, a client that does not sleep, and a proxy that breaks connections.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use firesteel_net::{Dialer, Listener, ListenerConf, OneSecret, Realm, Secret, Service, Services};
use firesteel_types::{AppId, AttemptId, ExecutorId, StorageLevel};
use hashbrown::HashMap;
use parking_lot::Mutex;

use super::super::{
    BlockClient, BlockLimits, BlockSource, ClientConf, Pause, Payload, PeerAddr, Retry, TransferError,
    frame::Request, link::Link, serve_blocks,
};
use crate::block::BlockId;

/// Longer than anything takes that works; only a failure waits for it.
pub(super) const GUARD: Duration = Duration::from_secs(30);

/// Whose blocks the tests are about.
pub(super) const OF: ExecutorId = ExecutorId(7);

pub(super) fn fetch_of(number: u64) -> Request {
    Request::Fetch { of: OF, ids: vec![id(number)] }
}

pub(super) fn id(number: u64) -> BlockId {
    BlockId::TaskResult(AttemptId(number))
}

/// Bytes in which neighbours differ, and which do not repeat at a power of two.
pub(super) fn bytes(len: usize, seed: u8) -> Bytes {
    let pattern: Vec<_> =
        (0..65_521_usize).map(|at| (at as u8).wrapping_mul(31) ^ (at >> 8) as u8 ^ seed).collect();
    let mut bytes = Vec::with_capacity(len + pattern.len());
    while bytes.len() < len {
        bytes.extend_from_slice(&pattern);
    }
    bytes.truncate(len);
    bytes.into()
}

pub(super) fn file_of(content: &[u8]) -> Arc<std::fs::File> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    Arc::new(file)
}

#[derive(Default)]
pub(super) struct MapSource {
    pub(super) blocks: Mutex<HashMap<BlockId, Payload>>,
    pub(super) stored: Mutex<Vec<(BlockId, StorageLevel, Vec<u8>)>>,
    /// What `store` answers after it has read this many bytes.
    pub(super) fail_store_at: Mutex<Option<usize>>,
}

impl BlockSource for MapSource {
    fn open(&self, app: &AppId, of: ExecutorId, id: &BlockId) -> Result<Payload, String> {
        assert_ne!(*id, PANICS, "no such luck");
        if of != OF {
            return Err(format!("this is {OF}, not {of}"));
        }
        self.blocks.lock().get(id).cloned().ok_or_else(|| format!("{app} has no such block"))
    }

    fn store(
        &self,
        _: &AppId,
        of: ExecutorId,
        id: &BlockId,
        level: StorageLevel,
        _: u64,
        body: &mut dyn Read,
    ) -> Result<(), String> {
        if let Some(read) = *self.fail_store_at.lock() {
            body.read_exact(&mut vec![0; read]).unwrap();
            return Err("the disk is full".to_owned());
        }
        if of != OF {
            return Err(format!("this is {OF}, not {of}"));
        }
        let mut all = Vec::new();
        body.read_to_end(&mut all).map_err(|error| error.to_string())?;
        self.stored.lock().push((*id, level, all));
        Ok(())
    }
}

/// The block whose opening panics.
pub(super) const PANICS: BlockId = BlockId::TaskResult(AttemptId(u64::MAX));

/// Remembers the waits, and does something instead.
#[derive(Default)]
pub(super) struct Recorder {
    pub(super) waits: Mutex<Vec<Duration>>,
    pub(super) then: Mutex<Option<Box<dyn FnMut() + Send>>>,
}

impl Pause for Recorder {
    fn pause(&self, wait: Duration) {
        self.waits.lock().push(wait);
        if let Some(then) = &mut *self.then.lock() {
            then();
        }
    }
}

/// A server, its blocks, and what is needed to reach it.
pub(super) struct Rig {
    pub(super) server: Listener,
    pub(super) source: Arc<MapSource>,
    pub(super) realm: Realm,
    pub(super) secret: Secret,
    pub(super) pauses: Arc<Recorder>,
}

/// Starts a server at a port.
pub(super) fn serve(
    port: u16,
    source: Arc<dyn BlockSource>,
    conf: ListenerConf,
    limits: BlockLimits,
) -> Listener {
    let services = Services::new().streams(Service::Blocks, serve_blocks(source, limits));
    Listener::bind("127.0.0.1", port, 0, conf, services).unwrap()
}

impl Rig {
    pub(super) fn new() -> Self {
        Self::with(|_, _| {})
    }

    pub(super) fn with(change: impl FnOnce(&mut ListenerConf, &mut BlockLimits)) -> Self {
        let (realm, secret) = (Realm::from("app-1"), Secret::random());
        let secrets = Arc::new(OneSecret { realm: realm.clone(), secret: secret.clone() });
        let (mut conf, mut limits) = (ListenerConf::new(secrets), BlockLimits::default());
        change(&mut conf, &mut limits);
        let source = Arc::new(MapSource::default());
        let server = serve(0, source.clone(), conf, limits);
        Self { server, source, realm, secret, pauses: Arc::default() }
    }

    /// Something that starts another server at the same place, for after this one has stopped.
    pub(super) fn successor(&self) -> impl Fn() -> Listener + Send + 'static {
        let secrets = Arc::new(OneSecret { realm: self.realm.clone(), secret: self.secret.clone() });
        let (port, source) = (self.server.address().port(), self.source.clone());
        move || serve(port, source.clone(), ListenerConf::new(secrets.clone()), BlockLimits::default())
    }

    pub(super) fn put(&self, number: u64, payload: impl Into<Payload>) {
        self.source.blocks.lock().insert(id(number), payload.into());
    }

    pub(super) fn put_file(&self, number: u64, content: &[u8]) {
        let payload = Payload::File { file: file_of(content), offset: 0, len: content.len() as u64 };
        self.source.blocks.lock().insert(id(number), payload);
    }

    pub(super) fn peer(&self) -> PeerAddr {
        peer_at(self.server.address())
    }

    pub(super) fn client_conf(&self) -> ClientConf {
        ClientConf {
            retry: Retry { max_tries: 3, ..Retry::default() },
            pause: self.pauses.clone(),
            ..ClientConf::new(Dialer::new(self.realm.clone(), self.secret.clone()))
        }
    }

    pub(super) fn client(&self) -> BlockClient {
        BlockClient::new(self.client_conf())
    }

    pub(super) fn link(&self) -> Link {
        Link::open(&self.peer().address(), &self.client_conf()).unwrap()
    }

    pub(super) fn waits(&self) -> usize {
        self.pauses.waits.lock().len()
    }

    /// That the server still serves a new client.
    pub(super) fn assert_goes_on(&self) {
        self.put(999, "still here");
        assert_eq!(fetch_one(&self.client(), &self.peer(), 999).unwrap(), "still here");
    }
}

pub(super) fn peer_at(addr: SocketAddr) -> PeerAddr {
    PeerAddr::new(OF, addr.ip().to_string(), addr.port())
}

pub(super) fn fetch(
    client: &BlockClient,
    from: &PeerAddr,
    numbers: &[u64],
) -> Vec<(BlockId, Result<Bytes, TransferError>)> {
    let ids: Vec<_> = numbers.iter().copied().map(id).collect();
    let mut got = Vec::new();
    client.fetch_bytes(from, &ids, 1 << 30, &mut |id, result| got.push((id, result)));
    got
}

pub(super) fn fetch_one(client: &BlockClient, from: &PeerAddr, number: u64) -> Result<Bytes, TransferError> {
    let mut got = fetch(client, from, &[number]);
    assert_eq!(got.len(), 1, "each block is delivered once");
    got.remove(0).1
}

/// Waits for something that another thread does soon.
pub(super) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < GUARD, "{what} never came");
        thread::yield_now();
    }
}

/// What becomes of one connection through the proxy.
#[derive(Clone, Copy)]
pub(super) enum Fate {
    Pass,
    /// Closed after so many bytes from the server.
    CutDown(usize),
    /// Closed after so many bytes from the client.
    CutUp(usize),
    /// Held open, but nothing more comes from the server after so many bytes.
    Stall(usize),
}

/// Stands between client and server.
pub(super) struct Proxy {
    pub(super) peer: PeerAddr,
    /// What went from the server to clients.
    pub(super) down: Arc<Mutex<Vec<u8>>>,
    /// What went from clients to the server.
    pub(super) up: Arc<Mutex<Vec<u8>>>,
}

impl Proxy {
    /// Each connection has the next fate; the last one is for all that follow.
    pub(super) fn start(to: SocketAddr, fates: &[Fate]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = peer_at(listener.local_addr().unwrap());
        let (fates, seen) = (fates.to_vec(), [(); 2].map(|()| Arc::<Mutex<Vec<u8>>>::default()));
        let [up_seen, down_seen] = seen.clone();
        thread::spawn(move || {
            for (at, client) in listener.incoming().enumerate() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(to)) else { return };
                let fate = fates[at.min(fates.len() - 1)];
                let (up, down) = match fate {
                    Fate::Pass => (usize::MAX, usize::MAX),
                    Fate::CutDown(bytes) | Fate::Stall(bytes) => (usize::MAX, bytes),
                    Fate::CutUp(bytes) => (bytes, usize::MAX),
                };
                let stalls = matches!(fate, Fate::Stall(_));
                let (client, server) = (Arc::new(client), Arc::new(server));
                let copy = |from: &Arc<TcpStream>, to: &Arc<TcpStream>, most: usize, record: &Arc<_>| {
                    let (from, to, record) = (from.clone(), to.clone(), Arc::clone(record));
                    thread::spawn(move || forward(&from, &to, most, stalls, &record));
                };
                copy(&client, &server, up, &up_seen);
                copy(&server, &client, down, &down_seen);
            }
        });
        let [up, down] = seen;
        Self { peer, down, up }
    }
}

fn forward(mut from: &TcpStream, mut to: &TcpStream, most: usize, stalls: bool, record: &Mutex<Vec<u8>>) {
    let mut left = most;
    let mut buffer = [0; 16 << 10];
    while left > 0 {
        let want = left.min(buffer.len());
        let read = from.read(&mut buffer[..want]).unwrap_or(0);
        // Recorded before it is sent on, so that a client that has its answer finds all of it here.
        record.lock().extend_from_slice(&buffer[..read]);
        if read == 0 || to.write_all(&buffer[..read]).is_err() {
            break;
        }
        left -= read;
    }
    if left == 0 && stalls {
        // Until the client gives up.
        let _ = to.read(&mut [0]);
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
