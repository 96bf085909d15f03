//! From end to end: real servers, a real client, real files.

use std::{io::Read, sync::Arc};

use firesteel_net::{Dialer, Listener, ListenerConf, NetError, OneSecret, Realm, Secret, Service, Services};
use firesteel_types::{AppId, ExecutorId, StorageLevel};
use hashbrown::HashMap;
use parking_lot::Mutex;

use super::{
    super::{FetchCause, FetchConf, FetchError, FetchLimits, PeerBlocks, ShuffleFetcher},
    support::{block, read},
};
use crate::{
    block::BlockId,
    transfer::{
        BlockClient, BlockLimits, BlockSource, ClientConf, Payload, PeerAddr, Retry, TransferError,
        serve_blocks,
    },
};

/// The content of the block of one map: long for some maps, short for others.
fn content(map: u32) -> Vec<u8> {
    (0..1000 + (map % 7) * 50_000).map(|at| (at * 13 + map) as u8).collect()
}

/// Serves the blocks of all maps, every other one from a file.
struct Maps {
    of: ExecutorId,
    /// Whether a bit is wrong in the n-th answer for a map.
    wrong: fn(map: u32, answer: u32) -> bool,
    answers: Mutex<HashMap<u32, u32>>,
}

impl BlockSource for Maps {
    fn open(&self, _: &AppId, of: ExecutorId, id: &BlockId) -> Result<Payload, String> {
        let BlockId::Shuffle { map, .. } = id else { return Err("no such block".to_owned()) };
        if of != self.of {
            return Err(format!("this is {}, not {of}", self.of));
        }
        let mut bytes = content(map.0);
        let answer = {
            let mut answers = self.answers.lock();
            let answers = answers.entry(map.0).or_default();
            *answers += 1;
            *answers
        };
        if (self.wrong)(map.0, answer) {
            let at = bytes.len() / 2;
            bytes[at] ^= 1;
        }
        if map.0 % 2 == 0 {
            return Ok(Payload::from(bytes));
        }
        let mut file = tempfile::tempfile().map_err(|error| error.to_string())?;
        std::io::Write::write_all(&mut file, &bytes).map_err(|error| error.to_string())?;
        Ok(Payload::File { file: Arc::new(file), offset: 0, len: bytes.len() as u64 })
    }

    fn store(
        &self,
        _: &AppId,
        _: ExecutorId,
        _: &BlockId,
        _: StorageLevel,
        _: u64,
        _: &mut dyn Read,
    ) -> Result<(), String> {
        Err("takes no blocks".to_owned())
    }
}

struct Cluster {
    servers: Vec<Listener>,
    client: Arc<BlockClient>,
}

impl Cluster {
    fn new(servers: usize, wrong: fn(u32, u32) -> bool) -> Self {
        let (realm, secret) = (Realm::from("app-1"), Secret::random());
        let secrets = Arc::new(OneSecret { realm: realm.clone(), secret: secret.clone() });
        let server = |number| {
            let source = Maps { of: ExecutorId(number as u32), wrong, answers: Mutex::default() };
            let blocks = serve_blocks(Arc::new(source), BlockLimits::default());
            let services = Services::new().streams(Service::Blocks, blocks);
            Listener::bind("127.0.0.1", 0, 0, ListenerConf::new(secrets.clone()), services).unwrap()
        };
        let client = ClientConf { retry: Retry::NEVER, ..ClientConf::new(Dialer::new(realm, secret)) };
        Self { servers: (0..servers).map(server).collect(), client: Arc::new(BlockClient::new(client)) }
    }

    fn peer(&self, number: usize) -> PeerAddr {
        let addr = self.servers[number].address();
        PeerAddr::new(ExecutorId(number as u32), addr.ip().to_string(), addr.port())
    }

    /// Map m is at server m modulo their number.
    fn plan(&self, maps: u32) -> Vec<PeerBlocks> {
        let servers = self.servers.len();
        let at = |number: usize| (0..maps).filter(move |map| *map as usize % servers == number);
        let sized = |map| (block(map), content(map).len() as u64);
        (0..servers)
            .map(|number| PeerBlocks { peer: self.peer(number), blocks: at(number).map(sized).collect() })
            .collect()
    }

    fn fetch(&self, maps: u32, conf: FetchConf) -> ShuffleFetcher {
        ShuffleFetcher::start(self.client.clone(), self.plan(maps), conf).unwrap()
    }
}

fn map_of(id: &BlockId) -> u32 {
    match id {
        BlockId::Shuffle { map, .. } => map.0,
        other => panic!("{other}"),
    }
}

/// Small limits, so that there are many requests and many blocks go to files.
fn tight() -> FetchConf {
    let limits = FetchLimits {
        max_bytes_in_flight: 1 << 20,
        max_block_in_memory: 150_000,
        max_blocks_per_address: 10,
        ..FetchLimits::default()
    };
    let intact = |id: &BlockId, data: &Payload| {
        let mut bytes = Vec::new();
        data.reader().read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        if bytes == content(map_of(id)) { Ok(()) } else { Err("a bit is wrong".to_owned()) }
    };
    FetchConf { limits, verify: Arc::new(intact), ..FetchConf::new(std::env::temp_dir()) }
}

/// Behaviours: SHUF-008, SHUF-010, SHUF-011.
#[test]
fn a_reduce_task_reads_every_block_of_a_shuffle_from_four_servers() {
    let cluster = Cluster::new(4, |map, answer| map % 20 == 7 && answer == 1);
    let mut fetcher = cluster.fetch(200, tight());

    let mut maps = Vec::new();
    for item in &mut fetcher {
        let block = item.unwrap();
        let map = map_of(&block.id);
        assert_eq!(read(&block), content(map), "map {map}");
        maps.push(map);
    }

    maps.sort_unstable();
    assert!(maps.iter().copied().eq(0..200));
    let stats = fetcher.stats();
    assert_eq!(stats.remote_bytes, (0..200).map(|map| content(map).len() as u64).sum::<u64>());
    assert!(stats.remote_bytes_to_disk > 0 && stats.remote_bytes_to_disk < stats.remote_bytes);
}

/// Behaviours: SHUF-010.
#[test]
fn a_dead_server_fails_its_own_blocks_by_name() {
    let cluster = Cluster::new(3, |_, _| false);
    cluster.servers[1].stop();

    let (mut fine, mut failed) = (0, 0);
    for item in cluster.fetch(60, tight()) {
        match item {
            Ok(block) => {
                assert_ne!(map_of(&block.id) % 3, 1);
                fine += 1;
            }
            Err(FetchError::Block { peer, block, cause }) => {
                assert_eq!((peer, map_of(&block) % 3), (cluster.peer(1), 1));
                assert!(
                    matches!(cause, FetchCause::Transfer(TransferError::Net(NetError::Connect { .. }))),
                    "{cause}"
                );
                failed += 1;
            }
            Err(FetchError::Cancelled) => panic!("the fetch was not cancelled"),
        }
    }

    assert_eq!((fine, failed), (40, 20));
}

/// Behaviours: SHUF-011.
#[test]
fn a_server_whose_files_are_damaged_is_diagnosed() {
    let cluster = Cluster::new(1, |_, _| true);

    let error = cluster.fetch(1, tight()).next().unwrap().unwrap_err();

    let text = error.to_string();
    assert!(text.contains("the stored bytes are damaged") && text.contains("a bit is wrong"), "{text}");
}
