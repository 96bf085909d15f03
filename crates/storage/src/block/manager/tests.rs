//! One block manager: putting, evicting, computing, removing and registering.

mod contention;
mod copies;
mod remote;

use std::{
    fs,
    sync::{Barrier, atomic::AtomicU32},
    thread,
};

use bytes::Bytes;
use firesteel_types::AttemptId;

use super::*;
use crate::block::{
    NewBlock,
    testing::{Cluster, piece, rdd_block, read, read_local, typed},
};

const MEMORY_ONLY: StorageLevel = StorageLevel::MEMORY_ONLY;
const MEMORY_AND_DISK: StorageLevel = StorageLevel::MEMORY_AND_DISK;

fn task(number: u64) -> LockOwner {
    LockOwner::Task(AttemptId(number))
}

/// Puts a block of so many bytes.
fn put(manager: &BlockManager, id: BlockId, size: usize, level: StorageLevel) -> Put {
    put_new(manager, id, typed(1, size), level).unwrap()
}

fn put_new(
    manager: &BlockManager,
    id: BlockId,
    new: NewBlock,
    level: StorageLevel,
) -> Result<Put, BlockError> {
    manager.put(id, new, level, LockOwner::unique(), Wait::FOREVER)
}

#[test]
fn every_level_keeps_a_block_where_it_says() {
    let cluster = Cluster::of(1, 1000);
    let manager = cluster.manager(0);
    let levels = StorageLevel::NAMED.iter().filter(|(_, level)| level.is_valid());
    for (number, (name, level)) in (0..).zip(levels) {
        for (id, new) in [
            (rdd_block(0, number), typed(7, 10)),
            (rdd_block(1, number), NewBlock::Bytes(Bytes::from(vec![7; 10]))),
        ] {
            assert_eq!(put_new(manager, id, new, *level).unwrap(), Put::Stored, "{name}");

            let BlockUpdate { level: now, memory_size, disk_size, .. } = manager.status(id);
            let in_memory = if level.memory { 10 } else { 0 };
            assert_eq!((memory_size, disk_size), (in_memory, 10 - in_memory), "{name}");
            assert_eq!((now.memory, now.disk), (level.memory, !level.memory), "{name}");
            assert_eq!(read_local(manager, id).unwrap(), [7; 10], "{name}");
            assert_eq!(cluster.holders(id), [0], "{name}");
        }
    }
}

#[test]
fn a_level_that_stores_nothing_is_refused() {
    let cluster = Cluster::of(1, 100);

    for level in [StorageLevel::NONE, MEMORY_ONLY.replicated(0), MEMORY_ONLY.replicated(40)] {
        let error = put_new(cluster.manager(0), rdd_block(0, 0), typed(1, 1), level).unwrap_err();
        assert!(matches!(error, BlockError::InvalidLevel { .. }), "{error}");
    }
    assert_eq!(cluster.manager(0).locks().ids(|_| true), []);
}

/// Behaviours: BLK-002.
#[test]
fn a_block_that_exists_keeps_its_content() {
    let cluster = Cluster::of(1, 100);
    let manager = cluster.manager(0);
    assert_eq!(put_new(manager, rdd_block(0, 0), typed(1, 5), MEMORY_ONLY).unwrap(), Put::Stored);

    let second = put_new(manager, rdd_block(0, 0), typed(2, 9), StorageLevel::DISK_ONLY).unwrap();

    assert_eq!(second, Put::Exists);
    assert_eq!(read_local(manager, rdd_block(0, 0)).unwrap(), [1; 5]);
    assert_eq!((cluster.nodes[0].budget.used(), cluster.nodes[0].files()), (5, 0));
}

/// Behaviours: BLK-002.
#[test]
fn a_put_that_fails_leaves_no_trace() {
    let cluster = Cluster::of(1, 100);
    let manager = cluster.manager(0);
    let broken = || NewBlock::Typed {
        value: Arc::new(5_u8),
        size: 5,
        save: Save::serialize(|_, out| {
            out.write_all(b"some of it")?;
            Err(io::Error::other("and no more"))
        }),
    };

    for level in [StorageLevel::DISK_ONLY, StorageLevel::MEMORY_ONLY_SER] {
        assert!(put_new(manager, rdd_block(0, 0), broken(), level).is_err());

        assert_eq!(manager.locks().ids(|_| true), []);
        assert_eq!(read(manager, rdd_block(0, 0)), None);
        assert_eq!(cluster.holders(rdd_block(0, 0)), []);
        assert_eq!((cluster.nodes[0].budget.used(), cluster.nodes[0].files()), (0, 0));
    }
    assert_eq!(put(manager, rdd_block(0, 0), 5, MEMORY_ONLY), Put::Stored);
}

/// Behaviours: BLK-007.
#[test]
fn an_evicted_block_goes_to_disk_if_its_level_allows_and_the_master_is_told() {
    let cluster = Cluster::of(1, 30);
    let (manager, node) = (cluster.manager(0), &cluster.nodes[0]);
    put(manager, rdd_block(0, 0), 10, MEMORY_AND_DISK);
    put(manager, rdd_block(0, 1), 10, StorageLevel::MEMORY_AND_DISK_SER);
    put(manager, rdd_block(0, 2), 10, MEMORY_ONLY);

    assert_eq!(put(manager, rdd_block(1, 0), 30, MEMORY_ONLY), Put::Stored);

    assert_eq!((node.budget.used(), node.files()), (30, 2));
    for partition in [0, 1] {
        let id = rdd_block(0, partition);
        let known = cluster.master.lock().status(ExecutorId(0), id).unwrap();
        assert_eq!((known.memory_size, known.disk_size), (0, 10));
        assert_eq!(known.level, StorageLevel::DISK_ONLY);
        assert_eq!(read_local(manager, id).unwrap(), [1; 10]);
    }
    assert_eq!(cluster.holders(rdd_block(0, 2)), []);
    assert_eq!(read(manager, rdd_block(0, 2)), None);
}

/// Behaviours: BLK-007.
#[test]
fn a_block_larger_than_all_memory_goes_to_disk_or_nowhere_and_evicts_nothing() {
    let cluster = Cluster::of(1, 30);
    let manager = cluster.manager(0);
    put(manager, rdd_block(0, 0), 10, MEMORY_ONLY);

    assert_eq!(put(manager, rdd_block(1, 0), 31, MEMORY_ONLY), Put::NotKept);
    assert_eq!(put(manager, rdd_block(1, 1), 31, MEMORY_AND_DISK), Put::Stored);

    assert_eq!(manager.status(rdd_block(0, 0)).memory_size, 10);
    assert_eq!(manager.status(rdd_block(1, 1)).disk_size, 31);
    assert_eq!(manager.locks().ids(|_| true), [rdd_block(0, 0), rdd_block(1, 1)]);
    assert_eq!(cluster.holders(rdd_block(1, 0)), []);
}

/// Behaviours: BLK-006.
#[test]
fn the_example_with_room_for_two_blocks() {
    let cluster = Cluster::of(1, 20);
    let manager = cluster.manager(0);
    put(manager, rdd_block(0, 1), 10, MEMORY_ONLY);
    put(manager, rdd_block(0, 2), 10, MEMORY_ONLY);

    assert_eq!(put(manager, rdd_block(1, 1), 10, MEMORY_ONLY), Put::Stored);
    assert!(read_local(manager, rdd_block(0, 2)).is_some());
    assert_eq!(put(manager, rdd_block(0, 3), 10, MEMORY_ONLY), Put::Stored);
    assert_eq!(put(manager, rdd_block(0, 4), 10, MEMORY_ONLY), Put::NotKept);

    assert_eq!(manager.locks().ids(|_| true), [rdd_block(0, 2), rdd_block(0, 3)]);
}

#[test]
fn a_block_that_is_read_is_not_evicted_until_the_read_ends() {
    let cluster = Cluster::of(1, 10);
    let manager = cluster.manager(0);
    put(manager, rdd_block(0, 0), 10, MEMORY_ONLY);
    let reading = manager.get_local(rdd_block(0, 0), task(1), Wait::Never).unwrap().unwrap();

    assert_eq!(put(manager, rdd_block(1, 0), 10, MEMORY_ONLY), Put::NotKept);
    drop(reading);

    assert_eq!(put(manager, rdd_block(1, 0), 10, MEMORY_ONLY), Put::Stored);
}

#[test]
fn an_evicted_value_with_a_place_of_its_own_goes_there_and_is_no_block_any_more() {
    let cluster = Cluster::of(1, 10);
    let manager = cluster.manager(0);
    let saved = Arc::new(AtomicU32::new(0));
    let map_output = |map| {
        let saved = saved.clone();
        let save = Save::elsewhere(move |value| {
            saved.fetch_add(*value.downcast_ref::<u32>().unwrap(), Ordering::Relaxed);
            Ok(())
        });
        let id = BlockId::Shuffle {
            shuffle: ShuffleId(0),
            map: firesteel_types::PartitionId(map),
            reduce: firesteel_types::PartitionId(0),
        };
        (id, NewBlock::Typed { value: Arc::new(100 + map), size: 10, save })
    };
    let ((first, value), (second, _)) = (map_output(0), map_output(1));
    assert_eq!(put_new(manager, first, value, MEMORY_AND_DISK).unwrap(), Put::Stored);

    put(manager, rdd_block(0, 0), 10, MEMORY_ONLY);
    assert_eq!(saved.load(Ordering::Relaxed), 100);
    let reading = manager.get_local(rdd_block(0, 0), task(1), Wait::Never).unwrap();
    let stored = put_new(manager, second, map_output(1).1, MEMORY_AND_DISK).unwrap();

    assert_eq!((stored, saved.load(Ordering::Relaxed)), (Put::Stored, 201), "without room it goes at once");
    assert_eq!(manager.locks().ids(|_| true), [rdd_block(0, 0)]);
    assert_eq!(cluster.nodes[0].files(), 0);
    drop(reading);
}

#[test]
fn what_was_evicted_comes_back_to_memory_when_read() {
    let cluster = Cluster::of(1, 10);
    let (manager, node) = (cluster.manager(0), &cluster.nodes[0]);
    let (bytes, value) = (rdd_block(0, 0), rdd_block(0, 1));
    put(manager, bytes, 10, StorageLevel::MEMORY_AND_DISK_SER);
    manager.memory_store().evict(10, None);
    put(manager, value, 10, MEMORY_AND_DISK);
    manager.memory_store().evict(10, None);

    assert!(read_local(manager, bytes).is_some());
    let BlockUpdate { memory_size, disk_size, .. } = manager.status(bytes);
    assert_eq!((memory_size, disk_size, node.budget.used()), (10, 10, 10));
    assert_eq!(cluster.master.lock().status(ExecutorId(0), bytes), Some(manager.status(bytes)));
    manager.memory_store().evict(10, None);
    let read = manager.get_local(value, task(1), Wait::Never).unwrap().unwrap();
    assert_eq!(*read.source(), Source::Disk);

    let unroll = manager.unroll_again(&read).unwrap();
    assert!(manager.unroll_again(&read).is_none(), "there is no more room");
    let (_, lock) = read.into_parts();
    let lock = lock.unwrap();
    let again = |reserved| manager.cache_again(&lock, Arc::new(vec![1_u8; 10]), Save::Never, reserved);
    assert!(again(unroll.finish(10).unwrap()));
    let nothing = manager.memory_store().reserve(0, None).unwrap();
    assert!(!again(nothing), "it is there");
    drop(lock);

    let again = manager.get_local(value, task(1), Wait::Never).unwrap().unwrap();
    assert_eq!((again.source(), again.size(), node.budget.used()), (&Source::Memory, 10, 10));
}

/// Behaviours: BLK-005.
#[test]
fn a_block_comes_back_in_the_place_of_another_rdds_and_never_of_its_own() {
    let cluster = Cluster::of(1, 20);
    let manager = cluster.manager(0);
    let evicted = rdd_block(0, 0);
    put(manager, evicted, 10, MEMORY_AND_DISK);
    manager.memory_store().evict(10, None);
    put(manager, rdd_block(0, 1), 10, MEMORY_AND_DISK);
    put(manager, rdd_block(0, 2), 10, MEMORY_AND_DISK);
    let read = || manager.get_local(evicted, task(1), Wait::Never).unwrap().unwrap();
    assert!(manager.unroll_again(&read()).is_none(), "its own RDD has all memory");
    assert!([1, 2].iter().all(|part| manager.status(rdd_block(0, *part)).memory_size == 10));

    manager.remove(rdd_block(0, 1), Wait::Never).unwrap();
    put(manager, rdd_block(7, 0), 10, MEMORY_AND_DISK);
    assert!(manager.unroll_again(&read()).is_some());

    assert_eq!(manager.status(rdd_block(7, 0)).memory_size, 0, "evicted");
    assert_eq!(manager.status(rdd_block(0, 2)).memory_size, 10);
}

/// Behaviours: BLK-009.
#[test]
fn a_lost_file_fails_the_read_and_the_next_try_computes_the_block() {
    let cluster = Cluster::of(1, 100);
    let (manager, node) = (cluster.manager(0), &cluster.nodes[0]);
    let id = rdd_block(0, 0);
    put(manager, id, 10, StorageLevel::DISK_ONLY);
    fs::remove_file(node.folder.path().join("rdd_0_0")).unwrap();
    let get = || {
        manager.get_or_else::<BlockError>(id, StorageLevel::DISK_ONLY, task(1), Wait::FOREVER, || {
            Ok(typed(9, 3))
        })
    };

    let error = get().unwrap_err();
    assert!(matches!(error, BlockError::Disk(DiskError::Lost { .. })), "{error}");
    assert_eq!(cluster.holders(id), []);
    drop(get().unwrap());

    assert_eq!(read_local(manager, id).unwrap(), [9; 3]);
    assert_eq!(cluster.holders(id), [0]);
}

/// Behaviours: BLK-010.
#[test]
fn an_absent_block_is_computed_once_while_others_wait() {
    const TASKS: usize = 4;
    let cluster = Cluster::of(1, 100);
    let manager = cluster.manager(0);
    let (start, computed) = (Barrier::new(TASKS), AtomicU32::new(0));
    thread::scope(|scope| {
        for number in 0..TASKS as u64 {
            let (start, computed) = (&start, &computed);
            scope.spawn(move || {
                start.wait();
                let compute = || {
                    computed.fetch_add(1, Ordering::SeqCst);
                    Ok(typed(3, 10))
                };
                let got = manager.get_or_else::<BlockError>(
                    rdd_block(0, 0),
                    MEMORY_ONLY,
                    task(number),
                    Wait::FOREVER,
                    compute,
                );
                let Ok(Outcome::Kept(read)) = got else { panic!("{got:?}") };
                assert_eq!(*read.data().typed::<Vec<u8>>().unwrap(), [3; 10]);
            });
        }
    });

    assert_eq!(computed.into_inner(), 1);
}

/// Behaviours: BLK-019.
#[test]
fn what_does_not_fit_is_computed_each_time_and_the_rest_stays() {
    let cluster = Cluster::of(1, 25);
    let manager = cluster.manager(0);
    let mut computed = Vec::new();
    for _ in 0..3 {
        for partition in 0..4 {
            let compute = || {
                computed.push(partition);
                Ok(typed(partition as u8, 10))
            };
            let got = manager.get_or_else::<BlockError>(
                rdd_block(0, partition),
                MEMORY_ONLY,
                task(1),
                Wait::FOREVER,
                compute,
            );
            let data = match got.unwrap() {
                Outcome::Kept(read) => read.into_parts().0,
                Outcome::NotKept(NewBlock::Typed { value, .. }) => crate::block::BlockData::Typed(value),
                other => panic!("{other:?}"),
            };
            assert_eq!(*data.typed::<Vec<u8>>().unwrap(), [partition as u8; 10]);
        }
    }

    assert_eq!(computed, [0, 1, 2, 3, 2, 3, 2, 3]);
}

/// Behaviours: BLK-019.
#[test]
fn a_computation_that_fails_or_panics_leaves_nothing_and_the_next_succeeds() {
    let cluster = Cluster::of(1, 100);
    let manager = cluster.manager(0);
    let id = rdd_block(0, 0);
    let get = |compute: &dyn Fn() -> Result<NewBlock, BlockError>| {
        manager.get_or_else(id, MEMORY_ONLY, task(1), Wait::Never, compute)
    };

    let failed =
        get(&|| Err(BlockError::NotSerializable { id, source: io::Error::other("a failing function") }));
    assert!(failed.is_err());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| get(&|| panic!("as it should"))));
    assert!(panicked.is_err());
    assert_eq!(manager.locks().ids(|_| true), []);
    assert_eq!(cluster.holders(id), []);

    assert!(matches!(get(&|| Ok(typed(1, 1))), Ok(Outcome::Kept(_))));
}

/// Behaviours: BLK-008.
#[test]
fn rows_that_outgrow_memory_go_to_disk_or_back_to_the_caller_and_memory_is_returned() {
    let mib = 1024 * 1024;
    let cluster = Cluster::of(1, 2 * mib);
    let (manager, node) = (cluster.manager(0), &cluster.nodes[0]);
    let lease = |partition, level| {
        let lookup = manager.lookup(rdd_block(0, partition), level, task(1), Wait::Never).unwrap();
        let Lookup::Compute(lease) = lookup else { panic!("no process has it") };
        lease
    };

    let fits = lease(0, MEMORY_ONLY);
    let reserved = fits.unroll().unwrap().finish(10).unwrap();
    assert!(matches!(fits.store_unrolled(typed(1, 10), reserved), Ok(Outcome::Kept(_))));
    assert_eq!((manager.status(rdd_block(0, 0)).memory_size, node.budget.used()), (10, 10));
    let bytes = lease(4, StorageLevel::MEMORY_ONLY_SER);
    let reserved = bytes.unroll().unwrap().finish(7).unwrap();
    let kept = bytes.store_unrolled(NewBlock::Bytes(Bytes::from_static(b"7 bytes")), reserved);
    assert!(matches!(kept, Ok(Outcome::Kept(_))));
    drop(kept);
    assert_eq!(node.budget.used(), 17, "reserved once");
    manager.remove(rdd_block(0, 4), Wait::Never).unwrap();

    for (partition, level) in [(1, MEMORY_ONLY), (2, MEMORY_AND_DISK)] {
        let lease = lease(partition, level);
        let mut unroll = lease.unroll().unwrap();
        assert!(!unroll.check(2 * mib));
        drop(unroll);
        let stored = lease.store_on_disk(&|out| out.write_all(b"all rows")).unwrap();
        assert_eq!(stored.is_some(), level.disk);
    }

    assert_eq!(node.budget.used(), 10);
    assert_eq!(manager.locks().ids(|_| true), [rdd_block(0, 0), rdd_block(0, 2)]);
    assert_eq!(read_local(manager, rdd_block(0, 2)).unwrap(), b"all rows");
    assert!(lease(3, StorageLevel::DISK_ONLY).unroll().is_none(), "no memory is wanted");
}

/// Behaviours: BLK-018.
#[test]
fn removing_takes_one_rdd_shuffle_or_broadcast_and_nothing_else() {
    let cluster = Cluster::of(1, 1000);
    let (manager, node) = (cluster.manager(0), &cluster.nodes[0]);
    for id in [rdd_block(0, 0), rdd_block(0, 1), rdd_block(1, 0), piece(0, 0), piece(0, 1), piece(1, 0)] {
        put(manager, id, 10, MEMORY_AND_DISK);
    }
    put(manager, rdd_block(1, 1), 10, StorageLevel::DISK_ONLY);
    put(manager, BlockId::BroadcastValue(BroadcastId(0)), 10, MEMORY_ONLY);

    assert_eq!(manager.remove_rdd(RddId(1), Wait::FOREVER), Ok(2));
    assert_eq!(manager.remove_broadcast(BroadcastId(0), Wait::FOREVER), Ok(3));
    assert_eq!(manager.remove_shuffle(ShuffleId(0), Wait::FOREVER), Ok(0));
    assert_eq!(manager.remove(rdd_block(0, 1), Wait::FOREVER), Ok(true));
    assert_eq!(manager.remove(rdd_block(0, 1), Wait::FOREVER), Ok(false));

    assert_eq!(manager.locks().ids(|_| true), [rdd_block(0, 0), piece(1, 0)]);
    assert_eq!((node.budget.used(), node.files()), (20, 0));
    assert_eq!((cluster.holders(rdd_block(1, 0)), cluster.holders(piece(1, 0))), (vec![], vec![0]));
    assert_eq!(put(manager, rdd_block(1, 0), 5, MEMORY_ONLY), Put::Stored, "computed again");
}

#[test]
fn removing_waits_for_readers_unless_cancelled() {
    let cluster = Cluster::of(1, 1000);
    let manager = cluster.manager(0);
    put(manager, rdd_block(0, 0), 10, MEMORY_ONLY);
    let reading = manager.get_local(rdd_block(0, 0), task(1), Wait::Never).unwrap();

    let cancelled = manager.remove_rdd(RddId(0), Wait::UnlessCancelled(&|| true));
    assert_eq!(cancelled, Err(LockError::Cancelled { id: rdd_block(0, 0) }));
    assert_eq!(manager.release_all(task(1)), [rdd_block(0, 0)]);
    drop(reading);

    assert_eq!(manager.remove_rdd(RddId(0), Wait::Never), Ok(1));
}

/// Behaviours: BLK-016.
#[test]
fn a_manager_the_master_does_not_know_registers_again_and_reports_all_blocks() {
    let cluster = Cluster::of(1, 1000);
    let manager = cluster.manager(0);
    put(manager, rdd_block(0, 0), 10, MEMORY_ONLY);
    put(manager, piece(0, 0), 10, StorageLevel::DISK_ONLY);
    *cluster.master.lock() = crate::block::BlockManagerMaster::new();

    let answer = cluster.master.lock().heartbeat(ExecutorId(0));
    manager.on_answer(answer);
    assert_eq!((cluster.holders(rdd_block(0, 0)), cluster.holders(piece(0, 0))), (vec![0], vec![0]));
    assert_eq!(cluster.master.lock().memory_status()[&ExecutorId(0)].remaining, 990);

    *cluster.master.lock() = crate::block::BlockManagerMaster::new();
    put(manager, rdd_block(0, 1), 10, MEMORY_ONLY);
    for id in [rdd_block(0, 0), rdd_block(0, 1), piece(0, 0)] {
        assert_eq!(cluster.holders(id), [0], "{id}");
    }
}

/// Behaviours: BLK-016.
#[test]
fn a_manager_that_counts_as_lost_is_refused_and_knows_it() {
    let cluster = Cluster::of(1, 1000);
    let manager = cluster.manager(0);
    cluster.master.lock().executor_lost(ExecutorId(0));
    assert!(!manager.is_refused());

    put(manager, rdd_block(0, 0), 10, MEMORY_ONLY);

    assert!(manager.is_refused());
    assert_eq!(manager.register(), Registered::Refused);
    assert_eq!(cluster.holders(rdd_block(0, 0)), []);
    assert_eq!(crate::block::EXIT_CODE_REFUSED, 58);
}

/// Behaviours: BLK-020.
#[test]
fn a_decommissioning_manager_takes_no_partitions_and_map_outputs_but_broadcast_pieces() {
    let cluster = Cluster::of(1, 1000);
    let manager = cluster.manager(0);
    let zero = firesteel_types::PartitionId(0);
    let map_output = BlockId::Shuffle { shuffle: ShuffleId(0), map: zero, reduce: zero };
    put(manager, rdd_block(0, 0), 10, MEMORY_ONLY);

    manager.decommission();

    for id in [rdd_block(0, 1), map_output] {
        assert_eq!(put(manager, id, 10, MEMORY_ONLY), Put::NotKept);
        let error = manager.receive(id, MEMORY_ONLY, 3, &mut &b"abc"[..]).unwrap_err();
        assert!(matches!(error, BlockError::Decommissioning { .. }), "{error}");
    }
    assert_eq!(put(manager, piece(0, 0), 10, MEMORY_ONLY), Put::Stored);
    assert_eq!(manager.receive(piece(0, 1), MEMORY_ONLY, 3, &mut &b"abc"[..]).unwrap(), Put::Stored);
    assert_eq!(manager.locks().ids(|_| true), [rdd_block(0, 0), piece(0, 0), piece(0, 1)]);
}
