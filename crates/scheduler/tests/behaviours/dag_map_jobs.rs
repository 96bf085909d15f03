//! Jobs that want just the map side of a shuffle.

use crate::harness::{
    World, derived, fetch_failed, map, pinned, placed, shuffle_dependency, shuffled, source,
};

/// Behaviours: DAG-027.
#[test]
fn a_map_stage_job_gives_the_bytes_of_each_reduce_partition() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 2), shuffled(1, 3, 0, 0)]);

    let submitted = world.submit_map_stage(1, 0);
    world.finish_map(0, &[10, 0, 10]);
    let last = world.finish_map(1, &[10, 0, 0]);

    assert_eq!(submitted.lines_with("starts [")[..1], ["* job-0 starts [stage-0.0]"]);
    // Sizes are kept as logarithms, so 10 and 10 stay what they are.
    assert_eq!(
        last.lines(),
        [
            "forget stage-0.0",
            "* attempt-1 ends",
            "* stage-0.0 completed",
            "statistics job-0 = [20, 0, 10]",
            "* job-0 ends",
            "job-0 succeeded",
        ]
    );
    world.assert_quiescent();
}

/// Behaviours: DAG-027.
#[test]
fn a_map_stage_job_over_complete_outputs_is_over_at_once() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 1), shuffled(1, 2, 0, 0)]);
    world.submit_map_stage(1, 0);
    world.finish_map(0, &[10, 0]);

    let again = world.submit_map_stage(1, 0);

    assert_eq!(
        again.lines(),
        [
            "* job-1 starts [stage-1.0]",
            "* stage-1.0 submitted, 0 tasks",
            "* stage-1.0 completed",
            "statistics job-1 = [10, 0]",
            "* job-1 ends",
            "job-1 succeeded",
        ]
    );
    world.assert_quiescent();
}

/// Behaviours: DAG-027.
#[test]
fn a_map_stage_job_that_makes_no_sense_is_refused() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 0), shuffled(1, 2, 0, 0), map(2, 2, 1)]);

    let empty = world.submit_map_stage(1, 0);
    let narrow = world.submit_map_stage(2, 0);
    let unknown = world.submit_map_stage(9, 0);

    assert_eq!(empty.lines(), ["job-0 failed: cannot run a map stage over rdd-0: it has no partitions"]);
    assert_eq!(narrow.lines(), ["job-1 failed: rdd-2 has no dependency on shuffle-0"]);
    assert_eq!(unknown.lines(), ["job-2 failed: rdd-9 has no dependency on shuffle-0"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-028.
#[test]
fn a_map_stage_job_and_a_reduce_job_share_the_stage() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 2), shuffled(1, 1, 0, 0)]);
    world.submit_map_stage(1, 0);

    let reduce = world.submit(1);
    let second = world.submit_map_stage(1, 0);
    world.finish_map(0, &[10]);
    let completed = world.finish_map(1, &[10]);
    let last = world.finish(2);

    assert_eq!(reduce.lines(), ["* job-1 starts [stage-0.0, stage-1.0]"]);
    assert_eq!(second.lines(), ["* job-2 starts [stage-0.0]"]);
    assert_eq!(
        completed.lines(),
        [
            "forget stage-0.0",
            "* attempt-1 ends",
            "* stage-0.0 completed",
            "statistics job-0 = [20]",
            "* job-0 ends",
            "job-0 succeeded",
            "statistics job-2 = [20]",
            "* job-2 ends",
            "job-2 succeeded",
            "* stage-1.0 submitted, 1 tasks",
            "prepare stage-1.0 for job-1",
            "* attempt-2 starts",
            "launch attempt-2 = stage-1.0 partition-0 try-0 on executor-0 Node",
        ]
    );
    assert_eq!(last.lines_with("succeeded"), ["job-1 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-028.
#[test]
fn a_fetch_failure_in_a_consumer_reruns_just_the_lost_partitions_of_the_shared_stage() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 2).rdds([
        pinned(0, &[(0, "h1"), (1, "h2")]),
        placed(shuffled(1, 1, 0, 0), &[(1, "h2")]),
        shuffled(2, 1, 1, 1),
    ]);
    world.submit_map_stage(1, 0);
    world.finish_maps(&[0, 1], 1);
    // The map side of shuffle 1, which reads shuffle 0, as a job of its own, and a reduce job over both.
    let shared = world.submit_map_stage(2, 1);
    world.submit(2);

    let failed = world.fail(2, fetch_failed(0, 0, 0, "h1"));
    let resubmitted = world.resubmit();
    world.finish_maps(&[3], 1);
    let completed = world.finish_maps(&[4], 1);
    let last = world.finish(5);

    assert_eq!(shared.lines_with("submitted"), ["* stage-2.0 submitted, 1 tasks"], "shuffle 0 is complete");
    assert_eq!(failed.lines_with("job-"), [""; 0]);
    assert_eq!(
        resubmitted.lines_with("launch"),
        ["launch attempt-3 = stage-1.1 partition-0 try-0 on executor-0 Process"]
    );
    assert_eq!(completed.lines_with("succeeded"), ["job-1 succeeded"]);
    assert_eq!(last.lines_with("succeeded"), ["job-2 succeeded"]);
    world.assert_quiescent();
}

/// Shuffle 0 feeds shuffles 1 and 2, and a result reads both. Jobs finish one by one, each once.
///
/// Behaviours: DAG-028.
#[test]
fn jobs_over_shared_stages_finish_each_exactly_once() {
    let mut world = World::new();
    world.executors(0, &["h1"], 4).rdds([
        source(0, 1),
        shuffled(1, 1, 0, 0),
        shuffled(2, 1, 1, 1),
        shuffled(3, 1, 2, 1),
        derived(4, 1, vec![shuffle_dependency(1, 1, 1), shuffle_dependency(2, 1, 1)]),
    ]);
    world.submit_map_stage(1, 0);
    world.submit_map_stage(2, 1);
    world.submit_map_stage(3, 2);
    world.submit(4);

    let mut succeeded = Vec::new();
    let mut launched = 1;
    for attempt in 0..4 {
        let effects = if attempt < 3 { world.finish_maps(&[attempt], 1) } else { world.finish(attempt) };
        launched += effects.launches().len();
        succeeded.push(effects.lines_with("succeeded"));
    }

    assert_eq!(
        succeeded,
        [vec!["job-0 succeeded"], vec!["job-1 succeeded"], vec!["job-2 succeeded"], vec!["job-3 succeeded"]]
    );
    assert_eq!(launched, 4, "no stage ran twice");
    world.assert_quiescent();
}
