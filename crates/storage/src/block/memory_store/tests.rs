//! Which blocks leave memory, and when none does.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use firesteel_types::{PartitionId, StorageLevel};

use super::*;
use crate::block::{NewLock, testing::Budget};

/// Saves like a block manager without a disk, and notes what was evicted.
#[derive(Default)]
struct Handler {
    evicted: Mutex<Vec<BlockId>>,
    fails: AtomicBool,
    panics: AtomicBool,
}

impl EvictionHandler for Handler {
    fn evict(&self, id: BlockId, value: &Stored, save: &Save) -> io::Result<AfterEviction> {
        assert!(!self.panics.load(Ordering::Relaxed), "as the test wants");
        if self.fails.load(Ordering::Relaxed) {
            return Err(io::Error::other("the disk is full"));
        }
        if let (Stored::Typed(value), Save::Elsewhere(save)) = (value, save) {
            save(&**value)?;
        }
        self.evicted.lock().push(id);
        Ok(AfterEviction::Gone)
    }
}

struct Fixture {
    locks: Arc<LockTable>,
    budget: Arc<Budget>,
    handler: Arc<Handler>,
    store: Arc<MemoryStore>,
    owner: LockOwner,
}

/// A store with room for so many bytes.
fn store(bytes: u64) -> Fixture {
    let (locks, budget) = (Arc::new(LockTable::new()), Arc::new(Budget::new(bytes)));
    let handler = Arc::new(Handler::default());
    let weak: Weak<Handler> = Arc::downgrade(&handler);
    let store = Arc::new(MemoryStore::new(budget.clone(), locks.clone(), weak));
    budget.evicts_from(&store);
    Fixture { locks, budget, handler, store, owner: LockOwner::unique() }
}

fn block(rdd: u32, partition: u32) -> BlockId {
    BlockId::Rdd { rdd: RddId(rdd), partition: PartitionId(partition), generation: 0 }
}

impl Fixture {
    /// Stores a block of so many bytes, and returns whether it found room.
    fn put(&self, id: BlockId, size: usize) -> bool {
        self.put_saving(id, size, Save::Never)
    }

    fn put_saving(&self, id: BlockId, size: usize, save: Save) -> bool {
        let lock =
            self.locks.lock_new_for_writing(id, StorageLevel::MEMORY_ONLY, self.owner, Wait::Never).unwrap();
        assert_eq!(lock, NewLock::Writing);
        let value: Vec<u8> = vec![0; size];
        let stored = self
            .store
            .reserve(size as u64, id.rdd())
            .is_some_and(|reserved| self.store.put(id, Stored::Typed(Arc::new(value)), save, reserved));
        if stored {
            self.locks.unlock(id, self.owner)
        } else {
            self.locks.remove(id, self.owner)
        };
        stored
    }

    fn evicted(&self) -> Vec<BlockId> {
        std::mem::take(&mut *self.handler.evicted.lock())
    }
}

/// Behaviours: BLK-005, BLK-006.
#[test]
fn the_least_recently_used_goes_but_never_for_its_own_rdd() {
    let store = store(20);
    assert!(store.put(block(0, 1), 10) && store.put(block(0, 2), 10));

    assert!(store.put(block(1, 1), 10));
    assert_eq!(store.evicted(), [block(0, 1)]);
    assert!(store.store.get(block(0, 2)).is_some());
    assert!(store.put(block(0, 3), 10));
    assert_eq!(store.evicted(), [block(1, 1)]);
    assert!(!store.put(block(0, 4), 10), "only blocks of its own RDD are there");

    assert_eq!(store.evicted(), []);
    assert_eq!(store.locks.ids(|_| true), [block(0, 2), block(0, 3)]);
    assert_eq!(store.budget.used(), 20);
}

/// Behaviours: BLK-005.
#[test]
fn a_read_makes_a_block_the_last_to_go() {
    let store = store(30);
    assert!(store.put(block(0, 0), 10) && store.put(block(1, 0), 10) && store.put(block(2, 0), 10));
    assert!(store.store.get(block(0, 0)).is_some());
    assert!(store.store.peek(block(1, 0)).is_some());

    assert!(store.put(block(3, 0), 20));

    assert_eq!(store.evicted(), [block(1, 0), block(2, 0)]);
}

/// Behaviours: BLK-005.
#[test]
fn all_victims_are_chosen_first_and_none_goes_if_they_are_not_enough() {
    let store = store(30);
    assert!(store.put(block(0, 0), 10) && store.put(block(1, 0), 10) && store.put(block(0, 1), 10));

    assert!(!store.put(block(0, 2), 20), "only rdd 1 may go, with 10 bytes");

    assert_eq!(store.evicted(), []);
    assert_eq!(store.budget.used(), 30);
    assert!(store.put(block(2, 0), 20));
    assert_eq!(store.evicted(), [block(0, 0), block(1, 0)]);
}

/// Behaviours: BLK-005.
#[test]
fn a_block_that_somebody_reads_is_not_evicted() {
    let store = store(20);
    assert!(store.put(block(0, 0), 10) && store.put(block(0, 1), 10));
    let reader = LockOwner::unique();
    store.locks.lock_for_reading(block(0, 0), reader, Wait::Never).unwrap();

    assert!(store.put(block(1, 0), 10));
    assert_eq!(store.evicted(), [block(0, 1)], "the younger one, since the older is read");
    assert!(!store.put(block(2, 0), 20), "10 of 20 bytes are being read");
    store.locks.unlock(block(0, 0), reader);

    assert!(store.put(block(2, 0), 20));
    assert_eq!(store.evicted(), [block(0, 0), block(1, 0)]);
}

/// Behaviours: BLK-005.
#[test]
fn execution_may_take_the_blocks_of_any_rdd() {
    let store = store(30);
    assert!(store.put(block(0, 0), 10) && store.put(block(0, 1), 10) && store.put(block(1, 0), 10));

    assert_eq!(store.store.evict(11, None), 20);

    assert_eq!(store.evicted(), [block(0, 0), block(0, 1)]);
    assert_eq!((store.store.used_bytes(), store.budget.used()), (10, 10));
    assert_eq!(store.store.evict(11, None), 0);
}

/// Behaviours: BLK-007.
#[test]
fn a_block_larger_than_all_memory_evicts_nothing() {
    let store = store(20);
    assert!(store.put(block(0, 0), 10));

    assert!(!store.put(block(1, 0), 21));

    assert_eq!(store.evicted(), []);
    assert_eq!((store.store.size(block(0, 0)), store.store.size(block(1, 0))), (Some(10), None));
    assert_eq!(store.locks.ids(|_| true), [block(0, 0)]);
}

#[test]
fn what_happens_to_an_evicted_value_is_up_to_its_owner() {
    let store = store(10);
    let saved = Arc::new(Mutex::new(Vec::new()));
    let save = Save::elsewhere({
        let saved = saved.clone();
        move |value| {
            saved.lock().push(value.downcast_ref::<Vec<u8>>().map(Vec::len));
            Ok(())
        }
    });
    assert!(store.put_saving(block(0, 0), 7, save));

    assert!(store.put(block(1, 0), 10));

    assert_eq!(*saved.lock(), [Some(7)]);
    assert_eq!(store.locks.ids(|_| true), [block(1, 0)]);
}

#[test]
fn a_block_that_cannot_be_saved_stays_and_is_not_locked() {
    for (fails, panics) in [(true, false), (false, true)] {
        let store = store(10);
        assert!(store.put(block(0, 0), 10));
        store.handler.fails.store(fails, Ordering::Relaxed);
        store.handler.panics.store(panics, Ordering::Relaxed);

        assert!(!store.put(block(1, 0), 10));

        assert!(store.store.get(block(0, 0)).is_some());
        assert_eq!(store.budget.used(), 10);
        store.handler.fails.store(false, Ordering::Relaxed);
        store.handler.panics.store(false, Ordering::Relaxed);
        assert!(store.put(block(1, 0), 10));
    }
}

#[test]
fn a_removed_block_gives_its_memory_back() {
    let store = store(10);
    assert!(store.put(block(0, 0), 10));

    assert!(store.store.remove(block(0, 0)));

    assert!(!store.store.remove(block(0, 0)));
    assert_eq!((store.budget.used(), store.store.used_bytes()), (0, 0));
}

#[test]
fn a_second_copy_of_a_block_is_refused_and_its_memory_given_back() {
    let store = store(30);
    assert!(store.put(block(0, 0), 10));
    let reserved = store.store.reserve(12, None).unwrap();

    assert!(!store.store.put(block(0, 0), Stored::Bytes(Bytes::new()), Save::Never, reserved));

    assert_eq!(store.budget.used(), 10);
    assert!(matches!(store.store.get(block(0, 0)), Some(Stored::Typed(_))));
}
