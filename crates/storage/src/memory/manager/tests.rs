//! Real threads: who waits, what wakes them, and an evictor that calls back.

use std::{
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::Instant,
};

use firesteel_types::{PartitionId, Rng, StorageLevel};

use super::*;
use crate::{
    block::{BlockId, LockOwner, LockTable, NewLock, Wait},
    memory::blocked,
};

/// Long enough that only a wake-up can end a wait before the test gives up.
const NEVER: Duration = Duration::from_secs(3600);
const GUARD: Duration = Duration::from_secs(60);

const CONF: MemoryConf = MemoryConf { budget: 1000, storage_fraction: 0.5 };

fn manager() -> Arc<MemoryManager> {
    MemoryManager::polling(CONF, NEVER)
}

fn never() -> bool {
    false
}

/// Runs a task on its own thread that asks for the amounts in turn, tells what it got each time, and then ends.
fn asking(manager: &Arc<MemoryManager>, amounts: &'static [u64]) -> mpsc::Receiver<u64> {
    let (tell, told) = mpsc::channel();
    let manager = Arc::clone(manager);
    thread::spawn(move || {
        let task = manager.task(AttemptId(2));
        for &bytes in amounts {
            tell.send(task.acquire(bytes, &never)).unwrap();
        }
    });
    told
}

fn until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < GUARD, "the condition never came true");
        thread::yield_now();
    }
}

fn until_one_waits(manager: &MemoryManager) {
    until(|| manager.usage().waiting == 1);
}

/// Behaviours: MEM-004.
#[test]
fn a_release_wakes_the_task_that_waits_for_half_of_its_share() {
    let manager = manager();
    let first = manager.task(AttemptId(1));
    assert_eq!(first.acquire(1000, &never), 1000);

    let second = asking(&manager, &[250, 100]);
    until_one_waits(&manager);
    assert!(second.try_recv().is_err(), "it waits");
    first.release(250);

    assert_eq!(second.recv_timeout(GUARD), Ok(250));
    assert_eq!(second.recv_timeout(GUARD), Ok(0), "at half of its share it gets nothing, at once");
}

/// Behaviours: MEM-004.
#[test]
fn a_new_task_wakes_a_waiting_one_whose_least_share_is_smaller_now() {
    let manager = manager();
    let first = manager.task(AttemptId(1));
    assert_eq!(first.acquire(800, &never), 800);

    let second = asking(&manager, &[300]);
    until_one_waits(&manager);
    let third = manager.task(AttemptId(3));
    assert_eq!(third.acquire(0, &never), 0);

    assert_eq!(second.recv_timeout(GUARD), Ok(200), "a sixth of 1000 is less than the 200 that are free");
}

/// Behaviours: MEM-004, MEM-006.
#[test]
fn a_task_that_ends_returns_everything_and_wakes_the_others() {
    let manager = manager();
    let first = manager.task(AttemptId(1));
    assert_eq!(first.acquire(1000, &never), 1000);

    let second = asking(&manager, &[700]);
    until_one_waits(&manager);
    drop(first);

    assert_eq!(second.recv_timeout(GUARD), Ok(700));
    until(|| {
        manager.usage()
            == MemoryUsage { budget: 1000, storage: 0, execution: 0, tasks: 0, waiting: 0, blocked: 0 }
    });
}

/// Behaviours: MEM-004.
#[test]
fn a_block_that_goes_wakes_waiting_tasks_too() {
    let manager = manager();
    assert!(manager.acquire_storage(400, None));
    let first = manager.task(AttemptId(1));
    assert_eq!(first.acquire(600, &never), 600);

    let second = asking(&manager, &[200]);
    until_one_waits(&manager);
    manager.release_storage(400);

    assert_eq!(second.recv_timeout(GUARD), Ok(200));
}

#[test]
fn a_waiting_task_that_is_cancelled_gives_up_with_nothing() {
    let manager = MemoryManager::new(CONF);
    let first = manager.task(AttemptId(1));
    assert_eq!(first.acquire(1000, &never), 1000);
    let cancel = Arc::new(AtomicBool::new(false));

    let (seen, theirs) = (Arc::clone(&cancel), Arc::clone(&manager));
    let second = thread::spawn(move || theirs.task(AttemptId(2)).acquire(250, &|| seen.load(SeqCst)));
    until_one_waits(&manager);
    cancel.store(true, SeqCst);

    assert_eq!(second.join().unwrap(), 0);
    assert_eq!(manager.usage().tasks, 1, "it ended");
}

#[test]
fn a_task_divides_the_budget_from_its_first_request_on() {
    let manager = manager();
    let idle = manager.task(AttemptId(1));
    let busy = manager.task(AttemptId(2));

    assert_eq!(busy.acquire(1000, &never), 1000, "the other has not asked for anything");
    assert_eq!((idle.share(), busy.share()), (500, 1000), "it counts itself in");
    busy.release(600);
    assert_eq!(idle.acquire(300, &never), 300);
    assert_eq!((busy.share(), manager.usage().tasks), (500, 2));
}

/// Two tasks of the same attempt, as a confused driver may launch them, do not touch each other's memory.
#[test]
fn an_attempt_that_runs_twice_has_two_shares() {
    let manager = manager();
    let first = manager.task(AttemptId(1));
    let second = manager.task(AttemptId(1));
    assert_eq!((first.acquire(400, &never), second.acquire(300, &never)), (400, 300));

    drop(second);
    assert_eq!(manager.usage().execution, 400);
    first.release(1000);
    assert_eq!((first.granted(), manager.usage().execution), (0, 0), "no more than it has");
}

/// Blocks of some bytes each, all or nothing, given back to the manager one by one from within.
struct Blocks {
    manager: Arc<MemoryManager>,
    held: Mutex<Vec<u64>>,
    asked: Mutex<Vec<(u64, Option<RddId>)>>,
}

impl Blocks {
    fn new(manager: &Arc<MemoryManager>) -> Arc<Self> {
        let (held, asked) = (Mutex::default(), Mutex::default());
        let blocks = Arc::new(Self { manager: Arc::clone(manager), held, asked });
        let weak: Weak<Self> = Arc::downgrade(&blocks);
        manager.set_evictor(weak);
        blocks
    }

    fn put(&self, bytes: u64, rdd: Option<RddId>) -> bool {
        let fits = self.manager.acquire_storage(bytes, rdd);
        if fits {
            self.held.lock().push(bytes);
        }
        fits
    }
}

impl Evictor for Blocks {
    fn evict(&self, bytes: u64, for_rdd: Option<RddId>) -> u64 {
        self.asked.lock().push((bytes, for_rdd));
        let mut held = self.held.lock();
        let mut chosen = 0;
        let count = held
            .iter()
            .take_while(|&&block| {
                chosen < bytes && {
                    chosen += block;
                    true
                }
            })
            .count();
        if chosen < bytes {
            return 0;
        }
        for block in held.drain(..count) {
            self.manager.release_storage(block);
        }
        chosen
    }
}

/// Behaviours: MEM-002.
#[test]
fn execution_evicts_through_the_block_store() {
    let manager = manager();
    let blocks = Blocks::new(&manager);
    for _ in 0..15 {
        assert!(blocks.put(50, None));
    }
    let task = manager.task(AttemptId(1));

    assert_eq!(task.acquire(100, &never), 100);
    assert_eq!(*blocks.asked.lock(), [], "250 were free");
    assert_eq!(task.acquire(200, &never), 200);
    assert_eq!(*blocks.asked.lock(), [(50, None)]);
    assert_eq!(manager.usage().storage, 700);
}

/// Behaviours: MEM-003.
#[test]
fn storage_evicts_blocks_only_if_that_makes_enough_room() {
    let manager = manager();
    let blocks = Blocks::new(&manager);
    let task = manager.task(AttemptId(1));
    assert_eq!(task.acquire(800, &never), 800);

    assert!(blocks.put(100, None));
    assert!(!blocks.put(250, Some(RddId(1))));
    assert_eq!(*blocks.asked.lock(), [], "nothing could make room for 250");
    assert!(blocks.put(150, Some(RddId(1))));
    assert_eq!(*blocks.asked.lock(), [(50, Some(RddId(1)))]);
    assert_eq!((manager.usage().storage, manager.usage().execution), (150, 800));
}

#[test]
fn blocks_that_cannot_go_leave_execution_with_less_and_storage_with_a_refusal() {
    let manager = manager();
    let blocks = Blocks::new(&manager);
    assert!(manager.acquire_storage(900, None), "memory that the store does not know of");
    let task = manager.task(AttemptId(1));

    assert_eq!(task.acquire(300, &never), 100);
    assert!(!manager.acquire_storage(50, None));
    assert_eq!(*blocks.asked.lock(), [(200, None), (50, None)], "each asked once");
}

#[test]
fn without_a_block_store_nothing_is_evicted() {
    let manager = manager();
    assert!(manager.acquire_storage(900, None));

    assert_eq!(manager.task(AttemptId(1)).acquire(300, &never), 100);
}

/// Two that evict at once would evict twice for the same bytes, and reach into the region.
#[test]
fn only_one_thread_evicts_at_a_time() {
    struct Crowd {
        inside: AtomicU64,
        was_crowded: AtomicBool,
    }
    impl Evictor for Crowd {
        fn evict(&self, _: u64, _: Option<RddId>) -> u64 {
            self.inside.fetch_add(1, SeqCst);
            for _ in 0..10_000 {
                if self.inside.load(SeqCst) > 1 {
                    self.was_crowded.store(true, SeqCst);
                }
                thread::yield_now();
            }
            self.inside.fetch_sub(1, SeqCst);
            0
        }
    }
    let manager = manager();
    let crowd = Arc::new(Crowd { inside: AtomicU64::new(0), was_crowded: AtomicBool::new(false) });
    let weak: Weak<Crowd> = Arc::downgrade(&crowd);
    manager.set_evictor(weak);
    assert!(manager.acquire_storage(900, None));

    let start = std::sync::Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let task = manager.task(AttemptId(1));
                start.wait();
                task.acquire(90, &never);
                task.acquire(100, &never)
            });
            scope.spawn(|| {
                start.wait();
                manager.acquire_storage(150, None)
            });
        }
    });

    assert!(!crowd.was_crowded.load(SeqCst));
}

/// An evictor that claims more than it did must not hang the task that asked.
#[test]
fn an_evictor_that_frees_nothing_but_says_so_is_given_up() {
    struct Liar;
    impl Evictor for Liar {
        fn evict(&self, bytes: u64, _: Option<RddId>) -> u64 {
            bytes
        }
    }
    let manager = manager();
    let liar = Arc::new(Liar);
    let weak: Weak<Liar> = Arc::downgrade(&liar);
    manager.set_evictor(weak);
    assert!(manager.acquire_storage(900, None));

    assert!(!manager.acquire_storage(200, None));
    assert_eq!(manager.task(AttemptId(1)).acquire(300, &never), 100);
}

/// Behaviours: MEM-002, MEM-004, MEM-006.
#[test]
fn many_threads_never_hold_more_than_the_budget_nor_evict_from_the_region() {
    /// Watches every eviction for execution, which alone names no RDD here.
    struct Watch(Arc<Blocks>, AtomicU64);
    impl Evictor for Watch {
        fn evict(&self, bytes: u64, for_rdd: Option<RddId>) -> u64 {
            let storage = self.0.manager.usage().storage;
            if for_rdd.is_none() && storage < 500 + bytes {
                self.1.fetch_add(1, SeqCst);
            }
            self.0.evict(bytes, for_rdd)
        }
    }
    let manager = manager();
    let blocks = Blocks::new(&manager);
    let watch = Arc::new(Watch(Arc::clone(&blocks), AtomicU64::new(0)));
    let weak: Weak<Watch> = Arc::downgrade(&watch);
    manager.set_evictor(weak);

    thread::scope(|scope| {
        for seed in 0..6 {
            let (manager, blocks) = (&manager, &blocks);
            scope.spawn(move || {
                let mut random = Rng::new(seed);
                for round in 0..60 {
                    let task = manager.task(AttemptId(round));
                    for _ in 0..20 {
                        blocks.put(1, Some(RddId(1)));
                        task.acquire(random.below(400) as u64, &never);
                        let usage = manager.usage();
                        assert!(usage.storage + usage.execution <= usage.budget);
                        task.release(random.below(300) as u64);
                    }
                }
            });
        }
    });

    let left = blocks.held.lock().iter().sum::<u64>();
    assert_eq!(watch.1.load(SeqCst), 0, "evictions reached into the region");
    let usage = MemoryUsage { budget: 1000, storage: left, execution: 0, tasks: 0, waiting: 0, blocked: 0 };
    assert_eq!(manager.usage(), usage);
}

/// One holds the memory and waits for a block; the other computes the block and needs memory. Behaviours: MEM-004.
#[test]
fn a_task_does_not_wait_for_the_memory_of_one_that_waits_for_its_block() {
    let manager = manager();
    let locks = Arc::new(LockTable::new());
    let block = BlockId::Rdd { rdd: RddId(0), partition: PartitionId(0), generation: 0 };
    let [reader, writer] = [1, 2].map(|attempt| LockOwner::Task(AttemptId(attempt)));
    let lock = locks.lock_new_for_writing(block, StorageLevel::MEMORY_ONLY, writer, Wait::Never);
    assert_eq!(lock, Ok(NewLock::Writing));
    let (tell, told) = mpsc::channel();
    let (shared, table) = (manager.clone(), locks.clone());
    thread::spawn(move || {
        let task = shared.task(AttemptId(1));
        assert_eq!(task.acquire(900, &never), 900);
        tell.send(table.lock_for_reading(block, reader, Wait::FOREVER)).unwrap();
    });
    until(|| manager.usage().blocked == 1);

    let computing = asking(&manager, &[300]);

    assert_eq!(computing.recv_timeout(GUARD), Ok(100), "what is free, and at once");
    assert!(locks.downgrade(block, writer));
    assert_eq!(told.recv_timeout(GUARD), Ok(Ok(Some(StorageLevel::MEMORY_ONLY))));
    until(|| manager.usage().tasks == 0);
    assert_eq!((manager.usage().blocked, manager.usage().execution), (0, 0));
}

/// Behaviours: MEM-004.
#[test]
fn a_task_that_waits_for_memory_goes_on_when_the_one_that_has_it_begins_to_wait_for_a_block() {
    let manager = manager();
    let first = manager.task(AttemptId(1));
    assert_eq!(first.acquire(900, &never), 900);
    let second = asking(&manager, &[300]);
    until_one_waits(&manager);

    let waiting_for_a_block = blocked();

    assert_eq!(second.recv_timeout(GUARD), Ok(100));
    drop(waiting_for_a_block);
}

/// Behaviours: MEM-004.
#[test]
fn a_task_waits_as_long_as_another_runs() {
    let manager = manager();
    let first = manager.task(AttemptId(1));
    assert_eq!(first.acquire(900, &never), 900);
    let shared = manager.clone();
    let (tell, told) = mpsc::channel();
    let holder = thread::spawn(move || {
        let task = shared.task(AttemptId(3));
        assert_eq!(task.acquire(100, &never), 100);
        let waiting_for_a_block = blocked();
        tell.send(()).unwrap();
        until(|| shared.usage().blocked == 0 || shared.usage().execution == 100);
        drop((waiting_for_a_block, task));
    });
    told.recv_timeout(GUARD).unwrap();

    let second = asking(&manager, &[300]);
    until_one_waits(&manager);
    assert!(second.try_recv().is_err(), "the first task may give memory back");
    first.release(900);

    assert_eq!(second.recv_timeout(GUARD), Ok(300));
    holder.join().unwrap();
}
