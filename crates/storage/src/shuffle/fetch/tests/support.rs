//! A transport that follows the script of a test, and plans in one line.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use firesteel_types::{ExecutorId, PartitionId, ShuffleId};
use parking_lot::Mutex;

use super::super::{FetchConf, FetchError, FetchLimits, FetchedBlock, PeerBlocks, ShuffleFetcher, Transport};
use crate::{
    block::BlockId,
    transfer::{Destination, Incoming, PeerAddr, Sink},
};

/// Longer than anything takes that works; only a failure waits for it.
pub(super) const GUARD: Duration = Duration::from_secs(30);

pub(super) fn block(map: u32) -> BlockId {
    BlockId::Shuffle { shuffle: ShuffleId(7), map: PartitionId(map), reduce: PartitionId(3) }
}

pub(super) fn peer(number: u32) -> PeerAddr {
    PeerAddr::new(ExecutorId(number), format!("host-{number}"), 7337)
}

/// The blocks of these maps, all of one size, at one peer.
pub(super) fn blocks_at(number: u32, maps: &[u32], size: u64) -> PeerBlocks {
    PeerBlocks { peer: peer(number), blocks: maps.iter().map(|&map| (block(map), size)).collect() }
}

/// One peer for each block.
pub(super) fn scattered(maps: std::ops::Range<u32>, size: u64) -> Vec<PeerBlocks> {
    maps.map(|map| blocks_at(map, &[map], size)).collect()
}

pub(super) fn content(id: &BlockId) -> Bytes {
    format!("the bytes of {id}").into()
}

type Script = dyn Fn(&PeerAddr, &[BlockId], &mut dyn Sink) + Send + Sync;

/// Remembers what it was asked and follows its script.
pub(super) struct Scripted {
    pub(super) asked: Mutex<Vec<BlockId>>,
    script: Box<Script>,
}

impl Scripted {
    pub(super) fn new(
        script: impl Fn(&PeerAddr, &[BlockId], &mut dyn Sink) + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { asked: Mutex::default(), script: Box::new(script) })
    }

    /// Has every block.
    pub(super) fn willing() -> Arc<Self> {
        Self::new(|_, ids, sink| {
            for id in ids {
                send(id, content(id), sink);
            }
        })
    }

    pub(super) fn asked(&self) -> Vec<BlockId> {
        let mut asked = self.asked.lock().clone();
        asked.sort();
        asked
    }
}

impl Transport for Scripted {
    fn fetch(&self, from: &PeerAddr, ids: &[BlockId], sink: &mut dyn Sink) {
        self.asked.lock().extend_from_slice(ids);
        (self.script)(from, ids, sink);
    }
}

/// Sends a block as the client does, to memory or to the sink's writer.
pub(super) fn send(id: &BlockId, bytes: Bytes, sink: &mut dyn Sink) {
    let len = bytes.len() as u64;
    match sink.place(id, len).unwrap() {
        Destination::Memory => sink.deliver(*id, Ok(Incoming::Bytes(bytes))),
        Destination::Writer(mut writer) => {
            writer.write_all(&bytes).unwrap();
            writer.flush().unwrap();
            sink.deliver(*id, Ok(Incoming::Written { len }));
        }
    }
}

pub(super) fn conf() -> FetchConf {
    FetchConf::new(std::env::temp_dir())
}

pub(super) fn limited(limits: FetchLimits) -> FetchConf {
    FetchConf { limits, ..conf() }
}

pub(super) fn start(transport: &Arc<Scripted>, plan: Vec<PeerBlocks>, conf: FetchConf) -> ShuffleFetcher {
    ShuffleFetcher::start(transport.clone(), plan, conf).unwrap()
}

/// Everything that comes, each block with its content.
pub(super) fn read_all(fetcher: ShuffleFetcher) -> Vec<Result<(BlockId, Vec<u8>), FetchError>> {
    fetcher.map(|item| item.map(|block| (block.id, read(&block)))).collect()
}

pub(super) fn read(block: &FetchedBlock) -> Vec<u8> {
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut block.reader(), &mut bytes).unwrap();
    bytes
}

/// Waits for something that another thread does soon.
pub(super) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < GUARD, "{what} never came");
        thread::yield_now();
    }
}
