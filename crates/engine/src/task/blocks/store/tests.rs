//! What the driver hears, and blocks that are removed while they are used.

use firesteel_scheduler::BlockUpdate;
use firesteel_storage::{
    block::{NewBlock, Put, Save},
    memory::{Evictor, MemoryConf},
};
use firesteel_types::{ExecutorId, PartitionId};

use super::*;
use crate::{
    Conf,
    task::{Disk, DriverLine},
};

/// What was told, in order.
#[derive(Default)]
struct Told(Mutex<Vec<(u32, bool)>>);

impl DriverLine for Told {
    fn may_commit(&self, _task: &TaskContext) -> bool {
        false
    }

    fn blocks_changed(&self, executor: ExecutorId, blocks: Vec<BlockUpdate>) {
        assert_eq!(executor, ExecutorId::DRIVER);
        self.0.lock().extend(blocks.iter().map(|block| (block.partition.0, block.present)));
    }
}

impl Told {
    fn take(&self) -> Vec<(u32, bool)> {
        std::mem::take(&mut self.0.lock())
    }
}

struct OnlyBlocks(BlockStore);

impl Evictor for OnlyBlocks {
    fn evict(&self, bytes: u64, for_rdd: Option<RddId>) -> u64 {
        self.0.evict(bytes, for_rdd)
    }
}

fn store() -> (Arc<OnlyBlocks>, Arc<Told>, Arc<MemoryManager>) {
    let told = Arc::new(Told::default());
    let line: Arc<dyn DriverLine> = told.clone();
    let memory = MemoryManager::new(MemoryConf { budget: 100, storage_fraction: 0.5 });
    let disk = Disk::new(vec![std::env::temp_dir()], "test");
    let services =
        ExecutorServices { disk, ..ExecutorServices::alone(&Conf::new(), "here".into(), "test", line) };
    let store = BlockStore::new(&services, &memory, Compression::None);
    let store = Arc::new(OnlyBlocks(store));
    let evictor: std::sync::Weak<dyn Evictor> = Arc::<OnlyBlocks>::downgrade(&store);
    memory.set_evictor(evictor);
    (store, told, memory)
}

const MEMORY: StorageLevel = StorageLevel::MEMORY_ONLY;

fn block(rdd: u32, partition: u32) -> BlockId {
    BlockId::Rdd { rdd: RddId(rdd), partition: PartitionId(partition), generation: 0 }
}

fn put(store: &BlockStore, id: BlockId, level: StorageLevel) -> Put {
    let save = Save::serialize(|_, out| out.write_all(b"rows"));
    let new = NewBlock::Typed { value: Arc::new(()), size: 40, save };
    store.manager.put(id, new, level, LockOwner::unique(), Wait::Never).unwrap()
}

/// Behaviours: BLK-007.
#[test]
fn the_driver_hears_what_is_stored_evicted_and_removed() {
    let (store, told, memory) = store();
    let store = &store.0;

    assert_eq!(put(store, block(0, 0), MEMORY), Put::Stored);
    assert_eq!(put(store, block(0, 1), StorageLevel::MEMORY_AND_DISK), Put::Stored);
    assert_eq!(told.take(), [(0, true), (1, true)]);
    assert_eq!(put(store, block(1, 2), MEMORY), Put::Stored);
    assert_eq!(told.take(), [(0, false), (2, true)], "the oldest one made room");
    assert_eq!(put(store, block(2, 3), MEMORY), Put::Stored);
    assert_eq!(told.take(), [(1, true), (3, true)], "it is on disk now");
    assert!(store.contains(block(0, 1)) && !store.contains(block(0, 0)));

    store.remove_rdd(RddId(0));
    assert_eq!(told.take(), [(1, false)]);
    store.clear();

    assert_eq!(told.take(), [(2, false), (3, false)]);
    assert!(store.is_empty());
    assert_eq!(memory.usage().storage, 0);
}

/// Behaviours: BLK-004.
#[test]
fn a_block_that_is_in_use_is_removed_when_its_users_have_ended() {
    let (store, told, _) = store();
    let store = &store.0;
    let id = block(0, 0);
    put(store, id, MEMORY);
    let read = |attempt| {
        let owner = LockOwner::Task(AttemptId(attempt));
        store.manager.get_local(id, owner, Wait::Never).unwrap().unwrap()
    };
    let (first, second) = (read(1), read(2));

    store.remove_rdd(RddId(0));
    assert!(store.contains(block(0, 0)));
    store.release(AttemptId(1));
    assert!(store.contains(block(0, 0)), "another one reads it");
    store.release(AttemptId(2));

    assert!(store.is_empty());
    assert_eq!(told.take(), [(0, true), (0, false)]);
    drop((first, second));
    put(store, id, MEMORY);
    store.release(AttemptId(3));
    assert!(store.contains(block(0, 0)), "a new one of the same name is left alone");
}
