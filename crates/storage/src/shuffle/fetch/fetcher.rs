//! The blocks of a plan as they arrive: [`ShuffleFetcher`].

use std::{
    collections::VecDeque,
    fmt,
    fs::File,
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use firesteel_types::Rng;
use parking_lot::{Condvar, Mutex};

use super::{
    block::{FetchedBlock, Held},
    error::{Diagnosis, FetchCause, FetchError},
    plan::{self, FetchLimits, PeerBlocks, Request, Wanted},
    threads::FetchThreads,
    window::Window,
    worker::{self, inspect},
};
use crate::{
    block::BlockId,
    transfer::{BlockClient, Payload, PeerAddr, Sink},
};

/// How often a reader that waits for blocks checks whether it was cancelled.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Brings blocks over the network.
pub trait Transport: Send + Sync {
    /// Delivers each of `ids` to `sink` once, as [`BlockClient::fetch`] does.
    fn fetch(&self, from: &PeerAddr, ids: &[BlockId], sink: &mut dyn Sink);
}

impl Transport for BlockClient {
    fn fetch(&self, from: &PeerAddr, ids: &[BlockId], sink: &mut dyn Sink) {
        Self::fetch(self, from, ids, sink);
    }
}

/// The blocks that need no network: those of the own executor, and of others on this host whose files can be read.
pub trait LocalBlocks: Send + Sync {
    /// Whether the blocks of `peer` can be read here.
    fn has(&self, peer: &PeerAddr) -> bool;

    /// Gives a block's bytes, or the reason why it cannot be read.
    fn open(&self, peer: &PeerAddr, id: &BlockId) -> Result<Payload, String>;
}

/// Checks whether a block is intact.
///
/// Called by the threads that fetch, so that checking is done in parallel.
pub type Verify = Arc<dyn Fn(&BlockId, &Payload) -> Result<(), String> + Send + Sync>;

/// Makes an empty file, open for reading and writing, for a block too large for memory.
pub type MakeFile = Arc<dyn Fn() -> io::Result<File> + Send + Sync>;

/// How blocks are fetched.
#[derive(Clone)]
pub struct FetchConf {
    /// How much may be on the way.
    pub limits: FetchLimits,
    /// How many threads fetch, and so how many requests are on the way at most.
    pub threads: usize,
    /// Where the threads come from.
    pub pool: Arc<FetchThreads>,
    /// The blocks that need no network; none when all do.
    pub local: Option<Arc<dyn LocalBlocks>>,
    /// Whether a block is intact. One that is not is fetched once more.
    pub verify: Verify,
    /// Where large blocks go.
    pub files: MakeFile,
    /// Whether the reader's task was told to stop. Asked between blocks and ten times a second while it waits.
    pub is_cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Decides the order of the requests, unless they are to go in order.
    pub seed: u64,
    /// Whether blocks are asked for in the order of their ids, for a reader that wants them in that order.
    pub in_order: bool,
}

impl FetchConf {
    /// The usual limits, five threads, everything over the network and believed, and large blocks in files of `folder`
    /// that have no name and so are gone with the process, however it ends.
    pub fn new(folder: impl Into<std::path::PathBuf>) -> Self {
        let folder = folder.into();
        Self {
            limits: FetchLimits::default(),
            threads: 5,
            pool: Arc::default(),
            local: None,
            verify: Arc::new(|_, _| Ok(())),
            files: Arc::new(move || tempfile::tempfile_in(&folder)),
            is_cancelled: Arc::new(|| false),
            seed: 0,
            in_order: false,
        }
    }
}

impl fmt::Debug for FetchConf {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("FetchConf")
            .field("limits", &self.limits)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// What was read so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchStats {
    /// Blocks that came over the network.
    pub remote_blocks: u64,
    /// Their bytes.
    pub remote_bytes: u64,
    /// Those of the bytes that went to files.
    pub remote_bytes_to_disk: u64,
    /// Blocks read on this host.
    pub local_blocks: u64,
    /// Their bytes.
    pub local_bytes: u64,
    /// How long the reader waited for blocks.
    pub waited: Duration,
}

/// Fetches the blocks of a plan and gives them in the order in which they arrive.
///
/// Every block of the plan that is not empty is given exactly once, as a block or as the reason why it cannot be had;
/// blocks that arrived before a failure come before it. Remote blocks that are there come first, then local ones, which
/// are read when they are reached. Bytes in flight are given back when a [`FetchedBlock`] is dropped; a reader that
/// keeps all of them still gets the rest, one request at a time.
///
/// Dropping the fetcher gives up what has not come. Its threads end by themselves, at the latest when the transport's
/// time-outs do.
///
/// ```
/// use std::sync::Arc;
///
/// use firesteel_storage::{block::BlockId, shuffle::fetch::*, transfer::*};
/// use firesteel_types::{ExecutorId, PartitionId, ShuffleId};
///
/// /// Every block holds its own name.
/// struct Names;
///
/// impl Transport for Names {
///     fn fetch(&self, _: &PeerAddr, ids: &[BlockId], sink: &mut dyn Sink) {
///         for id in ids {
///             sink.deliver(*id, Ok(Incoming::Bytes(id.to_string().into())));
///         }
///     }
/// }
///
/// let block = |map| BlockId::Shuffle { shuffle: ShuffleId(1), map: PartitionId(map), reduce: PartitionId(0) };
/// let plan = vec![PeerBlocks {
///     peer: PeerAddr::new(ExecutorId(1), "host-1", 7337),
///     blocks: vec![(block(0), 13), (block(1), 0), (block(2), 13)],
/// }];
/// let fetcher = ShuffleFetcher::start(Arc::new(Names), plan, FetchConf::new(std::env::temp_dir()))?;
/// let mut blocks = fetcher.collect::<Result<Vec<_>, _>>()?;
/// blocks.sort_by_key(|block| block.id);
/// let names: Vec<_> = blocks.iter().map(|block| block.id.to_string()).collect();
/// assert_eq!(names, ["shuffle_1_0_0", "shuffle_1_2_0"], "the empty block is not fetched");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ShuffleFetcher {
    shared: Arc<Shared>,
    local: VecDeque<(PeerAddr, BlockId)>,
    /// Blocks that were not given yet.
    left: usize,
    stats: FetchStats,
}

/// What the reader and the threads share.
pub(super) struct Shared {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) conf: FetchConf,
    state: Mutex<State>,
    /// Something arrived.
    arrived: Condvar,
    /// A request may be able to go.
    room: Condvar,
}

struct State {
    window: Window,
    arrivals: VecDeque<Result<Arrival, FetchError>>,
    /// Whether the reader waits and has nothing to read.
    starved: bool,
    /// Whether the reader is gone.
    given_up: bool,
}

/// A block that came and is intact. Its bytes are in flight until they are released.
pub(super) struct Arrival {
    pub(super) peer: PeerAddr,
    pub(super) id: BlockId,
    pub(super) data: Payload,
    pub(super) held_bytes: u64,
}

impl ShuffleFetcher {
    /// Starts to fetch the blocks of `plan`.
    ///
    /// An error when not a single thread can be started.
    pub fn start(transport: Arc<dyn Transport>, plan: Vec<PeerBlocks>, conf: FetchConf) -> io::Result<Self> {
        let (local, remote): (Vec<_>, Vec<_>) =
            plan.into_iter().partition(|part| conf.local.as_ref().is_some_and(|local| local.has(&part.peer)));
        let local: VecDeque<_> = local
            .into_iter()
            .flat_map(|PeerBlocks { peer, blocks }| {
                let blocks = blocks.into_iter().filter(|(_, size)| *size > 0);
                blocks.map(move |(id, _)| (peer.clone(), id))
            })
            .collect();
        let mut requests = plan::requests(remote, &conf.limits, &mut Rng::new(conf.seed));
        if conf.in_order {
            let first = |request: &Request| request.blocks.iter().map(|wanted| wanted.id).min();
            requests.make_contiguous().sort_by_key(first);
        }
        let left = local.len() + requests.iter().map(|request| request.blocks.len()).sum::<usize>();
        let state = State {
            window: Window::new(requests, conf.limits),
            arrivals: VecDeque::new(),
            starved: false,
            given_up: false,
        };
        let shared = Arc::new(Shared {
            transport,
            conf,
            state: Mutex::new(state),
            arrived: Condvar::new(),
            room: Condvar::new(),
        });
        shared.start_threads()?;
        Ok(Self { shared, local, left, stats: FetchStats::default() })
    }

    /// What was read so far.
    pub fn stats(&self) -> FetchStats {
        self.stats
    }

    /// How many blocks have not been given yet.
    pub fn remaining(&self) -> usize {
        self.left
    }

    /// What has arrived, else a local block, else what arrives next.
    fn take(&mut self) -> Result<FetchedBlock, FetchError> {
        loop {
            if (self.shared.conf.is_cancelled)() {
                return Err(FetchError::Cancelled);
            }
            let mut state = self.shared.state.lock();
            if let Some(arrival) = state.arrivals.pop_front() {
                drop(state);
                return arrival.map(|arrival| self.shared.hand_over(arrival));
            }
            if let Some((peer, id)) = self.local.pop_front() {
                drop(state);
                return self.open_local(peer, id);
            }
            let start = Instant::now();
            state.starved = true;
            self.shared.room.notify_all();
            self.shared.arrived.wait_for(&mut state, CANCEL_POLL_INTERVAL);
            state.starved = false;
            self.stats.waited += start.elapsed();
        }
    }

    fn open_local(&self, peer: PeerAddr, id: BlockId) -> Result<FetchedBlock, FetchError> {
        let failed = |cause| FetchError::Block { peer: peer.clone(), block: id, cause };
        let local = self.shared.conf.local.as_ref().expect("blocks are local only by its word");
        let data = local.open(&peer, &id).map_err(|reason| failed(FetchCause::Local { reason }))?;
        if data.is_empty() {
            return Err(failed(FetchCause::Local { reason: "it is empty".to_owned() }));
        }
        // Nothing lies between the file and this check, so reading it again would give the same.
        inspect(&self.shared.conf.verify, &id, &data)
            .map_err(|reason| failed(FetchCause::Corrupt { reason, diagnosis: Diagnosis::Disk }))?;
        Ok(FetchedBlock { id, peer, data, held: None })
    }

    fn count(&mut self, block: &FetchedBlock) {
        let (stats, bytes) = (&mut self.stats, block.data.len());
        if block.is_remote() {
            stats.remote_blocks += 1;
            stats.remote_bytes += bytes;
            if matches!(block.data, Payload::File { .. }) {
                stats.remote_bytes_to_disk += bytes;
            }
        } else {
            stats.local_blocks += 1;
            stats.local_bytes += bytes;
        }
    }
}

impl Iterator for ShuffleFetcher {
    type Item = Result<FetchedBlock, FetchError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let item = self.take();
        self.left -= 1;
        match &item {
            Ok(block) => self.count(block),
            Err(FetchError::Cancelled) => self.left = 0,
            Err(FetchError::Block { .. }) => {}
        }
        Some(item)
    }
}

impl Drop for ShuffleFetcher {
    fn drop(&mut self) {
        self.shared.give_up();
    }
}

impl fmt::Debug for ShuffleFetcher {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ShuffleFetcher")
            .field("left", &self.left)
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// Starts as many threads as there is work for; none at all is an error, fewer than wanted a warning.
    fn start_threads(self: &Arc<Self>) -> io::Result<()> {
        let waiting = self.state.lock().window.waiting();
        let wanted = self.conf.threads.min(self.conf.limits.max_requests_in_flight).max(1).min(waiting);
        for started in 0..wanted {
            let shared = self.clone();
            match self.conf.pool.run(move || worker::run(&shared)) {
                Ok(()) => {}
                Err(error) if started == 0 => return Err(error),
                Err(error) => {
                    tracing::warn!(%error, started, wanted, "fewer threads than wanted fetch blocks");
                    break;
                }
            }
        }
        Ok(())
    }

    /// Waits for a request that may go; none when nothing waits any more.
    pub(super) fn next_request(&self) -> Option<Request> {
        let mut state = self.state.lock();
        while !state.window.is_drained() {
            let starved = state.starved && state.arrivals.is_empty();
            if let Some(request) = state.window.next(starved) {
                return Some(request);
            }
            self.room.wait(&mut state);
        }
        None
    }

    /// Tells the reader of a block or its failure.
    pub(super) fn arrive(&self, peer: &PeerAddr, arrival: Result<Arrival, FetchError>) {
        let mut state = self.state.lock();
        state.window.block_done(peer);
        if !state.given_up {
            state.arrivals.push_back(arrival);
        }
        drop(state);
        self.arrived.notify_one();
        self.room.notify_all();
    }

    /// Has a block fetched once more, before all others.
    pub(super) fn again(&self, peer: PeerAddr, block: Wanted) {
        let mut state = self.state.lock();
        state.window.block_done(&peer);
        state.window.release(block.size);
        if !state.given_up {
            state.window.again(Request { peer, blocks: vec![block] });
        }
        drop(state);
        self.room.notify_all();
    }

    pub(super) fn request_done(&self) {
        self.state.lock().window.request_done();
        self.room.notify_all();
    }

    pub(super) fn release(&self, bytes: u64) {
        self.state.lock().window.release(bytes);
        self.room.notify_all();
    }

    /// Whether the reader is still there and has not been told to stop.
    pub(super) fn is_wanted(&self) -> bool {
        !self.state.lock().given_up && !(self.conf.is_cancelled)()
    }

    fn hand_over(self: &Arc<Self>, arrival: Arrival) -> FetchedBlock {
        let Arrival { peer, id, data, held_bytes } = arrival;
        let held = Held { shared: self.clone(), bytes: held_bytes };
        FetchedBlock { id, peer, data, held: Some(held) }
    }

    /// Forgets what waits and what has arrived.
    fn give_up(&self) {
        let mut state = self.state.lock();
        state.given_up = true;
        state.window.clear();
        state.arrivals.clear();
        drop(state);
        self.room.notify_all();
    }
}
