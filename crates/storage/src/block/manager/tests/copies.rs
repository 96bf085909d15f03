//! Copies on other executors, and moving blocks away.

use super::*;
use crate::block::{Peer, PeerId};

const TWICE: StorageLevel = StorageLevel::MEMORY_AND_DISK_2;

fn executor(number: u32) -> PeerId {
    PeerId::Executor(ExecutorId(number))
}

/// Behaviours: BLK-014.
#[test]
fn every_replicated_level_puts_copies_on_other_executors() {
    let cluster = Cluster::of(4, 10_000);
    for (number, (name, level)) in (0..).zip(StorageLevel::NAMED.iter().filter(|(_, level)| level.is_valid()))
    {
        let id = rdd_block(0, number);

        put(cluster.manager(0), id, 10, *level);

        let holders = cluster.holders(id);
        assert_eq!(holders.len(), usize::from(level.replication), "{name}: {holders:?}");
        assert_eq!(holders[0], 0, "{name}");
        for holder in holders {
            let manager = cluster.manager(holder as usize);
            assert_eq!(read_local(manager, id).unwrap(), [1; 10], "{name}");
            assert_eq!(manager.locks().level(id), Some(*level), "{name}");
        }
    }
}

/// Behaviours: BLK-014.
#[test]
fn copies_avoid_the_driver_and_who_decommissions() {
    let mut cluster = Cluster::of(3, 10_000);
    cluster.add(Peer::executor(ExecutorId::DRIVER, "driver"), 10_000);
    cluster.master.lock().decommission(ExecutorId(1));

    for partition in 0..20 {
        put(cluster.manager(0), rdd_block(0, partition), 10, TWICE);
        assert_eq!(cluster.holders(rdd_block(0, partition)), [0, 2]);
    }
}

/// Behaviours: BLK-014.
#[test]
fn the_choice_of_peers_is_reproducible_from_the_block() {
    let choices = || -> Vec<_> {
        let cluster = Cluster::of(6, 10_000);
        let put_one = |partition| {
            put(cluster.manager(0), rdd_block(0, partition), 10, StorageLevel::DISK_ONLY_3);
            cluster.holders(rdd_block(0, partition))
        };
        (0..20).map(put_one).collect()
    };

    assert_eq!(choices(), choices());
}

/// Behaviours: BLK-014.
#[test]
fn one_peer_may_fail_and_a_second_failure_ends_it_with_a_warning() {
    let cluster = Cluster::of(5, 10_000);
    let id = rdd_block(0, 0);
    for number in 1..5 {
        cluster.network.break_off(number);
    }
    assert_eq!(put(cluster.manager(0), id, 10, TWICE), Put::Stored);
    assert_eq!(cluster.network.uploaded.lock().len(), 2, "one failure is tolerated, not two");
    assert_eq!(cluster.holders(id), [0]);

    let chosen_first = cluster.network.uploaded.lock()[0].0.clone();
    cluster.manager(0).remove(id, Wait::FOREVER).unwrap();
    *cluster.network.broken.lock() = [chosen_first.clone()].into();
    cluster.network.uploaded.lock().clear();
    put(cluster.manager(0), id, 10, TWICE);

    let uploaded = cluster.network.uploaded.lock().clone();
    assert_eq!(uploaded[0].0, chosen_first);
    assert_eq!(uploaded.len(), 2);
    assert_eq!(cluster.holders(id).len(), 2);
}

/// Behaviours: BLK-014.
#[test]
fn after_a_failure_the_list_of_peers_is_fetched_anew() {
    let mut cluster = Cluster::of(2, 10_000);
    put(cluster.manager(0), rdd_block(0, 0), 10, TWICE);
    cluster.add(Peer::executor(ExecutorId(2), "new"), 10_000);
    cluster.network.break_off(1);

    put(cluster.manager(0), rdd_block(0, 1), 10, TWICE);

    assert_eq!(cluster.holders(rdd_block(0, 1)), [0, 2], "known since the failure of 1");
}

/// Behaviours: BLK-014.
#[test]
fn too_few_peers_are_no_error() {
    let cluster = Cluster::of(2, 10_000);

    assert_eq!(put(cluster.manager(0), rdd_block(0, 0), 10, StorageLevel::DISK_ONLY_3), Put::Stored);

    assert_eq!(cluster.holders(rdd_block(0, 0)), [0, 1]);
}

/// Behaviours: BLK-014.
#[test]
fn the_list_of_peers_is_believed_for_a_minute() {
    let mut cluster = Cluster::of(1, 10_000);
    put(cluster.manager(0), rdd_block(0, 0), 10, TWICE);
    cluster.add(Peer::executor(ExecutorId(1), "new"), 10_000);

    cluster.now.store(60_000_000, Ordering::Relaxed);
    put(cluster.manager(0), rdd_block(0, 1), 10, TWICE);
    cluster.now.store(60_000_001, Ordering::Relaxed);
    put(cluster.manager(0), rdd_block(0, 2), 10, TWICE);

    assert_eq!(cluster.holders(rdd_block(0, 1)), [0]);
    assert_eq!(cluster.holders(rdd_block(0, 2)), [0, 1]);
}

/// Behaviours: BLK-014.
#[test]
fn rack_aware_managers_spread_copies_over_racks() {
    let mut cluster = Cluster::empty();
    let options = BlockOptions { replication: ReplicationPolicy::RackAware, ..BlockOptions::default() };
    for (number, (host, rack)) in
        [("a", "r1"), ("a", "r1"), ("b", "r1"), ("c", "r2"), ("d", "r2")].iter().enumerate()
    {
        cluster.add_with(Peer::executor(ExecutorId(number as u32), *host).in_rack(*rack), 10_000, options);
    }
    for partition in 0..20 {
        let id = rdd_block(0, partition);

        put(cluster.manager(0), id, 10, StorageLevel::DISK_ONLY_3);

        let holders = cluster.holders(id);
        assert_eq!(holders[..2], [0, 2], "the other host of the rack");
        assert!(holders[2] > 2, "and another rack: {holders:?}");
    }
}

/// Behaviours: BLK-015.
#[test]
fn a_lost_copy_is_made_again_by_who_remains() {
    let cluster = Cluster::of(4, 10_000);
    for partition in 0..10 {
        put(cluster.manager(0), rdd_block(0, partition), 10, StorageLevel::DISK_ONLY_3);
    }

    for lost in [0, 1] {
        cluster.network.break_off(lost);
        let orders = cluster.master.lock().executor_lost(ExecutorId(lost));
        for order in &orders {
            cluster.manager(order.by.0 as usize).replicate(order);
        }
    }

    for partition in 0..10 {
        assert_eq!(cluster.holders(rdd_block(0, partition)), [2, 3], "as many as there are executors left");
    }
    assert_eq!(read_local(cluster.manager(3), rdd_block(0, 0)).unwrap(), [1; 10]);
}

/// Behaviours: BLK-015.
#[test]
fn an_order_makes_no_more_copies_than_are_missing() {
    let cluster = Cluster::of(5, 10_000);
    let id = rdd_block(0, 0);
    put(cluster.manager(0), id, 10, StorageLevel::DISK_ONLY_3);
    cluster.network.break_off(0);
    let orders = cluster.master.lock().executor_lost(ExecutorId(0));

    let made = cluster.manager(orders[0].by.0 as usize).replicate(&orders[0]);

    assert_eq!((orders.len(), made, cluster.holders(id).len()), (1, 1, 3));
    let absent = crate::block::Replicate { id: rdd_block(9, 9), ..orders[0].clone() };
    assert_eq!(cluster.manager(1).replicate(&absent), 0);
}

#[test]
fn a_received_copy_is_complete_or_absent() {
    let cluster = Cluster::of(1, 100);
    let manager = cluster.manager(0);
    for level in [MEMORY_ONLY, StorageLevel::DISK_ONLY] {
        let error = manager.receive(rdd_block(0, 0), level, 4, &mut &b"abc"[..]).unwrap_err();
        assert!(matches!(error, BlockError::NotReceived { .. }), "{error}");
        assert_eq!(manager.locks().ids(|_| true), []);
    }
    assert_eq!((cluster.nodes[0].budget.used(), cluster.nodes[0].files()), (0, 0));

    assert_eq!(manager.receive(rdd_block(0, 0), MEMORY_ONLY, 3, &mut &b"abcd"[..]).unwrap(), Put::Stored);
    assert_eq!(manager.receive(rdd_block(0, 0), MEMORY_ONLY, 3, &mut &b"xyz"[..]).unwrap(), Put::Exists);

    assert_eq!(read_local(manager, rdd_block(0, 0)).unwrap(), b"abc");
    assert_eq!(cluster.holders(rdd_block(0, 0)), [0]);
}

/// Behaviours: BLK-023.
#[test]
fn a_receiver_refuses_what_exceeds_its_disk_and_a_migration_to_it_keeps_everything() {
    let mut cluster = Cluster::of(1, 1000);
    let options = BlockOptions { max_received_disk: Some(15), ..BlockOptions::default() };
    cluster.add_with(Peer::executor(ExecutorId(1), "small"), 0, options);
    for partition in 0..3 {
        put(cluster.manager(0), rdd_block(0, partition), 10, StorageLevel::DISK_ONLY);
    }

    cluster.manager(0).decommission();
    let round = cluster.manager(0).migrate_once(Wait::FOREVER);

    assert_eq!(round.moved, [rdd_block(0, 0)]);
    assert_eq!(round.kept, [rdd_block(0, 1), rdd_block(0, 2)]);
    assert_eq!(cluster.nodes[1].files(), 1);
    for partition in 0..3 {
        assert_eq!(read(cluster.manager(0), rdd_block(0, partition)).unwrap(), [1; 10]);
    }
}

/// Behaviours: BLK-021.
#[test]
fn partitions_move_to_a_peer_and_go_here() {
    let cluster = Cluster::of(2, 1000);
    let manager = cluster.manager(0);
    put(manager, rdd_block(0, 0), 10, MEMORY_ONLY);
    put(manager, rdd_block(0, 1), 10, StorageLevel::DISK_ONLY);
    put(manager, piece(0, 0), 10, MEMORY_AND_DISK);

    manager.decommission();
    let round = manager.migrate_once(Wait::FOREVER);

    assert_eq!(round, MigrationRound { moved: vec![rdd_block(0, 0), rdd_block(0, 1)], kept: vec![] });
    assert_eq!(manager.locks().ids(|_| true), [piece(0, 0)]);
    for partition in 0..2 {
        assert_eq!(cluster.holders(rdd_block(0, partition)), [1]);
        assert_eq!(read_local(cluster.manager(1), rdd_block(0, partition)).unwrap(), [1; 10]);
    }
}

/// Behaviours: BLK-021.
#[test]
fn a_partition_that_no_peer_takes_is_kept() {
    let cluster = Cluster::of(2, 1000);
    put(cluster.manager(0), rdd_block(0, 0), 10, MEMORY_ONLY);
    cluster.network.break_off(1);

    let round = cluster.manager(0).migrate_once(Wait::FOREVER);

    assert_eq!(round, MigrationRound { moved: vec![], kept: vec![rdd_block(0, 0)] });
    assert_eq!(read_local(cluster.manager(0), rdd_block(0, 0)).unwrap(), [1; 10]);
    assert_eq!(Cluster::of(1, 0).manager(0).migrate_once(Wait::FOREVER), MigrationRound::default());
}

/// Behaviours: BLK-021.
#[test]
fn rounds_repeat_every_thirty_seconds_for_blocks_that_appeared_meanwhile() {
    let cluster = Cluster::of(2, 1000);
    let manager = cluster.manager(0);
    put(manager, rdd_block(0, 0), 10, MEMORY_ONLY);
    let mut rounds = Vec::new();

    manager.migrate_partitions(&|| false, |round, time| {
        assert_eq!(time, Duration::from_secs(30));
        rounds.push(round.moved.clone());
        put(manager, rdd_block(0, rounds.len() as u32), 10, MEMORY_ONLY);
        if rounds.len() < 3 { Again::Yes } else { Again::No }
    });

    assert_eq!(rounds, [[rdd_block(0, 0)], [rdd_block(0, 1)], [rdd_block(0, 2)]]);
}

#[test]
fn a_copy_that_a_peer_has_already_does_not_count_as_moved() {
    let cluster = Cluster::of(3, 1000);
    let id = rdd_block(0, 0);
    put(cluster.manager(0), id, 10, TWICE);
    let holder = cluster.holders(id)[1];
    cluster.network.uploaded.lock().clear();

    cluster.manager(0).migrate_once(Wait::FOREVER);

    assert_eq!(*cluster.network.uploaded.lock(), [(executor(3 - holder), id)], "to the one without");
    assert_eq!(cluster.holders(id), [1, 2]);
    assert_eq!(cluster.manager(3 - holder as usize).locks().level(id), Some(TWICE), "for later losses");
}
