//! The life of one job from submission to its last result.

use crate::harness::{World, fetch_failed, millis, shuffled, source};

/// Behaviours: LIS-004.
#[test]
fn a_job_of_two_stages_runs_from_start_to_end() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 2), shuffled(1, 1, 0, 0)]);

    let submitted = world.submit(1);
    let first = world.finish_map(0, &[10]);
    let second = world.finish_map(1, &[20]);
    let last = world.finish(2);

    assert_eq!(
        submitted.lines(),
        [
            "* job-0 starts [stage-0.0, stage-1.0]",
            "* stage-0.0 submitted, 2 tasks",
            "prepare stage-0.0 for shuffle-0",
            "* attempt-0 starts",
            "launch attempt-0 = stage-0.0 partition-0 try-0 on executor-0 Process",
            "* attempt-1 starts",
            "launch attempt-1 = stage-0.0 partition-1 try-0 on executor-0 Process",
        ]
    );
    assert_eq!(first.lines(), ["* attempt-0 ends"]);
    assert_eq!(
        second.lines(),
        [
            "forget stage-0.0",
            "* attempt-1 ends",
            "* stage-0.0 completed",
            "* stage-1.0 submitted, 1 tasks",
            "prepare stage-1.0 for job-0",
            "* attempt-2 starts",
            "launch attempt-2 = stage-1.0 partition-0 try-0 on executor-0 Node",
        ]
    );
    assert_eq!(
        last.lines(),
        [
            "forget stage-1.0",
            "* attempt-2 ends",
            "deliver job-0 [0] = attempt-2",
            "* stage-1.0 completed",
            "* job-0 ends",
            "job-0 succeeded",
        ]
    );
    world.assert_quiescent();
}

#[test]
fn a_lost_map_output_is_made_again_and_the_job_goes_on() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([source(0, 2), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[10]);
    world.finish_map(1, &[10]);
    let loser = world.executor_of(0);
    let host = if loser.0 == 0 { "h1" } else { "h2" };

    let failed = world.fail(2, fetch_failed(0, 0, loser.0, host));
    let resubmitted = world.advance(millis(200));

    assert_eq!(
        failed.lines_with("stage-1.0"),
        [
            "forget stage-1.0".to_owned(),
            format!(
                "* stage-1.0 failed: cannot fetch shuffle-0 for partition-0, map partition-0, from {loser} on {host}: connection refused"
            ),
        ]
    );
    assert_eq!(resubmitted.partitions(), [0]);
    let again = resubmitted.attempts()[0];
    world.finish_map(again, &[10]);
    let last = world.finish(again + 1);
    assert_eq!(last.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}
