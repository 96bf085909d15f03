//! Cached partitions: what need not be computed again, and where tasks go.

use firesteel_scheduler::{BlockUpdate, Event};
use firesteel_types::{ExecutorId, PartitionId, PreferredLocations, RddId, RddNode};

use crate::harness::{World, fetch_failed, map, persisted, pinned, shuffled, source};

/// `rdd` is cached at executors 0 and 1, and the map side of shuffle 0 has run on both.
fn cached_after_shuffle() -> World {
    let mut world = World::new();
    let nodes = [pinned(0, &[(0, "h1"), (1, "h2")]), persisted(shuffled(1, 2, 0, 0)), map(2, 2, 1)];
    world.executors(0, &["h1", "h2"], 1).rdds(nodes);
    world.submit(2);
    world.finish_maps(&[0, 1], 2);
    world.cache(1, &[0, 1]);
    world.finish(2);
    world.finish(3);
    world.assert_quiescent();
    world
}

fn uncache(world: &mut World, rdd: u32, partition: u32, executor: u32) {
    let block =
        BlockUpdate { rdd: RddId(rdd), partition: PartitionId(partition), generation: 0, present: false };
    world.send(Event::BlocksUpdated { executor: ExecutorId(executor), blocks: vec![block] });
}

/// Behaviours: DAG-005, DAG-045.
#[test]
fn a_fully_cached_rdd_after_a_shuffle_spares_the_map_stage() {
    let mut world = cached_after_shuffle();
    world.send(Event::WorkerRemoved { host: "h1".into(), message: "gone".to_owned() });

    let submitted = world.submit(2);
    let end: Vec<_> = [4, 5].into_iter().flat_map(|attempt| world.finish(attempt).lines()).collect();

    assert_eq!(
        submitted.lines(),
        [
            "* job-1 starts [stage-2.0, stage-3.0]",
            "* stage-3.0 submitted, 2 tasks",
            "prepare stage-3.0 for job-1",
            "* attempt-4 starts",
            "launch attempt-4 = stage-3.0 partition-1 try-0 on executor-1 Process",
            "* attempt-5 starts",
            "launch attempt-5 = stage-3.0 partition-0 try-0 on executor-0 Process",
        ]
    );
    assert_eq!(
        end,
        [
            "* attempt-4 ends",
            "deliver job-1 [1] = attempt-4",
            "forget stage-3.0",
            "* attempt-5 ends",
            "deliver job-1 [0] = attempt-5",
            "* stage-3.0 completed",
            "* job-1 ends",
            "job-1 succeeded",
        ]
    );
    world.assert_quiescent();
}

/// Behaviours: DAG-005.
#[test]
fn one_partition_that_is_not_cached_makes_the_map_stage_run() {
    let mut world = cached_after_shuffle();
    world.send(Event::WorkerRemoved { host: "h1".into(), message: "gone".to_owned() });
    uncache(&mut world, 1, 1, 1);

    let submitted = world.submit(2);

    assert_eq!(
        submitted.lines(),
        [
            "* job-1 starts [stage-2.0, stage-3.0]",
            "* stage-2.0 submitted, 1 tasks",
            "prepare stage-2.0 for shuffle-0",
            "* attempt-4 starts",
            "launch attempt-4 = stage-2.0 partition-0 try-0 on executor-0 Process",
        ]
    );
}

/// The fully cached RDD is in the middle of the stage: the last RDD of the stage is not cached at all.
///
/// Behaviours: DAG-005.
#[test]
fn each_rdd_of_the_stage_is_checked_and_not_only_the_last() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([
        source(0, 1),
        persisted(shuffled(1, 1, 0, 0)),
        persisted(map(2, 1, 1)),
        map(3, 1, 2),
    ]);
    world.cache(1, &[0]);

    let submitted = world.submit(3);

    assert_eq!(
        submitted.lines(),
        [
            "* job-0 starts [stage-0.0, stage-1.0]",
            "* stage-1.0 submitted, 1 tasks",
            "prepare stage-1.0 for job-0",
            "* attempt-0 starts",
            "launch attempt-0 = stage-1.0 partition-0 try-0 on executor-0 Process",
        ]
    );
}

/// Behaviours: DAG-006.
#[test]
fn an_rdd_without_storage_level_is_not_looked_up() {
    let mut world = cached_after_shuffle();
    world.send(Event::WorkerRemoved { host: "h1".into(), message: "gone".to_owned() });
    // Not persisted any more; that its blocks are gone was not yet reported.
    world.rdds([shuffled(1, 2, 0, 0)]);

    let unpersisted = world.submit(2);

    assert_eq!(unpersisted.lines_with("submitted"), ["* stage-2.0 submitted, 1 tasks"]);
}

/// Behaviours: DAG-006.
#[test]
fn locations_are_fresh_when_a_job_is_submitted() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 2).rdds([persisted(source(0, 1))]);
    world.cache(0, &[0]);
    let before = world.submit(0);
    uncache(&mut world, 0, 0, 0);
    let block = BlockUpdate { rdd: RddId(0), partition: PartitionId(0), generation: 0, present: true };
    world.send(Event::BlocksUpdated { executor: ExecutorId(1), blocks: vec![block] });

    let after = world.submit(0);

    assert_eq!(
        before.lines_with("launch"),
        ["launch attempt-0 = stage-0.0 partition-0 try-0 on executor-0 Process"]
    );
    assert_eq!(
        after.lines_with("launch"),
        ["launch attempt-1 = stage-1.0 partition-0 try-0 on executor-1 Process"]
    );
}

/// The cached side input moved while the map stage ran; the result stage finds it at its new place.
///
/// Behaviours: DAG-006.
#[test]
fn locations_are_fresh_when_a_map_stage_completes() {
    let mut world = World::new();
    let result = RddNode {
        dependencies: vec![crate::harness::one_to_one(2), crate::harness::shuffle_dependency(0, 0, 1)],
        ..source(1, 1)
    };
    world.executors(0, &["h1", "h2"], 1).rdds([pinned(0, &[(0, "h1")]), persisted(source(2, 1)), result]);
    world.cache(2, &[0]);
    world.submit(1);
    uncache(&mut world, 2, 0, 0);
    let block = BlockUpdate { rdd: RddId(2), partition: PartitionId(0), generation: 0, present: true };
    world.send(Event::BlocksUpdated { executor: ExecutorId(1), blocks: vec![block] });

    let completed = world.finish_map(0, &[10]);

    assert_eq!(
        completed.lines_with("launch"),
        ["launch attempt-1 = stage-1.0 partition-0 try-0 on executor-1 Process"]
    );
}

/// Behaviours: DAG-006.
#[test]
fn an_executor_that_is_lost_holds_nothing_any_more() {
    let mut world = cached_after_shuffle();

    let lost = world.lose(0);
    let submitted = world.submit(2);

    assert_eq!(lost.lines(), ["* executor-0 removed: gone", "remove blocks of executor-0"]);
    // Partition 0 is neither cached nor can its input be read, so map partition 0 runs again, where there is room.
    assert_eq!(
        submitted.lines(),
        [
            "* job-1 starts [stage-2.0, stage-3.0]",
            "* stage-2.0 submitted, 1 tasks",
            "prepare stage-2.0 for shuffle-0",
            "* attempt-4 starts",
            "launch attempt-4 = stage-2.0 partition-0 try-0 on executor-1 Any",
        ]
    );
}

/// Behaviours: DAG-006, DAG-029.
#[test]
fn locations_are_fresh_when_failed_stages_are_submitted_again() {
    let mut world = World::new();
    let nodes = [pinned(0, &[(0, "h1"), (1, "h2")]), persisted(shuffled(1, 1, 0, 0)), shuffled(2, 1, 1, 1)];
    world.executors(0, &["h1", "h2"], 1).rdds(nodes);
    world.submit(2);
    world.finish_maps(&[0, 1], 1);
    world.fail(2, fetch_failed(0, 0, 0, "h1"));
    // Another task computed and cached the partition meanwhile, so the lost map output is not needed.
    let block = BlockUpdate { rdd: RddId(1), partition: PartitionId(0), generation: 0, present: true };
    world.send(Event::BlocksUpdated { executor: ExecutorId(1), blocks: vec![block] });

    let resubmitted = world.resubmit();

    assert_eq!(
        resubmitted.lines_with("submitted"),
        ["* stage-0.1 submitted, 1 tasks", "* stage-1.1 submitted, 1 tasks"]
    );
    assert_eq!(
        resubmitted.lines_with("launch"),
        [
            "launch attempt-3 = stage-0.1 partition-0 try-0 on executor-0 Process",
            "launch attempt-4 = stage-1.1 partition-0 try-0 on executor-1 Process",
        ]
    );
}

/// Late, repeated and absurd reports about blocks change nothing.
///
/// Behaviours: DAG-006.
#[test]
fn reports_about_blocks_nobody_could_read_are_harmless() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([persisted(source(0, 2))]);
    let block = |rdd: u32, partition: u32, present: bool| BlockUpdate {
        rdd: RddId(rdd),
        partition: PartitionId(partition),
        generation: 0,
        present,
    };
    let known =
        vec![block(0, 0, true), block(0, 0, true), block(0, 7, true), block(5, 0, true), block(0, 1, false)];

    let fine = world.send(Event::BlocksUpdated { executor: ExecutorId(0), blocks: known });
    let unknown =
        world.send(Event::BlocksUpdated { executor: ExecutorId(9), blocks: vec![block(0, 0, true)] });

    assert_eq!(fine.lines(), [""; 0]);
    assert_eq!(unknown.lines(), ["ignored: executor-9 is not registered"]);
}

/// Behaviours: DAG-013.
#[test]
fn a_preference_that_fails_is_not_asked_for_where_partitions_are_cached() {
    let mut world = World::new();
    let failing =
        RddNode { preferred: PreferredLocations::Failed("no such table".to_owned()), ..source(0, 1) };
    world.executors(0, &["h1"], 1).rdds([failing, persisted(map(1, 1, 0))]);
    world.cache(1, &[0]);

    let submitted = world.submit(1);

    assert_eq!(
        submitted.lines_with("launch"),
        ["launch attempt-0 = stage-0.0 partition-0 try-0 on executor-0 Process"]
    );
}
