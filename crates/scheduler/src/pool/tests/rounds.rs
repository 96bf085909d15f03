//! What a round visits, and what changes during a round mean.

use super::harness::SchedulingMode::{Fair, Fifo};
use super::harness::*;

fn four_pools() -> PoolTree {
    let mut tree = tree(Fair, &[]);
    for (stage, pool) in (0..).zip(["a", "b", "c", "d"]) {
        add(&mut tree, stage, 0, Some(pool));
    }
    tree
}

fn rest(tree: &mut PoolTree) -> Vec<u32> {
    std::iter::from_fn(|| tree.next_set()).map(|key| key.0).collect()
}

/// Behaviours: POOL-005.
#[test]
fn only_sets_with_pending_tasks_are_visited() {
    let mut tree = four_pools();
    tree.set_schedulable(SetKey(1), false);
    tree.add_set(SetKey(4), StageAttemptId::new(StageId(4), 0), JobId(0), Some("a"));

    assert_eq!(round(&mut tree), [0, 2, 3], "set 4 has not been said to be schedulable");

    tree.set_schedulable(SetKey(1), true);
    tree.set_schedulable(SetKey(4), true);

    assert_eq!(round(&mut tree), [0, 4, 1, 2, 3]);
}

/// Behaviours: POOL-005.
#[test]
fn tasks_of_a_set_without_pending_ones_still_count_for_its_pool() {
    let mut tree = four_pools();
    tree.add_running(SetKey(0), 1);
    tree.set_schedulable(SetKey(0), false);
    add(&mut tree, 5, 0, Some("a"));

    assert_eq!(round(&mut tree), [1, 2, 3, 5]);
}

/// Behaviours: POOL-002.
#[test]
fn a_round_keeps_the_order_of_its_beginning_and_the_next_has_the_new_one() {
    let mut tree = four_pools();
    tree.begin_round();
    assert_eq!(tree.next_set(), Some(SetKey(0)));
    tree.add_running(SetKey(0), 1);
    tree.add_running(SetKey(2), 3);
    tree.add_running(SetKey(1), 2);

    assert_eq!(tree.running(SetKey(1)), 2, "counts change at once");
    assert!(tree.is_before(SetKey(3), SetKey(0)), "and so does the order asked for");
    assert_eq!(rest(&mut tree), [1, 2, 3], "but not the round's");
    tree.end_round();

    assert_eq!(round(&mut tree), [3, 0, 1, 2]);
}

/// Behaviours: POOL-005.
#[test]
fn a_set_that_is_removed_or_has_no_more_tasks_is_passed_over() {
    let mut tree = four_pools();
    add(&mut tree, 4, 0, Some("d"));
    tree.begin_round();
    tree.next_set();
    tree.remove_set(SetKey(1));
    tree.set_schedulable(SetKey(3), false);
    tree.remove_set(SetKey(0));

    assert_eq!(rest(&mut tree), [2, 4]);
    tree.end_round();
    tree.check_invariants();

    assert_eq!(round(&mut tree), [2, 4]);
}

#[test]
fn a_set_that_has_tasks_again_keeps_its_place_in_the_round() {
    let mut tree = four_pools();
    tree.begin_round();
    tree.set_schedulable(SetKey(2), false);
    tree.set_schedulable(SetKey(2), true);

    assert_eq!(rest(&mut tree), [0, 1, 2, 3]);
    tree.end_round();
    tree.check_invariants();
}

#[test]
fn a_set_added_during_a_round_waits_for_the_next_even_under_a_key_used_before() {
    let mut tree = four_pools();
    tree.begin_round();
    tree.remove_set(SetKey(2));
    tree.add_set(SetKey(2), StageAttemptId::new(StageId(7), 0), JobId(0), Some("c"));
    tree.set_schedulable(SetKey(2), true);
    add(&mut tree, 4, 0, Some("aa"));

    assert_eq!(rest(&mut tree), [0, 1, 3]);
    tree.end_round();

    assert_eq!(round(&mut tree), [0, 4, 1, 2, 3]);
}

#[test]
fn a_round_that_stops_early_leaves_nothing_behind() {
    let mut tree = tree(Fifo, &[]);
    for stage in 0..3 {
        add(&mut tree, stage, 0, None);
    }
    tree.begin_round();
    assert_eq!(tree.next_set(), Some(SetKey(0)));
    tree.end_round();

    assert_eq!(round(&mut tree), [0, 1, 2]);
    tree.begin_round();
    assert_eq!(rest(&mut tree), [0, 1, 2]);
    assert_eq!(tree.next_set(), None, "an exhausted round stays exhausted");
}
