//! What the master knows, answers and orders.

use firesteel_types::{PartitionId, StorageLevel};

use super::*;
use crate::block::PeerId;

const DRIVER: ExecutorId = ExecutorId::DRIVER;

fn exec(number: u32) -> ExecutorId {
    ExecutorId(number)
}

fn rdd_block(rdd: u32, partition: u32) -> BlockId {
    BlockId::Rdd { rdd: RddId(rdd), partition: PartitionId(partition), generation: 0 }
}

fn piece(broadcast: u64) -> BlockId {
    BlockId::Broadcast { id: BroadcastId(broadcast), piece: 0 }
}

fn registration(executor: ExecutorId) -> Registration {
    Registration {
        executor,
        peer: Peer::executor(executor, format!("host-{}", executor.0)),
        max_memory: 1000,
    }
}

/// A master with the driver and executors 1 to 4.
fn master() -> BlockManagerMaster {
    let mut master = BlockManagerMaster::new();
    for executor in [DRIVER, exec(1), exec(2), exec(3), exec(4)] {
        assert_eq!(master.register(registration(executor)), Registered::Accepted);
    }
    master
}

fn stored(id: BlockId, level: StorageLevel, memory_size: u64, disk_size: u64) -> BlockUpdate {
    BlockUpdate { id, level, memory_size, disk_size }
}

fn absent(id: BlockId) -> BlockUpdate {
    stored(id, StorageLevel::NONE, 0, 0)
}

fn hold(master: &mut BlockManagerMaster, id: BlockId, level: StorageLevel, holders: &[u32]) {
    for holder in holders {
        assert_eq!(master.update(exec(*holder), stored(id, level, 100, 0)), Answer::Noted);
    }
}

fn holders(master: &BlockManagerMaster, id: BlockId) -> Vec<ExecutorId> {
    let found = master.locations(&[id]).remove(0);
    let executor = |peer: Peer| match peer.id {
        PeerId::Executor(executor) => executor,
        PeerId::Service(host) => panic!("a service on {host}"),
    };
    found.holders.into_iter().map(executor).collect()
}

#[test]
fn updates_add_change_and_remove_locations() {
    let mut master = master();
    let id = rdd_block(0, 0);
    hold(&mut master, id, StorageLevel::MEMORY_AND_DISK, &[1, 2]);
    master.update(exec(2), stored(id, StorageLevel::DISK_ONLY, 0, 70));

    assert_eq!(holders(&master, id), [exec(1), exec(2)]);
    assert_eq!(master.locations(&[id, rdd_block(0, 1)])[1], Locations::default());
    assert_eq!(master.status(exec(2), id).map(|block| block.disk_size), Some(70));
    assert_eq!(master.locations(&[id])[0].size, 100);
    master.update(exec(1), absent(id));
    assert_eq!(holders(&master, id), [exec(2)]);
    assert_eq!(master.locations(&[id])[0].size, 70);
    master.update(exec(1), absent(id));
    assert_eq!(holders(&master, id), [exec(2)], "absence said twice is absence");
}

#[test]
fn memory_status_is_what_blocks_leave_of_it() {
    let mut master = master();
    master.update(exec(1), stored(rdd_block(0, 0), StorageLevel::MEMORY_ONLY, 300, 0));
    master.update(exec(1), stored(rdd_block(0, 1), StorageLevel::DISK_ONLY, 0, 500));
    master.update(exec(2), stored(rdd_block(0, 2), StorageLevel::MEMORY_ONLY, 1200, 0));

    let status = master.memory_status();

    assert_eq!(status[&exec(1)], MemoryStatus { max: 1000, remaining: 700 });
    assert_eq!(status[&exec(2)], MemoryStatus { max: 1000, remaining: 0 });
    assert_eq!(status.len(), 5);
}

/// Behaviours: BLK-016.
#[test]
fn an_unknown_manager_is_told_to_register() {
    let mut master = master();
    let id = rdd_block(0, 0);

    assert_eq!(master.update(exec(9), stored(id, StorageLevel::MEMORY_ONLY, 1, 0)), Answer::NotRegistered);
    assert_eq!(master.heartbeat(exec(9)), Answer::NotRegistered);
    assert_eq!(master.heartbeat(exec(1)), Answer::Noted);
    assert_eq!(holders(&master, id), []);

    assert_eq!(master.register(registration(exec(9))), Registered::Accepted);
    assert_eq!(master.update(exec(9), stored(id, StorageLevel::MEMORY_ONLY, 1, 0)), Answer::Noted);
    assert_eq!(holders(&master, id), [exec(9)]);
}

/// Behaviours: BLK-016.
#[test]
fn a_lost_executor_may_not_register_again() {
    let mut master = master();
    master.executor_lost(exec(1));

    assert_eq!(master.heartbeat(exec(1)), Answer::NotRegistered);
    assert_eq!(master.register(registration(exec(1))), Registered::Refused);
    assert_eq!(master.heartbeat(exec(1)), Answer::NotRegistered);
}

#[test]
fn registering_again_forgets_what_was_reported_before() {
    let mut master = master();
    hold(&mut master, rdd_block(0, 0), StorageLevel::MEMORY_ONLY, &[1]);

    assert_eq!(master.register(registration(exec(1))), Registered::Accepted);

    assert_eq!(holders(&master, rdd_block(0, 0)), []);
}

/// Behaviours: BLK-014, BLK-020.
#[test]
fn peers_are_neither_oneself_nor_the_driver_nor_decommissioning() {
    let mut master = master();
    master.decommission(exec(3));

    let peers: Vec<_> = master.peers(exec(1)).into_iter().map(|peer| peer.id).collect();

    assert_eq!(peers, [PeerId::Executor(exec(2)), PeerId::Executor(exec(4))]);
}

/// Behaviours: BLK-018.
#[test]
fn losing_an_executor_removes_all_its_locations_at_once() {
    let mut master = master();
    for partition in 0..10 {
        hold(&mut master, rdd_block(0, partition), StorageLevel::MEMORY_ONLY, &[1 + partition % 2]);
    }
    hold(&mut master, piece(0), StorageLevel::MEMORY_AND_DISK_SER, &[1, 2]);

    let orders = master.executor_lost(exec(1));

    assert_eq!(orders, [], "nothing of this was replicated");
    for partition in 0..10 {
        let left: &[_] = if partition % 2 == 0 { &[] } else { &[exec(2)] };
        assert_eq!(holders(&master, rdd_block(0, partition)), left);
    }
    assert_eq!(holders(&master, piece(0)), [exec(2)]);
    assert_eq!(master.executor_lost(exec(1)), []);
}

/// Behaviours: BLK-015.
#[test]
fn a_remaining_holder_is_ordered_to_make_a_new_copy() {
    let mut master = master();
    let level = StorageLevel::DISK_ONLY_3;
    hold(&mut master, rdd_block(0, 0), level, &[1, 2, 3]);
    hold(&mut master, rdd_block(0, 1), level, &[2, 3, 4]);
    hold(&mut master, piece(0), StorageLevel::MEMORY_AND_DISK_SER, &[1, 2]);

    let orders = master.executor_lost(exec(1));

    assert_eq!(orders.len(), 1, "{orders:?}");
    let Replicate { id, by, holders, wanted } = &orders[0];
    assert_eq!((*id, *wanted), (rdd_block(0, 0), 3));
    assert!([exec(2), exec(3)].contains(by));
    let both = [exec(2), exec(3)].map(|executor| registration(executor).peer);
    assert_eq!(holders.as_slice(), both);
}

/// Behaviours: BLK-015.
#[test]
fn nothing_is_ordered_without_a_holder_with_enough_copies_or_when_switched_off() {
    let level = StorageLevel::MEMORY_ONLY_2;
    let mut master = master();
    hold(&mut master, rdd_block(0, 0), level, &[1]);
    hold(&mut master, rdd_block(0, 1), level, &[1, 2, 3]);
    assert_eq!(master.executor_lost(exec(1)), []);

    let mut master = master.without_new_copies();
    assert_eq!(master.executor_lost(exec(2)), []);
    assert_eq!(holders(&master, rdd_block(0, 1)), [exec(3)]);
}

/// Behaviours: BLK-017.
#[test]
fn removing_asks_everybody_and_forgets_only_what_is_meant() {
    let mut master = master();
    hold(&mut master, rdd_block(0, 0), StorageLevel::MEMORY_ONLY, &[1]);
    hold(&mut master, rdd_block(1, 0), StorageLevel::MEMORY_ONLY, &[1, 2]);

    let asked = master.remove_rdd(RddId(1));

    assert_eq!(asked, [exec(1), exec(2), exec(3), exec(4), DRIVER]);
    assert_eq!(holders(&master, rdd_block(1, 0)), []);
    assert_eq!(holders(&master, rdd_block(0, 0)), [exec(1)]);
    assert_eq!(master.remove_shuffle(ShuffleId(0)), asked);
}

/// Behaviours: BLK-017.
#[test]
fn removing_a_broadcast_may_leave_the_copy_of_the_driver() {
    let mut master = master();
    for executor in [DRIVER, exec(1)] {
        master.update(executor, stored(piece(7), StorageLevel::MEMORY_AND_DISK_SER, 5, 0));
    }

    let asked = master.remove_broadcast(BroadcastId(7), DriverCopy::Keep);

    assert_eq!(asked, [exec(1), exec(2), exec(3), exec(4)]);
    assert_eq!(holders(&master, piece(7)), [DRIVER]);
    assert_eq!(master.remove_broadcast(BroadcastId(7), DriverCopy::Remove).len(), 5);
    assert_eq!(holders(&master, piece(7)), []);
}

/// Behaviours: BLK-017.
#[test]
fn failures_of_executors_that_are_gone_are_no_failures() {
    let mut master = master();
    master.executor_lost(exec(2));

    let removal = master.removal([
        (exec(1), Ok(3)),
        (exec(2), Err("broken")),
        (exec(3), Err("broken")),
        (exec(4), Ok(1)),
    ]);

    assert_eq!(removal, Removal { removed: 4, failed: vec![exec(3)] });
}
