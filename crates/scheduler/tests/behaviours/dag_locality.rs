//! Where tasks would rather run.

use std::sync::Arc;

use firesteel_scheduler::SchedulerConfig;
use firesteel_types::{Dependency, Locality, NarrowMap, PreferredLocations, RddId, RddNode, TaskLocation};

use crate::harness::{
    World, derived, map, one_to_one, persisted, pinned, shuffle_dependency, shuffled, source,
};

/// Which executor each partition of the set runs on, and how near to its data.
fn places(world: &World, set: &str) -> Vec<(u32, u32, Locality)> {
    let mut places: Vec<_> = world
        .launched
        .values()
        .filter(|task| task.set.to_string() == set)
        .map(|task| (task.partition.0, task.executor.0, task.locality))
        .collect();
    places.sort_unstable();
    places
}

fn on_hosts(node: RddNode, hosts: &[&str]) -> RddNode {
    let places = hosts.iter().map(|host| vec![TaskLocation::Host((*host).into())]);
    RddNode { preferred: PreferredLocations::PerPartition(places.collect()), ..node }
}

/// Behaviours: DAG-047.
#[test]
fn cached_copies_come_before_the_wishes_of_the_rdd() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 2).rdds([persisted(pinned(0, &[(0, "h1"), (0, "h1")]))]);
    // The second partition is cached elsewhere.
    world.cache(0, &[0, 1]);

    world.submit(0);

    assert_eq!(places(&world, "stage-0.0"), [(0, 0, Locality::Process), (1, 1, Locality::Process)]);
}

/// Behaviours: DAG-047.
#[test]
fn a_partition_without_wish_takes_that_of_the_first_narrow_parent_partition_with_any() {
    let mut world = World::new();
    let coalesced =
        Dependency::Narrow { parent: RddId(0), map: NarrowMap::Listed(Arc::from([vec![0, 2, 1]])) };
    let wishes = PreferredLocations::PerPartition(Arc::from([
        vec![],
        vec![TaskLocation::Host("h1".into())],
        vec![TaskLocation::Host("h2".into())],
    ]));
    world.executors(0, &["h1", "h2", "h3"], 1).rdds([
        RddNode { preferred: wishes, ..source(0, 3) },
        on_hosts(source(1, 1), &["h3"]),
        derived(2, 1, vec![coalesced, one_to_one(1)]),
    ]);

    world.submit(2);

    assert_eq!(places(&world, "stage-0.0"), [(0, 1, Locality::Node)]);
}

/// Behaviours: DAG-047.
#[test]
fn the_own_wish_comes_before_those_of_the_parents_and_without_any_a_task_runs_anywhere() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 2).rdds([
        on_hosts(source(0, 1), &["h1"]),
        on_hosts(map(1, 1, 0), &["h2"]),
        source(2, 1),
        map(3, 1, 2),
    ]);

    world.submit(1);
    world.submit(3);

    assert_eq!(places(&world, "stage-0.0"), [(0, 1, Locality::Node)]);
    let anywhere = places(&world, "stage-1.0");
    assert_eq!((anywhere.len(), anywhere[0].2), (1, Locality::Process), "no preference is always met");
}

/// Behaviours: DAG-047.
#[test]
fn a_stage_with_narrow_and_shuffle_dependencies_goes_where_the_narrow_one_says() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 2).rdds([
        pinned(0, &[(0, "h1")]),
        on_hosts(source(1, 1), &["h2"]),
        derived(2, 1, vec![shuffle_dependency(0, 0, 1), one_to_one(1)]),
    ]);
    world.submit(2);

    world.finish_map(0, &[1000]);

    assert_eq!(places(&world, "stage-1.0"), [(0, 1, Locality::Node)]);
}

/// Map outputs of these sizes on hosts h0, h1, …, one executor each. Where does the reducer run?
fn reducer_after(config: SchedulerConfig, sizes: &[u64]) -> Vec<(u32, u32, Locality)> {
    let mut world = World::with(config);
    let hosts: Vec<_> = (0..sizes.len()).map(|host| format!("h{host}")).collect();
    let hosts: Vec<_> = hosts.iter().map(String::as_str).collect();
    let wishes: Vec<_> = (0..).zip(hosts.iter().copied()).collect();
    world.executors(0, &hosts, 1).rdds([pinned(0, &wishes), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    for (partition, size) in (0..).zip(sizes) {
        let attempt = world.attempt_of("stage-0.0", partition);
        world.finish_map(attempt, &[*size]);
    }
    places(&world, "stage-1.0")
}

/// Behaviours: DAG-048.
#[test]
fn a_reducer_prefers_hosts_with_a_fifth_of_its_input() {
    let near = |executor: u32| vec![(0, executor, Locality::Node)];
    let default = SchedulerConfig::default;

    assert_eq!(reducer_after(default(), &[1, 1, 1000, 1]), near(2));
    assert_eq!(reducer_after(default(), &[10, 1000, 10, 10]), near(1));
    let spread = reducer_after(default(), &[10; 6]);
    assert_eq!(spread[0].2, Locality::Process, "a sixth on each host is too little for a preference");
    let mut off = default();
    off.map_outputs.reduce_locality = false;
    assert_eq!(reducer_after(off, &[1, 1, 1000, 1])[0].2, Locality::Process, "no preference is always met");
}

/// One map task writes everything on h1. Where would the first reducer rather be?
fn reducer_of(maps: u32, reducers: u32) -> Locality {
    let mut world = World::new();
    world.executors(0, &["h1"], maps).rdds([source(0, maps), shuffled(1, reducers, 0, 0)]);
    world.submit_spec(
        1,
        firesteel_scheduler::Partitions::Listed(Arc::from([firesteel_types::PartitionId(0)])),
        firesteel_types::Properties::default(),
    );
    for attempt in 0..u64::from(maps) {
        world.finish_maps(&[attempt], reducers as usize);
    }
    places(&world, "stage-1.0")[0].2
}

/// Behaviours: DAG-048.
#[test]
fn large_shuffles_give_reducers_no_preference() {
    assert_eq!(reducer_of(999, 1), Locality::Node);
    assert_eq!(reducer_of(1000, 1), Locality::Process, "no preference is always met");
    assert_eq!(reducer_of(1, 999), Locality::Node);
    assert_eq!(reducer_of(1, 1000), Locality::Process, "no preference is always met");
}
