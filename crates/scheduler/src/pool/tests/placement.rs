//! Which pools there are, and into which of them a task set goes.

use super::harness::SchedulingMode::{Fair, Fifo};
use super::harness::*;
use crate::pool::{PoolError, PoolView};

fn view(name: &str, mode: SchedulingMode, min_share: u32, weight: u32) -> PoolView<'_> {
    let parent = (!name.is_empty()).then_some("");
    PoolView { name, mode, weight, min_share, running: 0, schedulable_sets: 0, parent }
}

/// Behaviours: POOL-006.
#[test]
fn configured_pools_keep_their_values_and_the_default_pool_is_always_there() {
    let pools = [pool("pool1", Fifo, 3, 1), pool("pool2", Fair, 4, 2)];

    let tree = tree(Fair, &pools);

    let expected = [
        view("", Fair, 0, 1),
        view("pool1", Fifo, 3, 1),
        view("pool2", Fair, 4, 2),
        view("default", Fifo, 0, 1),
    ];
    assert_eq!(tree.pools().collect::<Vec<_>>(), expected);
}

/// Behaviours: POOL-006.
#[test]
fn a_configured_default_pool_is_not_made_a_second_time() {
    let tree = tree(Fair, &[pool("default", Fair, 2, 5)]);

    assert_eq!(tree.pools().collect::<Vec<_>>(), [view("", Fair, 0, 1), view("default", Fair, 2, 5)]);
}

#[test]
fn two_pools_of_one_name_or_a_pool_without_one_are_refused() {
    let outer = |inner: &str| PoolDescription {
        children: vec![PoolDescription::new(inner)],
        ..PoolDescription::new("outer")
    };

    assert_eq!(
        PoolTree::new(Fair, &[outer("etl"), PoolDescription::new("etl")]).unwrap_err(),
        PoolError::DuplicateName { name: "etl".into() }
    );
    assert_eq!(PoolTree::new(Fair, &[outer("")]).unwrap_err(), PoolError::Unnamed { parent: "outer".into() });
}

/// Behaviours: POOL-009.
#[test]
fn a_job_without_the_property_goes_to_the_default_pool() {
    let mut tree = tree(Fair, &[pool("etl", Fifo, 0, 1)]);

    let set = add(&mut tree, 0, 0, None);
    let named = add(&mut tree, 1, 0, Some("etl"));

    assert_eq!((tree.pool_of(set), tree.pool_of(named)), ("default", "etl"));
}

/// Behaviours: POOL-009.
#[test]
fn an_unknown_name_makes_a_pool_with_defaults() {
    let mut tree = tree(Fair, &[]);

    let set = add(&mut tree, 0, 0, Some("testPool"));
    let second = add(&mut tree, 1, 0, Some("testPool"));

    assert_eq!((tree.pool_of(set), tree.pool_of(second)), ("testPool", "testPool"));
    let made = PoolView { schedulable_sets: 2, ..view("testPool", Fifo, 0, 1) };
    assert_eq!(tree.pools().nth(2), Some(made));
    assert_eq!(tree.pools().count(), 3);
}

/// Behaviours: POOL-009.
#[test]
fn a_fifo_root_ignores_the_property_and_holds_the_sets_itself() {
    let mut tree = tree(Fifo, &[pool("testPool", Fair, 0, 1)]);

    let first = add(&mut tree, 0, 0, Some("testPool"));
    add(&mut tree, 1, 0, Some("other"));

    assert_eq!(tree.pool_of(first), "");
    let root = PoolView { schedulable_sets: 2, ..view("", Fifo, 0, 1) };
    assert_eq!(tree.pools().collect::<Vec<_>>(), [root]);
}

#[test]
fn pools_made_while_running_keep_the_order_of_names_when_labels_run_out() {
    let mut tree = tree(Fair, &[]);
    add(&mut tree, 0, 0, Some("a"));
    add(&mut tree, 1, 0, Some("b"));
    tree.begin_round();
    for (letter, stage) in (b'A'..=b'Z').rev().zip(2..) {
        add(&mut tree, stage, 0, Some(&format!("a{}", char::from(letter))));
    }
    tree.end_round();

    let expected: Vec<u32> = [0].into_iter().chain((2..28).rev()).chain([1]).collect();
    assert_eq!(round(&mut tree), expected);
}

#[test]
fn a_tree_that_lost_its_last_set_is_quiescent() {
    let mut tree = tree(Fair, &[]);
    assert!(tree.is_quiescent());
    let set = add(&mut tree, 0, 0, Some("p"));
    tree.add_running(set, 2);
    assert!(!tree.is_quiescent());

    tree.remove_set(set);

    assert!(tree.is_quiescent());
    tree.begin_round();
    assert!(!tree.is_quiescent());
}
