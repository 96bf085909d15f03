//! In which order task sets go, within one pool and across pools.

use super::harness::SchedulingMode::{Fair, Fifo};
use super::harness::*;

/// Behaviours: POOL-001.
#[test]
fn fifo_goes_by_job_then_stage_then_attempt() {
    let mut tree = tree(Fifo, &[]);
    let sets = [(2, 0, 0), (0, 9, 0), (1, 4, 1), (0, 10, 0), (1, 4, 0), (1, 3, 5)];
    for (key, (job, stage, attempt)) in (0..).map(SetKey).zip(sets) {
        tree.add_set(key, StageAttemptId::new(StageId(stage), attempt), JobId(job), None);
        tree.set_schedulable(key, true);
        tree.add_running(key, 10 - key.0.cast_signed());
    }

    assert_eq!(round(&mut tree), [1, 3, 5, 4, 2, 0]);
    assert!(tree.is_before(SetKey(1), SetKey(3)), "stage 9 before 10: numbers, not text");
    assert!(!tree.is_before(SetKey(3), SetKey(1)));
    assert!(!tree.is_before(SetKey(1), SetKey(1)));
}

/// Behaviours: POOL-001.
#[test]
fn in_fifo_a_later_job_gets_what_the_earlier_ones_leave() {
    let mut tree = tree(Fifo, &[]);
    add(&mut tree, 0, 0, None);
    add(&mut tree, 1, 0, None);
    add(&mut tree, 2, 0, None);

    assert_eq!(launch_one_by_one(&mut tree, &mut [2, 2, 2], 7), [0, 0, 1, 1, 2, 2]);
}

/// Behaviours: POOL-002.
#[test]
fn fair_serves_the_needy_first_then_by_weight_then_by_name() {
    let pools = [
        pool("half of minimum", Fifo, 4, 1),
        pool("third of minimum", Fifo, 6, 1),
        pool("above minimum", Fifo, 1, 4),
        pool("weight two", Fifo, 0, 2),
        pool("weight one", Fifo, 0, 1),
        pool("b", Fifo, 0, 1),
        pool("a", Fifo, 0, 1),
    ];
    let mut tree = tree(Fair, &pools);
    let running = [2, 2, 3, 4, 3, 5, 5];
    for (stage, (pool, running)) in (0..).zip(pools.iter().zip(running)) {
        let key = add(&mut tree, stage, 0, Some(&pool.name));
        tree.add_running(key, running);
    }

    // Needy: 2/6, 2/4. Then by weight: 3/4, 4/2, 3/1, 5/1 twice.
    assert_eq!(round(&mut tree), [1, 0, 2, 3, 4, 6, 5]);
}

/// Behaviours: POOL-002.
#[test]
fn a_pool_exactly_at_its_minimum_share_is_not_needy() {
    let mut tree = tree(Fair, &[pool("a", Fifo, 1, 1), pool("b", Fifo, 2, 1)]);
    let a = add(&mut tree, 0, 0, Some("a"));
    let b = add(&mut tree, 1, 0, Some("b"));
    tree.add_running(a, 1);
    tree.add_running(b, 1);

    assert!(tree.is_before(b, a));

    tree.add_running(b, 1);

    assert!(tree.is_before(a, b), "neither is needy, and 1/1 is less than 2/1");
}

/// Behaviours: POOL-002.
#[test]
fn ties_between_task_sets_in_a_fair_pool_go_by_the_text_of_their_names() {
    let mut tree = tree(Fair, &[pool("p", Fair, 0, 1)]);
    for stage in [9, 10, 2, 100] {
        add(&mut tree, stage, stage, Some("p"));
    }

    assert_eq!(round(&mut tree), [10, 100, 2, 9]);
}

/// Behaviours: POOL-002.
#[test]
fn a_tie_between_a_pool_and_a_task_set_goes_by_name_too() {
    let inner = ["TaskSet_1", "TaskSet_1.0x", "TaskSet_2", "Tas", "zoo"];
    let outer =
        PoolDescription { children: inner.map(PoolDescription::new).to_vec(), ..pool("outer", Fair, 0, 1) };
    let mut tree = tree(Fair, &[outer]);
    add(&mut tree, 1, 0, Some("outer"));
    add(&mut tree, 3, 0, Some("outer"));
    for (stage, name) in (10..).zip(inner) {
        add(&mut tree, stage, 0, Some(name));
    }

    // Tas, TaskSet_1, TaskSet_1.0, TaskSet_1.0x, TaskSet_2, TaskSet_3.0, zoo.
    assert_eq!(round(&mut tree), [13, 10, 1, 11, 12, 3, 14]);
}

/// Behaviours: POOL-003.
#[test]
fn two_pools_with_minimum_shares_alternate_as_in_the_example() {
    let mut tree = tree(Fair, &[pool("1", Fifo, 2, 1), pool("2", Fifo, 3, 1)]);
    for (stage, pool) in [(0, "1"), (1, "1"), (2, "1"), (3, "2"), (4, "2")] {
        add(&mut tree, stage, 0, Some(pool));
    }

    let launched = launch_one_by_one(&mut tree, &mut [1, 1, 2, 2, 2], 9);

    assert_eq!(launched, [0, 3, 3, 1, 4, 2, 2, 4]);
}

fn nested() -> PoolTree {
    let children = |children: [PoolDescription; 2], outer: PoolDescription| PoolDescription {
        children: children.to_vec(),
        ..outer
    };
    let pools = [
        children([pool("00", Fair, 2, 2), pool("01", Fair, 1, 1)], pool("0", Fair, 3, 1)),
        children([pool("10", Fair, 2, 2), pool("11", Fair, 2, 1)], pool("1", Fair, 4, 1)),
    ];
    let mut tree = tree(Fair, &pools);
    for stage in 0..8 {
        add(&mut tree, stage, 0, Some(["00", "01", "10", "11"][stage as usize / 2]));
    }
    tree
}

/// Behaviours: POOL-004.
#[test]
fn nested_pools_are_ordered_at_every_level() {
    let mut tree = nested();

    assert_eq!(round(&mut tree), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(launch_one_by_one(&mut tree, &mut [5; 8], 4), [0, 4, 6, 2]);
}

/// Behaviours: POOL-004.
#[test]
fn running_counts_reach_every_pool_above() {
    let mut tree = nested();
    tree.add_running(SetKey(2), 3);
    tree.add_running(SetKey(3), 2);
    tree.add_running(SetKey(0), 1);
    tree.add_running(SetKey(6), 7);
    tree.add_running(SetKey(6), -2);
    tree.remove_set(SetKey(3));
    tree.check_invariants();

    let counts: Vec<_> =
        tree.pools().map(|pool| (pool.name, pool.parent, pool.running, pool.schedulable_sets)).collect();

    let expected = [
        ("", None, 9, 7),
        ("0", Some(""), 4, 3),
        ("1", Some(""), 5, 4),
        ("00", Some("0"), 1, 2),
        ("01", Some("0"), 3, 1),
        ("10", Some("1"), 0, 2),
        ("11", Some("1"), 5, 2),
        ("default", Some(""), 0, 0),
    ];
    assert_eq!(counts, expected);
    assert_eq!((tree.running(SetKey(2)), tree.running(SetKey(6))), (3, 5));
}

/// Behaviours: POOL-004.
#[test]
fn in_a_fifo_pool_inner_pools_go_before_task_sets_in_their_described_order() {
    let outer =
        PoolDescription { children: ["z", "a"].map(PoolDescription::new).to_vec(), ..pool("o", Fifo, 0, 1) };
    let mut tree = tree(Fair, &[outer]);
    add(&mut tree, 0, 0, Some("o"));
    add(&mut tree, 1, 1, Some("a"));
    add(&mut tree, 2, 2, Some("z"));

    assert_eq!(round(&mut tree), [2, 1, 0]);
    assert!(tree.is_before(SetKey(1), SetKey(0)));
}
