//! Map outputs of other processes, fetched block by block: [`RemoteShuffles`].

use std::{io, sync::Arc};

use hashbrown::HashMap;

use firesteel_scheduler::map_output::BlockRef;
use firesteel_storage::{
    block::BlockId,
    codec,
    shuffle::fetch::{
        FetchConf, FetchError, FetchLimits, FetchThreads, FetchedBlock, PeerBlocks, ShuffleFetcher, Transport,
    },
    transfer::{Payload, PeerAddr},
};
use firesteel_types::{AttemptId, ExecutorId, FetchFailure, Host, PartitionId, ShuffleId};

use crate::task::{Disk, TaskContext};

/// Tells where the outputs of a shuffle are.
pub(crate) trait MapTables: Send + Sync {
    /// The blocks for `reducer` that are not empty, by the executor that made them. Waits for the driver's answer.
    fn input(
        &self,
        shuffle: ShuffleId,
        reducer: PartitionId,
        task: &TaskContext,
    ) -> Result<Vec<PlacedBlocks>, FetchFailure>;
}

/// Blocks that one executor made, and where they are served.
pub(crate) struct PlacedBlocks {
    pub(crate) peer: PeerAddr,
    /// The host of the executor, as the scheduler knows it.
    pub(crate) host: Host,
    pub(crate) blocks: Vec<BlockRef>,
}

/// The way to the map outputs of other executors.
pub(crate) struct RemoteShuffles {
    pub(crate) own: ExecutorId,
    pub(crate) tables: Arc<dyn MapTables>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) limits: FetchLimits,
    pub(crate) threads: Arc<FetchThreads>,
    pub(crate) disk: Arc<Disk>,
}

impl RemoteShuffles {
    /// Starts to fetch blocks, in the order of their map tasks as far as possible.
    pub(crate) fn fetch(
        &self,
        shuffle: ShuffleId,
        placed: Vec<PlacedBlocks>,
        task: &TaskContext,
    ) -> io::Result<Arrivals> {
        let mut origins = HashMap::new();
        let plan = placed.into_iter().map(|PlacedBlocks { peer, host, blocks }| {
            let block = |block: BlockRef| {
                origins.insert(block.map, (block.attempt, (peer.executor, host.clone())));
                (BlockId::Shuffle { shuffle, map: block.map, reduce: block.reducer }, block.size_bytes)
            };
            let blocks = blocks.into_iter().map(block).collect();
            PeerBlocks { peer, blocks }
        });
        let plan = plan.collect();
        let (disk, cancelled) = (self.disk.clone(), task.clone());
        let conf = FetchConf {
            limits: self.limits,
            pool: self.threads.clone(),
            verify: Arc::new(|_, data| {
                codec::survey(io::BufReader::new(data.reader())).map(drop).map_err(|error| error.to_string())
            }),
            files: Arc::new(move || {
                let folder = disk.dirs().map_err(io::Error::other)?;
                let folder = folder.folders().next().map(std::path::Path::to_path_buf);
                tempfile::tempfile_in(folder.unwrap_or_else(std::env::temp_dir))
            }),
            is_cancelled: Arc::new(move || cancelled.is_interrupted()),
            in_order: true,
            ..FetchConf::new(std::env::temp_dir())
        };
        let fetcher = ShuffleFetcher::start(self.transport.clone(), plan, conf)?;
        Ok(Arrivals { fetcher, early: HashMap::new(), origins })
    }
}

/// The attempt that made a block, and where it ran.
type Origin = (AttemptId, (ExecutorId, Host));

/// Blocks on their way, handed out in the order in which they are asked for.
pub(crate) struct Arrivals {
    fetcher: ShuffleFetcher,
    /// Those that came before they were asked for.
    early: HashMap<u32, FetchedBlock>,
    origins: HashMap<PartitionId, Origin>,
}

impl Arrivals {
    /// The block of one map task. Ends the task if it cannot be had.
    pub(crate) fn take(&mut self, map: u32, task: &TaskContext) -> FetchedBlock {
        self.wait_for(map, task);
        self.early.remove(&map).expect("it was waited for")
    }

    /// How many rows the block of one map task has, unless it is so large that it went to a file. Waits for it.
    pub(crate) fn rows(&mut self, map: u32, task: &TaskContext) -> Option<u64> {
        self.wait_for(map, task);
        match &self.early[&map].data {
            // What is wrong with it shows when it is read.
            Payload::Bytes(bytes) => Some(codec::survey(&bytes[..]).ok()?.rows),
            _ => None,
        }
    }

    fn wait_for(&mut self, map: u32, task: &TaskContext) {
        while !self.early.contains_key(&map) {
            match self.fetcher.next() {
                Some(Ok(block)) => {
                    if let BlockId::Shuffle { map, .. } = block.id {
                        self.early.insert(map.0, block);
                    }
                }
                Some(Err(error)) => self.fail(&error, task),
                None => task.abort_unfetched("a block that was asked for never came"),
            }
        }
    }

    fn fail(&self, error: &FetchError, task: &TaskContext) -> ! {
        task.check();
        match error.to_failure() {
            Some(failure) => {
                let origin = failure.map_partition.and_then(|map| self.origins.get(&map).cloned());
                let (map_attempt, location) = origin.unzip();
                task.abort_fetch(FetchFailure { map_attempt, location, ..failure })
            }
            None => task.abort_unfetched(&error.to_string()),
        }
    }
}
