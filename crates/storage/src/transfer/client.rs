//! Fetches and uploads blocks, again when a connection breaks: [`BlockClient`].

use std::{
    collections::VecDeque,
    fmt,
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use firesteel_net::{Dialer, NetError};
use firesteel_types::{Rng, StorageLevel};
use parking_lot::Mutex;

use super::{
    error::TransferError,
    link::Link,
    payload::Payload,
    peer::PeerAddr,
    pool::Pool,
    retry::{Pause, Retry, ThreadPause},
    sink::{InMemory, Sink},
};
use crate::block::BlockId;

/// What a client is and how patient it is.
#[derive(Clone)]
pub struct ClientConf {
    /// Makes the connections, in the name of the application whose blocks are fetched.
    pub dialer: Dialer,
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
    /// The usual patience.
    pub fn new(dialer: Dialer) -> Self {
        Self {
            dialer,
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
            .field("dialer", &self.dialer)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

/// Fetches blocks from servers and uploads blocks to them.
///
/// Shared by all threads of a process; each call uses a connection of its own, from those kept open where possible.
/// An example stands at [`serve_blocks`](super::serve_blocks).
pub struct BlockClient {
    conf: ClientConf,
    pool: Pool,
    rng: Mutex<Rng>,
}

impl BlockClient {
    /// A client that has no connections yet.
    pub fn new(conf: ClientConf) -> Self {
        let pool = Pool::new(conf.max_idle_per_peer, conf.max_idle_age);
        // The standard library's hasher is keyed at random, in every process anew.
        let seed = RandomState::new().hash_one("waits");
        Self { conf, pool, rng: Mutex::new(Rng::new(seed)) }
    }

    /// Fetches `ids` from one server and delivers each of them to `sink`, exactly once.
    ///
    /// Blocks come in the order of the ids. When the connection breaks, the blocks that were not delivered are fetched
    /// again from their first byte, after a wait and as often as configured; then what broke it is
    /// delivered for each of them.
    pub fn fetch(&self, from: &PeerAddr, ids: &[BlockId], sink: &mut dyn Sink) {
        let mut left: VecDeque<_> = ids.iter().copied().collect();
        while !left.is_empty() {
            match self.with_retries(from, |link| link.fetch(from.executor, &mut left, sink)) {
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
        from: &PeerAddr,
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
        to: &PeerAddr,
        id: BlockId,
        level: StorageLevel,
        payload: &Payload,
    ) -> Result<(), TransferError> {
        self.with_retries(to, |link| link.upload(to.executor, id, level, payload))
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
        peer: &PeerAddr,
        mut work: impl FnMut(&mut Link) -> Result<T, TransferError>,
    ) -> Result<T, TransferError> {
        let address = peer.address();
        let mut idle = self.pool.take(&address);
        let mut tried = 0;
        loop {
            let from_pool = idle.is_some();
            let link = idle.take().map_or_else(|| Link::open(&address, &self.conf), Ok);
            let done = link.and_then(|mut link| {
                let done = work(&mut link);
                // A refusal is an answer like any other: what comes next on the link is known.
                if matches!(done, Ok(_) | Err(TransferError::Failed { .. })) {
                    self.pool.put(link);
                }
                done
            });
            let error = match done {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            // A server may close an idle connection just when it is used. That is no failed try.
            if from_pool && matches!(error, TransferError::Net(NetError::Broken { .. })) {
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
