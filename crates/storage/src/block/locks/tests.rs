//! Readers, writers, waiters and tasks that end, with real threads.

use std::{
    sync::{
        Barrier,
        atomic::AtomicBool,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
};

use firesteel_types::{PartitionId, RddId};

use super::*;

const ID: BlockId = BlockId::Rdd { rdd: RddId(0), partition: PartitionId(0), generation: 0 };
const LEVEL: StorageLevel = StorageLevel::MEMORY_ONLY;
/// Only guards against a test that hangs.
const GUARD: Duration = Duration::from_secs(60);

fn task(number: u64) -> LockOwner {
    LockOwner::Task(AttemptId(number))
}

/// A table with one block that is not locked.
fn with_block() -> LockTable {
    let table = LockTable::new();
    assert_eq!(table.lock_new_for_writing(ID, LEVEL, task(0), Wait::Never), Ok(NewLock::Writing));
    assert!(table.unlock(ID, task(0)));
    table
}

fn try_read(table: &LockTable, owner: LockOwner) -> Result<Option<StorageLevel>, LockError> {
    table.lock_for_reading(ID, owner, Wait::Never)
}

fn try_write(table: &LockTable, owner: LockOwner) -> Result<Option<StorageLevel>, LockError> {
    table.lock_for_writing(ID, owner, Wait::Never)
}

const BUSY: Result<Option<StorageLevel>, LockError> = Err(LockError::Busy { id: ID });

/// Runs `waiter` in a thread, waits until it sleeps on the block, runs `then`, and gives what the waiter got.
fn wait_then<T: Send>(waiter: impl FnOnce(Wait<'_>) -> T + Send, then: impl FnOnce()) -> T {
    let (asked, ask) = mpsc::channel();
    thread::scope(|scope| {
        let waiter = scope.spawn(move || waiter(Wait::UnlessCancelled(&|| asked.send(()).is_err())));
        // A thread that checks for cancellation has waited, and will wait again unless something changes.
        ask.recv_timeout(GUARD).expect("the lock is not free");
        then();
        // Drained until the waiter is done: it asks again after each nap.
        while ask.recv_timeout(GUARD) != Err(RecvTimeoutError::Disconnected) {}
        waiter.join().unwrap()
    })
}

/// Behaviours: BLK-003.
#[test]
fn many_tasks_read_at_once_and_one_task_many_times() {
    let table = with_block();

    for owner in [task(1), task(1), task(2)] {
        assert_eq!(try_read(&table, owner), Ok(Some(LEVEL)));
    }

    assert_eq!(try_write(&table, task(3)), BUSY);
    assert!(table.unlock(ID, task(1)));
    assert!(table.unlock(ID, task(2)));
    assert_eq!(try_write(&table, task(3)), BUSY, "task 1 reads it a second time");
    assert!(table.unlock(ID, task(1)));
    assert_eq!(try_write(&table, task(3)), Ok(Some(LEVEL)));
}

/// Behaviours: BLK-003.
#[test]
fn a_writer_shuts_out_all_others_and_may_not_lock_twice() {
    let table = with_block();
    assert_eq!(try_write(&table, task(1)), Ok(Some(LEVEL)));

    assert_eq!(try_read(&table, task(2)), BUSY);
    assert_eq!(try_write(&table, task(2)), BUSY);
    let own = Err(LockError::OwnLock { id: ID, owner: task(1) });
    assert_eq!(try_write(&table, task(1)), own);
    assert_eq!(table.lock_for_reading(ID, task(1), Wait::FOREVER), own);
}

#[test]
fn a_reader_that_would_wait_for_itself_is_told() {
    let table = with_block();
    assert_eq!(try_read(&table, task(1)), Ok(Some(LEVEL)));

    let got = table.lock_for_writing(ID, task(1), Wait::FOREVER);

    assert_eq!(got, Err(LockError::OwnLock { id: ID, owner: task(1) }));
}

/// Behaviours: BLK-003.
#[test]
fn a_writer_becomes_a_reader_and_lets_readers_in() {
    let table = with_block();
    assert_eq!(try_write(&table, task(1)), Ok(Some(LEVEL)));

    assert!(table.downgrade(ID, task(1)));

    assert_eq!(try_read(&table, task(2)), Ok(Some(LEVEL)));
    assert_eq!(try_write(&table, task(3)), BUSY);
    assert!(!table.downgrade(ID, task(1)), "it writes no more");
    assert!(table.unlock(ID, task(1)) && table.unlock(ID, task(2)));
    assert_eq!(try_write(&table, task(3)), Ok(Some(LEVEL)));
}

/// Behaviours: BLK-003.
#[test]
fn readers_wait_for_the_writer_and_writers_for_readers() {
    let table = with_block();
    assert_eq!(try_write(&table, task(1)), Ok(Some(LEVEL)));
    let read =
        wait_then(|wait| table.lock_for_reading(ID, task(2), wait), || assert!(table.unlock(ID, task(1))));
    assert_eq!(read, Ok(Some(LEVEL)));

    let written =
        wait_then(|wait| table.lock_for_writing(ID, task(3), wait), || assert!(table.unlock(ID, task(2))));
    assert_eq!(written, Ok(Some(LEVEL)));
}

/// Behaviours: BLK-003.
#[test]
fn those_who_wait_for_a_block_that_is_removed_find_it_absent() {
    let table = with_block();
    for lock in [LockTable::lock_for_reading, LockTable::lock_for_writing] {
        assert_eq!(
            table.lock_new_for_writing(ID, LEVEL, task(9), Wait::Never).map(drop),
            Ok(()),
            "there or made again"
        );
        table.release_all(task(9));
        assert_eq!(try_write(&table, task(1)), Ok(Some(LEVEL)));

        let got = wait_then(|wait| lock(&table, ID, task(2), wait), || assert!(table.remove(ID, task(1))));

        assert_eq!(got, Ok(None));
    }
}

/// Behaviours: BLK-004.
#[test]
fn the_second_creator_reads_what_the_first_stored() {
    let table = LockTable::new();
    assert_eq!(table.lock_new_for_writing(ID, LEVEL, task(1), Wait::Never), Ok(NewLock::Writing));

    let got = wait_then(
        |wait| table.lock_new_for_writing(ID, StorageLevel::DISK_ONLY, task(2), wait),
        || assert!(table.downgrade(ID, task(1))),
    );

    assert_eq!(got, Ok(NewLock::Reading(LEVEL)), "at the level of the first");
    assert!(table.unlock(ID, task(2)));
}

/// Behaviours: BLK-004.
#[test]
fn the_second_creator_takes_over_when_the_first_gives_up() {
    let table = LockTable::new();
    assert_eq!(table.lock_new_for_writing(ID, LEVEL, task(1), Wait::Never), Ok(NewLock::Writing));

    let got = wait_then(
        |wait| table.lock_new_for_writing(ID, LEVEL, task(2), wait),
        || assert!(table.remove(ID, task(1))),
    );

    assert_eq!(got, Ok(NewLock::Writing));
    assert_eq!(try_read(&table, task(1)), BUSY);
}

/// Behaviours: BLK-004.
#[test]
fn removing_needs_the_write_lock() {
    let table = with_block();
    assert!(!table.remove(ID, task(1)));
    assert_eq!(try_read(&table, task(1)), Ok(Some(LEVEL)));
    assert!(!table.remove(ID, task(1)));
    assert!(table.unlock(ID, task(1)));
    assert_eq!(try_write(&table, task(1)), Ok(Some(LEVEL)));
    assert!(!table.remove(ID, task(2)));

    assert!(table.remove(ID, task(1)));

    assert_eq!(try_read(&table, task(1)), Ok(None));
    assert_eq!(table.ids(|_| true), []);
}

/// Behaviours: BLK-004.
#[test]
fn the_end_of_a_task_releases_all_its_locks_and_no_others() {
    let table = with_block();
    let other = BlockId::Rdd { rdd: RddId(0), partition: PartitionId(1), generation: 0 };
    assert_eq!(table.lock_new_for_writing(other, LEVEL, task(1), Wait::Never), Ok(NewLock::Writing));
    for owner in [task(1), task(1), task(2)] {
        assert_eq!(try_read(&table, owner), Ok(Some(LEVEL)));
    }

    assert_eq!(table.release_all(task(1)), [ID, other]);

    assert_eq!(table.release_all(task(1)), []);
    assert_eq!(table.lock_for_writing(other, task(3), Wait::Never), Ok(Some(LEVEL)));
    assert_eq!(try_write(&table, task(3)), BUSY, "task 2 reads on");
}

/// Behaviours: BLK-004.
#[test]
fn unlocking_while_the_task_ends_releases_each_lock_once() {
    for _ in 0..200 {
        let table = with_block();
        for _ in 0..4 {
            assert_eq!(try_read(&table, task(1)), Ok(Some(LEVEL)));
        }
        let start = Barrier::new(3);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    start.wait();
                    table.unlock(ID, task(1));
                });
            }
            start.wait();
            table.release_all(task(1));
        });

        assert!(!table.unlock(ID, task(1)), "nothing is left");
        assert_eq!(try_write(&table, task(2)), Ok(Some(LEVEL)));
    }
}

#[test]
fn a_waiter_that_is_cancelled_leaves_no_lock() {
    let table = with_block();
    assert_eq!(try_write(&table, task(1)), Ok(Some(LEVEL)));
    let cancelled = AtomicBool::new(false);
    let is_cancelled = || cancelled.swap(true, Ordering::SeqCst);

    let got = table.lock_for_reading(ID, task(2), Wait::UnlessCancelled(&is_cancelled));

    assert_eq!(got, Err(LockError::Cancelled { id: ID }));
    assert_eq!(table.release_all(task(2)), []);
}

#[test]
fn one_of_many_creators_writes_and_the_others_read() {
    for _ in 0..50 {
        let table = LockTable::new();
        let start = Barrier::new(4);
        let writers = AtomicU64::new(0);
        thread::scope(|scope| {
            for number in 0..4 {
                let (table, start, writers) = (&table, &start, &writers);
                scope.spawn(move || {
                    start.wait();
                    match table.lock_new_for_writing(ID, LEVEL, task(number), Wait::FOREVER) {
                        Ok(NewLock::Writing) => {
                            writers.fetch_add(1, Ordering::SeqCst);
                            assert!(table.downgrade(ID, task(number)));
                        }
                        Ok(NewLock::Reading(level)) => assert_eq!(level, LEVEL),
                        Err(error) => panic!("{error}"),
                    }
                    assert!(table.unlock(ID, task(number)));
                });
            }
        });

        assert_eq!(writers.into_inner(), 1);
        assert_eq!(try_write(&table, task(9)), Ok(Some(LEVEL)));
    }
}
