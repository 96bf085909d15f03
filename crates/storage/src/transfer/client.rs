//! Fetches and uploads blocks, again when a connection breaks: [`BlockClient`].

use std::{collections::VecDeque, fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use firesteel_types::{AppId, Rng, StorageLevel};
use parking_lot::Mutex;

use super::{
    address::Address,
    auth::{Secret, random_bytes},
    error::TransferError,
    link::Link,
    payload::Payload,
    pool::Pool,
    retry::{Pause, Retry, ThreadPause},
    sink::{InMemory, Sink},
    tls::TlsClient,
};
use crate::block::BlockId;

/// What a client is and how patient it is.
#[derive(Clone)]
pub struct ClientConf {
    /// The application whose blocks it fetches.
    pub app: AppId,
    /// The application's secret.
    pub secret: Secret,
    /// The authorities; none for connections in clear. A client with TLS never talks in clear.
    pub tls: Option<TlsClient>,
    /// How long a server may take to accept a connection.
    pub connect_timeout: Duration,
    /// How long the proof of both sides may take.
    pub handshake_timeout: Duration,
    /// How long a server may send nothing while an answer is due.
    pub read_timeout: Duration,
    /// How long a server may take nothing of what is sent to it.
    pub write_timeout: Duration,
    /// How often a broken transfer is tried again. Refusals and missing blocks never are.
    pub retry: Retry,
    /// What waits between two tries.
    pub pause: Arc<dyn Pause>,
    /// How many idle connections to one server are kept.
    pub max_idle_per_peer: usize,
    /// How long an idle connection is kept; shorter than the servers' own patience.
    pub max_idle_age: Duration,
}

impl ClientConf {
    /// The usual patience, without TLS.
    pub fn new(app: AppId, secret: Secret) -> Self {
        Self {
            app,
            secret,
            tls: None,
            connect_timeout: Duration::from_secs(30),
            handshake_timeout: Duration::from_secs(30),
            read_timeout: Duration::from_secs(120),
            write_timeout: Duration::from_secs(120),
            retry: Retry::default(),
            pause: Arc::new(ThreadPause),
            max_idle_per_peer: 4,
            max_idle_age: Duration::from_secs(300),
        }
    }
}

impl fmt::Debug for ClientConf {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ClientConf")
            .field("app", &self.app)
            .field("tls", &self.tls)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

/// Fetches blocks from servers and uploads blocks to them.
///
/// Shared by all threads of a process; each call uses a connection of its own, from those kept open where possible.
/// An example stands at [`BlockServer`](super::BlockServer).
pub struct BlockClient {
    conf: ClientConf,
    pool: Pool,
    rng: Mutex<Rng>,
}

impl BlockClient {
    /// A client that has no connections yet.
    pub fn new(conf: ClientConf) -> Self {
        let pool = Pool::new(conf.max_idle_per_peer, conf.max_idle_age);
        let seed = random_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        Self { conf, pool, rng: Mutex::new(Rng::new(seed)) }
    }

    /// Fetches `ids` from one server and delivers each of them to `sink`, exactly once.
    ///
    /// Blocks come in the order of the ids. When the connection breaks, the blocks that were not delivered are fetched
    /// again from their first byte, after a wait and as often as the configuration says; then what broke it is
    /// delivered for each of them.
    pub fn fetch(&self, from: &Address, ids: &[BlockId], sink: &mut dyn Sink) {
        let mut left: VecDeque<_> = ids.iter().copied().collect();
        while !left.is_empty() {
            match self.with_retries(from, |link| link.fetch(&mut left, sink)) {
                // A block with no place on this side is delivered as such and costs the connection; the others
                // still have a chance.
                Ok(()) | Err(TransferError::Local { .. }) => {}
                Err(error) => {
                    for id in left.drain(..) {
                        sink.deliver(id, Err(error.clone()));
                    }
                }
            }
        }
    }

    /// Fetches `ids` from one server into memory; a block of more than `max_len` bytes is an error.
    pub fn fetch_bytes(
        &self,
        from: &Address,
        ids: &[BlockId],
        max_len: u64,
        deliver: &mut dyn FnMut(BlockId, Result<Bytes, TransferError>),
    ) {
        self.fetch(from, ids, &mut InMemory { max_len, deliver });
    }

    /// Sends a block to a server and returns when the server has stored it.
    ///
    /// After a broken connection the block is sent again, though the server may have stored it the first time.
    pub fn upload(
        &self,
        to: &Address,
        id: BlockId,
        level: StorageLevel,
        payload: &Payload,
    ) -> Result<(), TransferError> {
        self.with_retries(to, |link| link.upload(id, level, payload))
    }

    /// How many connections wait for the next request.
    pub fn idle_connections(&self) -> usize {
        self.pool.len()
    }

    /// Closes the idle connections.
    pub fn close_idle(&self) {
        self.pool.clear();
    }

    fn with_retries<T>(
        &self,
        peer: &Address,
        mut work: impl FnMut(&mut Link) -> Result<T, TransferError>,
    ) -> Result<T, TransferError> {
        let mut idle = self.pool.take(peer);
        let mut tried = 0;
        loop {
            let from_pool = idle.is_some();
            let link = idle.take().map_or_else(|| Link::open(peer, &self.conf), Ok);
            let error = match link.and_then(|mut link| work(&mut link).map(|done| (link, done))) {
                Ok((link, done)) => {
                    self.pool.put(link);
                    return Ok(done);
                }
                Err(error) => error,
            };
            // A server may close an idle connection just when it is used. That is no failed try.
            if from_pool && matches!(error, TransferError::Broken { .. }) {
                tracing::debug!(%peer, %error, "an idle connection was of no use");
                continue;
            }
            tried += 1;
            let again = self.conf.retry.wait_after(tried, &mut self.rng.lock());
            let Some(wait) = again.filter(|_| error.is_transient()) else { return Err(error) };
            tracing::warn!(%peer, %error, tried, ?wait, "a transfer broke and is tried again");
            self.conf.pause.pause(wait);
        }
    }
}

impl fmt::Debug for BlockClient {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("BlockClient").field("conf", &self.conf).finish_non_exhaustive()
    }
}
