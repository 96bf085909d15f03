//! Pools in the whole scheduler: whose tasks are launched next.

use firesteel_scheduler::{
    SchedulerConfig,
    pool::{PoolDescription, SchedulingMode},
};
use firesteel_types::Properties;

use crate::harness::{Effects, World, located, secs, source};

fn pool(name: &str) -> Properties {
    Properties::default().with(Properties::POOL, name)
}

fn fair(pools: Vec<PoolDescription>) -> SchedulerConfig {
    let mut config = SchedulerConfig::default();
    (config.pools.mode, config.pools.pools) = (SchedulingMode::Fair, pools);
    config
}

fn stages(effects: &Effects) -> Vec<u32> {
    effects.launches().iter().map(|task| task.set.stage.0).collect()
}

/// Adds single-core executors one by one and tells which stage each one's task belongs to.
fn one_by_one(world: &mut World, count: u32) -> Vec<u32> {
    (0..count).flat_map(|id| stages(&world.executor(id, &format!("h{id}"), 1))).collect()
}

/// Behaviours: POOL-003.
#[test]
fn fair_pools_with_minimum_shares_take_turns() {
    let described = |name, min_share| PoolDescription { min_share, ..PoolDescription::new(name) };
    let mut world = World::with(fair(vec![described("1", 2), described("2", 3)]));
    world.rdds([source(0, 1), source(1, 2)]);
    for (rdd, name) in [(0, "1"), (0, "1"), (1, "1"), (1, "2"), (1, "2")] {
        world.submit_with(rdd, pool(name));
    }

    assert_eq!(one_by_one(&mut world, 8), [0, 3, 3, 1, 4, 2, 2, 4]);
}

/// Behaviours: POOL-003, POOL-009.
#[test]
fn in_fifo_mode_the_pool_does_not_matter() {
    let mut world = World::new();
    world.rdds([source(0, 2)]);
    for name in ["b", "a", "c"] {
        world.submit_with(0, pool(name));
    }

    assert_eq!(one_by_one(&mut world, 6), [0, 0, 1, 1, 2, 2]);
    let names: Vec<_> = world.scheduler.pools().map(|pool| pool.name.to_owned()).collect();
    assert_eq!(names, [""], "sets sit in the root");
}

/// Behaviours: POOL-009.
#[test]
fn sets_go_to_the_pool_their_job_names_and_unknown_names_make_new_pools() {
    let mut world = World::with(fair(vec![PoolDescription { weight: 2, ..PoolDescription::new("etl") }]));
    world.rdds([source(0, 4)]);
    world.submit(0);
    world.submit_with(0, pool("adhoc"));
    world.submit_with(0, pool("etl"));
    world.submit_with(0, Properties::default().with(Properties::DESCRIPTION, "no pool"));

    let launched = one_by_one(&mut world, 8);
    let mut running: Vec<_> =
        world.scheduler.pools().map(|pool| (pool.name.to_owned(), pool.running)).collect();
    running.sort_unstable();

    let named = |name: &str, running| (name.to_owned(), running);
    assert_eq!(running, [named("", 8), named("adhoc", 2), named("default", 2), named("etl", 4)]);
    assert_eq!(launched.iter().filter(|stage| **stage == 3).count(), 0, "the default pool is FIFO inside");
}

/// Behaviours: POOL-005.
#[test]
fn a_set_with_nothing_to_launch_is_not_considered() {
    let mut world = World::with(fair(Vec::new()));
    world.executors(0, &["h1"], 1).rdds([source(0, 1), source(1, 2), located(2, &[&["h1"]])]);
    world.submit_with(0, pool("a"));
    world.submit_with(1, pool("b"));

    let other_pool = world.finish(0);
    // A zombie: its pool runs a task, and launches nothing though partition 1 waits.
    let aborted = world.fail(1, firesteel_types::TaskFailure::OutputExists { path: "/out".into() });
    world.submit_with(2, pool("b"));
    let nothing = world.advance(secs(1));

    assert_eq!(stages(&other_pool), [1]);
    assert_eq!(aborted.attempts(), [0; 0]);
    assert_eq!(nothing.attempts(), [0; 0]);
    world.finish(2);
    world.assert_quiescent();
}
