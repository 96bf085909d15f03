//! Jobs that use the same shuffle, at once and one after the other.

use firesteel_scheduler::{Cancel, Effect, Event, PoolConfig, SchedulerConfig};
use firesteel_types::{JobId, Properties};

use crate::harness::{Effects, World, fetch_failed, metadata_failed, pinned, placed, shuffled, source};

/// The description that each stage attempt is prepared with.
fn described(effects: &Effects) -> Vec<String> {
    let describe = |effect: &Effect| match effect {
        Effect::PrepareStage(stage) => {
            let text = stage.properties.get(Properties::DESCRIPTION).unwrap_or("nothing");
            Some(format!("{} for {text}", stage.set))
        }
        _ => None,
    };
    effects.0.iter().filter_map(describe).collect()
}

fn description(text: &str) -> Properties {
    Properties::default().with(Properties::DESCRIPTION, text)
}

/// Behaviours: DAG-026.
#[test]
fn jobs_that_are_active_at_once_share_the_stage_of_a_shuffle() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);

    let second = world.submit(1);
    let completed = world.finish_map(0, &[1]);
    world.finish(1);
    let last = world.finish(2);

    assert_eq!(second.lines(), ["* job-1 starts [stage-0.0, stage-2.0]"]);
    assert_eq!(
        completed.lines_with("submitted"),
        ["* stage-1.0 submitted, 1 tasks", "* stage-2.0 submitted, 1 tasks"]
    );
    assert_eq!(last.lines_with("succeeded"), ["job-1 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-026.
#[test]
fn a_later_job_skips_a_stage_whose_outputs_are_complete() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1]);
    world.finish(1);

    let later = world.submit(1);
    world.fail(2, fetch_failed(0, 0, 0, "h1"));
    let rerun = world.resubmit();

    assert_eq!(
        later.lines(),
        [
            "* job-1 starts [stage-2.0, stage-3.0]",
            "* stage-3.0 submitted, 1 tasks",
            "prepare stage-3.0 for job-1",
            "* attempt-2 starts",
            "launch attempt-2 = stage-3.0 partition-0 try-0 on executor-0 Node",
        ]
    );
    // The skip took attempt 0 of stage 2.
    assert_eq!(rerun.lines_with("submitted"), ["* stage-2.1 submitted, 1 tasks"]);
}

/// Behaviours: DAG-046.
#[test]
fn a_stage_runs_for_the_oldest_job_that_uses_it() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);

    let first = world.submit_with(1, description("first"));
    let second = world.submit_with(1, description("second"));
    let released = world.finish_map(0, &[1]);
    world.fail(2, fetch_failed(0, 0, 0, "h1"));
    let rerun = world.resubmit();

    assert_eq!(described(&first), ["stage-0.0 for first"]);
    assert_eq!(described(&second), [""; 0]);
    assert_eq!(described(&released), ["stage-1.0 for first", "stage-2.0 for second"]);
    assert_eq!(described(&rerun), ["stage-0.1 for first"], "though only the second job misses an output");
}

/// Behaviours: DAG-046.
#[test]
fn a_later_attempt_runs_for_the_next_job_when_the_first_was_cancelled() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 2).rdds([
        pinned(0, &[(0, "h1")]),
        placed(shuffled(1, 1, 0, 0), &[(1, "h2")]),
        placed(shuffled(2, 1, 1, 1), &[(1, "h2")]),
    ]);
    world.submit_with(2, description("first"));
    world.submit_with(2, description("second"));
    world.finish_maps(&[0], 1);
    world.fail(1, fetch_failed(0, 0, 0, "h1"));

    let cancelled = world.cancel(Cancel::Job(JobId(0)));
    let resubmitted = world.resubmit();
    let completed = world.finish_maps(&[2], 1);

    assert_eq!(
        cancelled.lines(),
        [
            "job-0 failed: job-0 cancelled: cancelled by the user",
            "* job-0 ends: job-0 cancelled: cancelled by the user",
        ]
    );
    assert_eq!(described(&resubmitted), ["stage-0.1 for second"]);
    assert_eq!(described(&completed), ["stage-1.1 for second"]);
}

/// Two stages compete for one slot. The task set that was submitted for job 0 keeps its place in the queue.
///
/// Behaviours: DAG-046.
#[test]
fn a_task_set_keeps_the_priority_it_was_submitted_with() {
    let mut world =
        World::with(SchedulerConfig { pools: PoolConfig::default(), ..SchedulerConfig::default() });
    world.executors(0, &["h1"], 1).rdds([source(0, 2), shuffled(1, 1, 0, 0), source(2, 2)]);
    world.submit(1);
    world.submit(2);
    world.submit(1);

    // Stage 0 was submitted for job 0 and is used by job 2 as well; job 1 is in between.
    world.cancel(Cancel::Job(JobId(0)));
    let next = world.finish_map(0, &[1]);
    // A new attempt is one for job 2, behind job 1.
    world.send(Event::WorkerRemoved { host: "h1".into(), message: "gone".to_owned() });
    let after = world.finish_map(1, &[1]);

    assert_eq!(
        next.lines_with("launch"),
        ["launch attempt-1 = stage-0.0 partition-1 try-0 on executor-0 Process"]
    );
    assert_eq!(after.lines_with("submitted"), ["* stage-0.1 submitted, 1 tasks"]);
    assert_eq!(
        after.lines_with("launch"),
        ["launch attempt-2 = stage-2.0 partition-0 try-0 on executor-0 Process"]
    );
}

/// The other job's result stage is not touched when the shared map stage must run again.
///
/// Behaviours: DAG-026, DAG-029.
#[test]
fn a_job_that_has_read_a_shared_shuffle_is_not_disturbed_by_its_rerun() {
    let mut world = World::new();
    world.executors(0, &["h1"], 3).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.submit(1);
    world.finish_map(0, &[1]);
    world.fail(1, metadata_failed(0));

    let other = world.finish(2);
    let resubmitted = world.resubmit();
    let last = world.finish(3);

    assert_eq!(other.lines_with("succeeded"), ["job-1 succeeded"]);
    assert_eq!(
        resubmitted.lines_with("submitted"),
        ["* stage-0.1 submitted, 0 tasks", "* stage-1.1 submitted, 1 tasks"]
    );
    assert_eq!(last.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}
