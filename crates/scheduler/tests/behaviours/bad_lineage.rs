//! Lineages that are malformed, and jobs that ask for what is not there.

use std::sync::Arc;

use firesteel_scheduler::{Cancel, Event};
use firesteel_types::{
    Dependency, NarrowMap, PreferredLocations, RddId, RddNode, ShuffleId, TaskFailure, TaskLocation,
};

use crate::harness::{World, fetch_failed, map, millis, secs, shuffle_dependency, shuffled, source};

const NOTHING: [&str; 0] = [];

#[test]
fn a_lineage_with_a_cycle_is_refused_as_a_whole() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1);
    let send = |world: &mut World, nodes| world.send(Event::RddsRegistered(nodes)).lines();

    assert_eq!(
        send(&mut world, vec![map(0, 1, 0)]),
        ["ignored: rdd-0 is malformed: it depends on itself"],
        "directly"
    );
    assert_eq!(
        send(&mut world, vec![source(9, 1), map(0, 1, 1), shuffled(1, 1, 0, 2), map(2, 1, 0)]).len(),
        1,
        "in one batch, through a shuffle"
    );
    assert_eq!(send(&mut world, vec![source(0, 1), map(1, 1, 0)]), NOTHING);
    assert_eq!(send(&mut world, vec![map(2, 1, 1)]), NOTHING);
    assert_eq!(
        send(&mut world, vec![source(5, 1), map(0, 1, 2)]),
        ["ignored: rdd-0 is malformed: it depends on itself"],
        "through an update of a known RDD"
    );
    assert_eq!(world.submit(5).lines_with("failed").len(), 1, "nothing of the batch was taken");
    assert_eq!(world.submit(2).launches().len(), 1, "the lineage before it still works");
}

#[test]
fn malformed_nodes_are_refused() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 2)]);
    let two_places = PreferredLocations::PerPartition(Arc::from([vec![], vec![]]));
    let cases = [
        (map(1, 2, 7), "rdd-1 is malformed: its parent rdd-7 is not registered"),
        (map(1, 3, 0), "rdd-1 is malformed: rdd-0 has only 2 partitions"),
        (source(0, 3), "rdd-0 is malformed: it had 2 partitions before and has 3 now"),
        (
            RddNode { preferred: two_places, ..source(1, 1) },
            "rdd-1 is malformed: it has 1 partitions and preferred places for 2",
        ),
    ];

    for (node, why) in cases {
        assert_eq!(world.send(Event::RddsRegistered(vec![node])).lines(), [format!("ignored: {why}")]);
    }
}

#[test]
fn narrow_dependencies_that_point_nowhere_are_harmless() {
    let far = u32::MAX;
    let maps = [
        NarrowMap::Range { parent_start: far, child_start: 0, len: far },
        NarrowMap::Divide(0),
        NarrowMap::Modulo(0),
        NarrowMap::Runs(std::iter::once(far - 1..far).collect()),
        NarrowMap::Listed(Arc::from([vec![far, 0, far]])),
        NarrowMap::Listed(Arc::from([])),
    ];
    for map in maps {
        let mut world = World::new();
        world.executors(0, &["h1"], 2);
        let places = PreferredLocations::PerPartition(Arc::from([vec![TaskLocation::from("h1")]]));
        let parent = RddNode { preferred: places, ..source(0, 1) };
        let child = RddNode::derived(RddId(1), 2, vec![Dependency::Narrow { parent: RddId(0), map }]);
        world.send(Event::RddsRegistered(vec![parent, child]));

        world.submit(1);
        world.advance(secs(3));
        world.finish(0);
        world.finish(1);

        world.assert_quiescent();
    }
}

#[test]
fn zero_partitions_are_no_work() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 0), shuffled(1, 0, 0, 0), shuffled(2, 2, 1, 0)]);

    let done = ["* job-0 starts []", "* job-0 ends", "job-0 succeeded"];
    assert_eq!(world.submit(0).lines(), done);
    assert_eq!(world.submit(1).lines_with("succeeded"), ["job-1 succeeded"]);
    assert_eq!(
        world.submit_map_stage(1, 0).lines(),
        ["job-2 failed: cannot run a map stage over rdd-0: it has no partitions"]
    );
    assert_eq!(world.submit(2).launches().len(), 1, "a shuffle of nothing is complete");
    world.finish(0);
    world.finish(1);
    world.assert_quiescent();
}

#[test]
fn partitions_that_do_not_exist_are_refused() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 2)]);

    assert_eq!(
        world.submit_partitions(0, &[0, 2]).lines(),
        ["job-0 failed: partition-2 does not exist: rdd-0 has 2 partitions"]
    );
    assert_eq!(world.submit_partitions(0, &[u32::MAX]).lines_with("failed").len(), 1);
    world.assert_quiescent();
}

#[test]
fn rdds_dropped_while_a_job_uses_them_stay_until_it_ends() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);

    assert_eq!(world.send(Event::RddsDropped(vec![RddId(0), RddId(1), RddId(0)])).lines(), NOTHING);
    world.finish_map(0, &[1]);
    world.fail(1, fetch_failed(0, 0, 0, "h1"));
    let again = world.advance(millis(200)).attempts();
    assert_eq!(again, [2], "the map stage can be run again");
    world.finish_map(2, &[1]);
    assert_eq!(world.finish(3).lines_with("succeeded"), ["job-0 succeeded"]);

    assert_eq!(world.submit(1).lines(), ["job-1 failed: rdd-1 is not registered"]);
    world.assert_quiescent();
}

#[test]
fn a_shuffle_dropped_while_a_job_writes_it_fails_the_job() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);

    let dropped = world.send(Event::ShuffleDropped { shuffle: ShuffleId(0) });

    let reason = "shuffle-0 was removed while a job was using it";
    assert_eq!(dropped.lines_with("job-0 failed"), [format!("job-0 failed by stage-0: {reason}")]);
    assert_eq!(world.finish_map(0, &[1]).lines(), ["forget stage-0.0", "* attempt-0 ends"]);
    world.assert_quiescent();
}

#[test]
fn a_shuffle_that_changes_its_shape_is_refused() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    let other = RddNode::derived(RddId(2), 5, vec![shuffle_dependency(0, 0, 5)]);
    world.rdds([other]);
    world.cancel(Cancel::All);
    world.fail(0, TaskFailure::killed("x"));

    let refused = world.submit(2);

    assert_eq!(refused.lines(), ["job-1 failed: shuffle-0 was registered with other numbers of partitions"]);
    world.assert_quiescent();
}
