//! Stand-ins for the parts of a process that blocks need, for tests only.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{Error, Read, Write},
    path::PathBuf,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use firesteel_types::{ExecutorId, PartitionId, RddId, StorageLevel, Timestamp};
use hashbrown::HashMap;
use parking_lot::Mutex;
use tempfile::TempDir;

use super::{
    BlockError, BlockId, BlockManager, BlockManagerMaster, BlockManagerParts, BlockOptions, Body, Directory,
    LockOwner, MapOutputId, MemoryStore, NewBlock, OneFolder, Peer, PeerError, PeerId, Peers, Save,
    StorageMemory, Wait,
};

/// A fixed number of bytes, which evicts when it runs short.
pub(crate) struct Budget {
    max: u64,
    used: Mutex<u64>,
    store: OnceLock<Weak<MemoryStore>>,
}

impl Budget {
    pub(crate) fn new(max: u64) -> Self {
        Self { max, used: Mutex::new(0), store: OnceLock::new() }
    }

    /// Lets it evict the blocks of this store.
    pub(crate) fn evicts_from(&self, store: &Arc<MemoryStore>) {
        assert!(self.store.set(Arc::downgrade(store)).is_ok(), "it has a store");
    }

    pub(crate) fn used(&self) -> u64 {
        *self.used.lock()
    }
}

impl StorageMemory for Budget {
    fn acquire(&self, bytes: u64, for_rdd: Option<RddId>) -> bool {
        let missing = (self.used() + bytes).saturating_sub(self.max);
        if missing > 0
            && bytes <= self.max
            && let Some(store) = self.store.get().and_then(Weak::upgrade)
        {
            store.evict(missing, for_rdd);
        }
        let mut used = self.used.lock();
        let fits = *used + bytes <= self.max;
        if fits {
            *used += bytes;
        }
        fits
    }

    fn release(&self, bytes: u64) {
        *self.used.lock() -= bytes;
    }
}

/// Block managers of one application, each with its own memory and folder, that reach each other by plain calls.
pub(crate) struct Cluster {
    pub(crate) master: Arc<Mutex<BlockManagerMaster>>,
    pub(crate) network: Arc<Network>,
    /// Microseconds that all managers take for the time.
    pub(crate) now: Arc<AtomicU64>,
    pub(crate) nodes: Vec<Node>,
}

/// One process.
pub(crate) struct Node {
    pub(crate) manager: Arc<BlockManager>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) folder: TempDir,
}

impl Cluster {
    /// Without any process.
    pub(crate) fn empty() -> Self {
        Self {
            master: Arc::new(Mutex::new(BlockManagerMaster::new())),
            network: Arc::default(),
            now: Arc::default(),
            nodes: Vec::new(),
        }
    }

    /// So many executors, numbered from 0, each on its own host with so much memory for blocks.
    pub(crate) fn of(count: u32, memory: u64) -> Self {
        let mut cluster = Self::empty();
        for number in 0..count {
            cluster.add(Peer::executor(ExecutorId(number), format!("host-{number}")), memory);
        }
        cluster
    }

    pub(crate) fn add(&mut self, peer: Peer, memory: u64) -> &Node {
        self.add_with(peer, memory, BlockOptions::default())
    }

    pub(crate) fn add_with(&mut self, peer: Peer, memory: u64, options: BlockOptions) -> &Node {
        let PeerId::Executor(executor) = peer.id else { panic!("{peer:?} has no block manager") };
        let folder = tempfile::tempdir().unwrap();
        let budget = Arc::new(Budget::new(memory));
        let now = self.now.clone();
        let directory: Arc<dyn Directory> = self.master.clone();
        let manager = BlockManager::new(BlockManagerParts {
            executor,
            peer: peer.clone(),
            memory: budget.clone(),
            files: Arc::new(OneFolder::new(folder.path())),
            directory,
            peers: self.network.clone(),
            clock: Arc::new(move || Timestamp(now.load(Ordering::Relaxed))),
            options: BlockOptions { max_memory: memory, ..options },
        });
        budget.evicts_from(manager.memory_store());
        manager.register();
        self.network.managers.lock().insert(peer.id, Arc::downgrade(&manager));
        self.nodes.push(Node { manager, budget, folder });
        self.nodes.last().expect("it was just added")
    }

    pub(crate) fn manager(&self, number: usize) -> &BlockManager {
        &self.nodes[number].manager
    }

    /// The executors that hold a block, as far as the master knows.
    pub(crate) fn holders(&self, id: BlockId) -> Vec<u32> {
        let executor = |peer: Peer| match peer.id {
            PeerId::Executor(executor) => executor.0,
            PeerId::Service(host) => panic!("a service on {host}"),
        };
        Directory::locations(&*self.master, id).holders.into_iter().map(executor).collect()
    }
}

impl Node {
    /// How many files there are.
    pub(crate) fn files(&self) -> usize {
        fs::read_dir(self.folder.path()).unwrap().count()
    }
}

/// Calls between the managers of a test, with everything that can go wrong.
#[derive(Default)]
pub(crate) struct Network {
    managers: Mutex<HashMap<PeerId, Weak<BlockManager>>>,
    /// Who was asked for what, in order.
    pub(crate) fetched: Mutex<Vec<(PeerId, BlockId)>>,
    /// Who was offered what, in order.
    pub(crate) uploaded: Mutex<Vec<(PeerId, BlockId)>>,
    /// Those that cannot be reached.
    pub(crate) broken: Mutex<BTreeSet<PeerId>>,
    /// Those that answer without any bytes.
    pub(crate) silent: Mutex<BTreeSet<PeerId>>,
    /// Changes every byte that is fetched.
    pub(crate) corrupts: AtomicBool,
    /// Whether processes of a host know each other's files.
    pub(crate) shares_files: AtomicBool,
}

impl Network {
    fn reach(&self, peer: &PeerId) -> Result<Arc<BlockManager>, PeerError> {
        let manager = self.managers.lock().get(peer).and_then(Weak::upgrade);
        manager.filter(|_| !self.broken.lock().contains(peer)).ok_or_else(|| PeerError::Broken {
            peer: peer.clone(),
            source: Error::other("connection refused"),
        })
    }

    pub(crate) fn break_off(&self, executor: u32) {
        self.broken.lock().insert(PeerId::Executor(ExecutorId(executor)));
    }

    /// The peers that were fetched from.
    pub(crate) fn asked(&self) -> Vec<PeerId> {
        self.fetched.lock().iter().map(|(peer, _)| peer.clone()).collect()
    }
}

impl Peers for Network {
    fn fetch(&self, from: &PeerId, id: BlockId) -> Result<Bytes, PeerError> {
        self.fetched.lock().push((from.clone(), id));
        let manager = self.reach(from)?;
        if self.silent.lock().contains(from) {
            return Ok(Bytes::new());
        }
        let served = manager.serve(id, Wait::FOREVER).unwrap();
        let served = served.ok_or_else(|| PeerError::Absent { peer: from.clone() })?;
        let mut bytes = match &served.body {
            Body::Bytes(bytes) => bytes.to_vec(),
            Body::File { path, .. } => fs::read(path).unwrap(),
        };
        if self.corrupts.load(Ordering::Relaxed) {
            for byte in &mut bytes {
                *byte = !*byte;
            }
        }
        Ok(bytes.into())
    }

    fn fetch_to_file(&self, from: &PeerId, id: BlockId, file: &mut File) -> Result<u64, PeerError> {
        let bytes = self.fetch(from, id)?;
        file.write_all(&bytes).unwrap();
        Ok(bytes.len() as u64)
    }

    fn upload(&self, to: &PeerId, id: BlockId, level: StorageLevel, body: Body) -> Result<(), PeerError> {
        self.uploaded.lock().push((to.clone(), id));
        let manager = self.reach(to)?;
        let len = body.len();
        let mut body: Box<dyn Read> = match body {
            Body::Bytes(bytes) => Box::new(std::io::Cursor::new(bytes)),
            Body::File { path, .. } => Box::new(File::open(path).unwrap()),
        };
        let peer = to.clone();
        manager.receive(id, level, len, &mut body).map(drop).map_err(|error| match error {
            BlockError::Decommissioning { .. } => PeerError::Decommissioning { peer },
            BlockError::NoRoom { .. } => PeerError::NoRoom { peer },
            error => PeerError::Broken { peer, source: Error::other(error) },
        })
    }

    fn upload_map_output(
        &self,
        to: &PeerId,
        output: MapOutputId,
        _: Bytes,
        _: Body,
    ) -> Result<(), PeerError> {
        panic!("{output} for {to}: this network moves blocks only")
    }

    fn file_on_this_host(&self, of: &PeerId, id: BlockId) -> Option<(PathBuf, u64)> {
        let knows = self.shares_files.load(Ordering::Relaxed);
        let manager = self.reach(of).ok().filter(|_| knows)?;
        Some((manager.disk_store().path(id)?, manager.disk_store().size(id)?))
    }
}

pub(crate) fn rdd_block(rdd: u32, partition: u32) -> BlockId {
    BlockId::Rdd { rdd: RddId(rdd), partition: PartitionId(partition), generation: 0 }
}

pub(crate) fn piece(broadcast: u64, piece: u32) -> BlockId {
    BlockId::Broadcast { id: super::BroadcastId(broadcast), piece }
}

/// A value of so many bytes, all of them `byte`, that is serialized as it is.
pub(crate) fn typed(byte: u8, size: usize) -> NewBlock {
    let save = Save::serialize(|value, out| {
        let bytes = value.downcast_ref::<Vec<u8>>().ok_or_else(|| Error::other("not bytes"))?;
        out.write_all(bytes)
    });
    NewBlock::Typed { value: Arc::new(vec![byte; size]), size: size as u64, save }
}

/// The bytes of a block as any task of this process would read it; `None` if no process has it.
pub(crate) fn read(manager: &BlockManager, id: BlockId) -> Option<Vec<u8>> {
    content(manager.get(id, LockOwner::unique(), Wait::FOREVER).unwrap()?.into_parts().0)
}

/// The same for blocks of the process itself.
pub(crate) fn read_local(manager: &BlockManager, id: BlockId) -> Option<Vec<u8>> {
    content(manager.get_local(id, LockOwner::unique(), Wait::FOREVER).unwrap()?.into_parts().0)
}

pub(crate) fn content(data: super::BlockData) -> Option<Vec<u8>> {
    if let Some(value) = data.typed::<Vec<u8>>() {
        return Some(value.to_vec());
    }
    data.into_bytes().unwrap().map(|bytes| bytes.to_vec())
}
