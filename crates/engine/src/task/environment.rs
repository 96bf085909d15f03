//! What the tasks of one executor share.

use std::sync::{Arc, Weak};

use firesteel_scheduler::BlockUpdate;
use firesteel_storage::{
    block::{Directory, Peers},
    codec::Compression,
    memory::{Evictor, MemoryConf, MemoryConfError, MemoryManager, physical_memory},
};
use firesteel_types::{
    ExecutorId, Host, RddId,
    settings::{self, Codec},
};

use super::Disk;
use crate::{
    Conf,
    task::{BlockStore, BroadcastStore, NoPeers, RemoteShuffles, ShuffleConf, ShuffleStore, ToDriver},
};

/// The stores of one executor, what they may use, and its line to the driver.
pub(crate) struct Environment {
    pub(crate) host: Host,
    pub(crate) memory: Arc<MemoryManager>,
    pub(crate) disk: Arc<Disk>,
    pub(crate) spill_compression: Compression,
    pub(crate) shuffles: ShuffleStore,
    pub(crate) blocks: BlockStore,
    pub(crate) broadcasts: BroadcastStore,
    pub(crate) driver: Arc<dyn DriverLine>,
}

/// The identity of an executor and its connections to the driver and to other processes, if there are any.
pub(crate) struct ExecutorServices {
    pub(crate) executor: ExecutorId,
    pub(crate) host: Host,
    pub(crate) disk: Arc<Disk>,
    pub(crate) driver: Arc<dyn DriverLine>,
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) peers: Arc<dyn Peers>,
    /// The way to the map outputs of other executors.
    pub(crate) remote: Option<RemoteShuffles>,
}

impl ExecutorServices {
    /// Of the only process of an application.
    pub(crate) fn alone(conf: &Conf, host: Host, app: &str, driver: Arc<dyn DriverLine>) -> Self {
        Self {
            executor: ExecutorId::DRIVER,
            host,
            disk: Disk::below(conf, app),
            directory: Arc::new(ToDriver(driver.clone())),
            peers: Arc::new(NoPeers),
            driver,
            remote: None,
        }
    }
}

impl Environment {
    /// Empty stores with the memory that the settings give.
    pub(crate) fn new(conf: &Conf, services: ExecutorServices) -> Result<Arc<Self>, MemoryConfError> {
        let memory = MemoryManager::new(memory_conf(conf)?);
        let codec = match conf.get(settings::IO_COMPRESSION_CODEC) {
            Codec::Lz4 => Compression::Lz4,
            Codec::Zstd => {
                Compression::Zstd { level: conf.get(settings::IO_COMPRESSION_ZSTD_LEVEL).cast_signed() }
            }
        };
        let compressed = |is_on| if is_on { codec } else { Compression::None };
        let compression = compressed(conf.get(settings::RDD_COMPRESS));
        let shuffle = ShuffleConf {
            compression: compressed(conf.get(settings::SHUFFLE_COMPRESS)),
            sums_content: conf.get(settings::SHUFFLE_ORDER_INDEPENDENT_CHECKSUM_ENABLED)
                || conf.get(settings::SHUFFLE_ORDER_INDEPENDENT_CHECKSUM_FULL_RETRY),
        };
        let blocks = BlockStore::new(&services, &memory, compression);
        let ExecutorServices { host, disk, driver, remote, .. } = services;
        let environment = Arc::new(Self {
            host,
            shuffles: ShuffleStore::new(&memory, &disk, shuffle, remote),
            broadcasts: BroadcastStore::new(&blocks),
            blocks,
            spill_compression: compressed(conf.get(settings::SHUFFLE_SPILL_COMPRESS)),
            memory,
            disk,
            driver,
        });
        let evictor: Weak<dyn Evictor> = Arc::<Self>::downgrade(&environment);
        environment.memory.set_evictor(evictor);
        Ok(environment)
    }

    /// Forgets everything that is stored, for good.
    pub(crate) fn clear(&self) {
        self.shuffles.clear();
        self.blocks.clear();
        self.broadcasts.clear();
        self.disk.close();
    }

    /// Whether nothing is stored.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.shuffles.is_empty() && self.blocks.is_empty() && self.broadcasts.is_empty()
    }
}

/// Refuses executors of a size in which nothing could run, before any is started.
pub(crate) fn check_executor_memory(conf: &Conf, memory_mib: u64) -> crate::Result<()> {
    let conf = conf.clone().set(settings::MEMORY_LIMIT, format!("{memory_mib}m"))?;
    Ok(memory_conf(&conf).map(drop)?)
}

/// What tasks and stored blocks share: what is set, or a part of what the machine has.
fn memory_conf(conf: &Conf) -> Result<MemoryConf, MemoryConfError> {
    let storage_fraction = conf.get(settings::MEMORY_STORAGE_FRACTION).as_f64();
    if let Some(budget) = conf.get(settings::MEMORY_BUDGET) {
        return Ok(MemoryConf { budget, storage_fraction });
    }
    // A system that does not tell its memory gets no limit but its own.
    let system = conf.get(settings::MEMORY_LIMIT).or_else(|| physical_memory().ok()).unwrap_or(u64::MAX / 2);
    MemoryConf::with_fractions(system, conf.get(settings::MEMORY_FRACTION).as_f64(), storage_fraction)
}

/// Memory is needed: map outputs go to disk, then cached partitions go where their level allows.
impl Evictor for Environment {
    fn evict(&self, bytes: u64, for_rdd: Option<RddId>) -> u64 {
        let freed = self.shuffles.evict(bytes);
        freed + if freed < bytes { self.blocks.evict(bytes - freed, for_rdd) } else { 0 }
    }
}

/// What tasks can ask of the driver.
pub(crate) trait DriverLine: Send + Sync {
    /// Asks for the right to commit the output of a task's partition, and waits for the answer.
    fn may_commit(&self, task: &super::TaskContext) -> bool;

    /// Tells which cached partitions an executor has now, or has no longer.
    ///
    /// Comes from the midst of storing and evicting. So it is only noted, in order, and nothing is decided on this
    /// thread: the next message to the driver, at the latest the end of the task, has it dealt with.
    fn blocks_changed(&self, executor: ExecutorId, blocks: Vec<BlockUpdate>);
}
