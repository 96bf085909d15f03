//! Fetch failures: what is made again, and when.

use firesteel_scheduler::{Event, SchedulerConfig, StageConfig};
use firesteel_types::{ExecutorId, FetchFailure, PartitionId, ShuffleId, TaskFailure};

use crate::harness::{World, fetch_failed, metadata_failed, millis, pinned, placed, shuffled};

/// Map partitions 0 and 1 on executors 0 and 1; two result tasks, attempts 2 and 3, run on executor 2.
fn reading(config: SchedulerConfig) -> World {
    let mut world = World::with(config);
    let nodes = [pinned(0, &[(0, "h1"), (1, "h2")]), placed(shuffled(1, 2, 0, 0), &[(2, "h3"), (2, "h3")])];
    world.executors(0, &["h1", "h2", "h3"], 2).rdds(nodes);
    world.submit(1);
    world.finish_maps(&[0, 1], 2);
    assert_eq!((world.attempt_of("stage-1.0", 0), world.attempt_of("stage-1.0", 1)), (2, 3));
    world
}

fn default_reading() -> World {
    reading(SchedulerConfig::default())
}

const MESSAGE: &str =
    "cannot fetch shuffle-0 for partition-0, map partition-0, from executor-0 on h1: connection refused";

/// Behaviours: DAG-029, DAG-035.
#[test]
fn a_fetch_failure_reruns_the_lost_output_and_then_what_is_unfinished() {
    let mut world = default_reading();

    let failed = world.fail(2, fetch_failed(0, 0, 0, "h1"));
    let finished = world.finish(3);
    let early = world.advance(millis(199));
    let resubmitted = world.advance(millis(1));
    let completed = world.finish_map(4, &[10, 10]);
    let last = world.finish(5);

    assert_eq!(
        failed.lines(),
        [
            "* attempt-2 ends: fetch failed".to_owned(),
            format!("* stage-1.0 failed: {MESSAGE}"),
            "remove blocks of executor-0".to_owned(),
        ]
    );
    assert_eq!(finished.lines(), ["forget stage-1.0", "* attempt-3 ends", "deliver job-0 [1] = attempt-3"]);
    assert_eq!(early.lines(), [""; 0]);
    assert_eq!(
        resubmitted.lines(),
        [
            "* stage-0.1 submitted, 1 tasks",
            "prepare stage-0.1 for shuffle-0",
            "* attempt-4 starts",
            "launch attempt-4 = stage-0.1 partition-0 try-0 on executor-0 Process",
        ]
    );
    assert_eq!(
        completed.lines(),
        [
            "forget stage-0.1",
            "* attempt-4 ends",
            "* stage-0.1 completed",
            "* stage-1.1 submitted, 1 tasks",
            "prepare stage-1.1 for job-0",
            "* attempt-5 starts",
            "launch attempt-5 = stage-1.1 partition-0 try-0 on executor-2 Process",
        ]
    );
    assert_eq!(
        last.lines(),
        [
            "forget stage-1.1",
            "* attempt-5 ends",
            "deliver job-0 [0] = attempt-5",
            "* stage-1.1 completed",
            "* job-0 ends",
            "job-0 succeeded",
        ]
    );
    world.assert_quiescent();
}

/// Behaviours: DAG-029.
#[test]
fn an_output_that_is_recorded_elsewhere_by_now_is_not_unregistered() {
    let mut world = default_reading();
    // The named executor never had the output: it was moved, or the report is late.
    let failed = world.fail(2, fetch_failed(0, 0, 7, "h7"));
    let resubmitted = world.resubmit();

    assert_eq!(failed.lines_with("blocks"), ["remove blocks of executor-7"]);
    assert_eq!(
        resubmitted.lines_with("submitted"),
        ["* stage-0.1 submitted, 0 tasks", "* stage-1.1 submitted, 2 tasks"]
    );
}

/// Behaviours: DAG-030, DAG-039.
#[test]
fn further_failures_of_the_same_attempt_change_nothing() {
    let mut world = default_reading();
    world.fail(2, fetch_failed(0, 0, 0, "h1"));
    world.advance(millis(100));

    let second = world.fail(3, fetch_failed(0, 0, 0, "h1"));
    let at_first = world.advance(millis(100));
    let at_second = world.advance(millis(100));

    assert_eq!(second.lines(), ["forget stage-1.0", "* attempt-3 ends: fetch failed"]);
    assert_eq!(at_first.lines_with("submitted"), ["* stage-0.1 submitted, 1 tasks"]);
    assert_eq!(at_second.lines(), [""; 0]);
}

/// The failed stages were submitted again, and the map stage runs, when the second report arrives.
///
/// Behaviours: DAG-030, DAG-031.
#[test]
fn a_late_failure_does_not_lead_to_two_attempts_of_the_map_stage() {
    let mut world = default_reading();
    world.fail(2, fetch_failed(0, 0, 0, "h1"));
    world.resubmit();

    let late = world.fail(3, fetch_failed(0, 1, 1, "h2"));
    let at_deadline = world.resubmit();
    let completed = world.finish_map(4, &[10, 10]);

    assert_eq!(
        late.lines(),
        ["forget stage-1.0", "* attempt-3 ends: fetch failed", "remove blocks of executor-1"]
    );
    assert_eq!(at_deadline.lines(), [""; 0], "stage 0 runs and stage 1 waits already");
    // The second output was lost while the stage ran, so another attempt follows, and only then the reader.
    assert_eq!(
        completed.lines(),
        [
            "forget stage-0.1",
            "* attempt-4 ends",
            "* stage-0.1 completed",
            "* stage-0.2 submitted, 1 tasks",
            "prepare stage-0.2 for shuffle-0",
            "* attempt-5 starts",
            "launch attempt-5 = stage-0.2 partition-1 try-0 on executor-1 Process",
        ]
    );
    let second = world.finish_map(5, &[10, 10]);
    assert_eq!(second.lines_with("submitted"), ["* stage-1.1 submitted, 2 tasks"]);
}

/// Behaviours: DAG-031.
#[test]
fn a_failure_of_an_older_attempt_is_ignored_completely() {
    let mut world = default_reading();
    world.fail(2, fetch_failed(0, 0, 0, "h1"));
    world.resubmit();
    world.finish_map(4, &[10, 10]);

    let late = world.fail(3, fetch_failed(0, 1, 1, "h2"));
    let at_deadline = world.resubmit();
    world.finish(5);
    let last = world.finish(6);

    assert_eq!(
        late.lines(),
        [
            "forget stage-1.0",
            "* attempt-3 ends: fetch failed",
            "ignored: stage-1.0 is not the latest attempt of its stage",
            "* attempt-6 starts",
            "launch attempt-6 = stage-1.1 partition-1 try-0 on executor-2 Process",
        ]
    );
    assert_eq!(at_deadline.lines(), [""; 0]);
    assert_eq!(last.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-035.
#[test]
fn every_output_of_the_named_executor_goes_of_every_shuffle() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 3).rdds([
        pinned(0, &[(0, "h1"), (0, "h1"), (1, "h2")]),
        placed(shuffled(1, 1, 0, 0), &[(0, "h1")]),
        placed(shuffled(2, 1, 1, 1), &[(1, "h2")]),
    ]);
    world.submit(2);
    for partition in 0..3 {
        let attempt = world.attempt_of("stage-0.0", partition);
        world.finish_maps(&[attempt], 1);
    }
    world.finish_maps(&[3], 1);

    let failed = world.fail(4, fetch_failed(1, 0, 0, "h1"));
    let resubmitted = world.resubmit();

    assert_eq!(failed.lines_with("blocks"), ["remove blocks of executor-0"]);
    // Stage 1 lost its output, and two of the three outputs it reads.
    assert_eq!(resubmitted.lines_with("submitted"), ["* stage-0.1 submitted, 2 tasks"]);
    assert_eq!(resubmitted.partitions(), [0, 1]);
}

fn unregistering_hosts(shuffle_service: bool) -> SchedulerConfig {
    let stages = StageConfig { unregister_host_on_fetch_failure: true, ..StageConfig::default() };
    SchedulerConfig { stages, shuffle_service, ..SchedulerConfig::default() }
}

/// Outputs 0 and 1 are on one host, at executors 0 and 1. How many are run again after a failure to fetch one?
fn rerun_after_failure(config: SchedulerConfig, before: impl FnOnce(&mut World)) -> Vec<String> {
    let mut world = World::with(config);
    let nodes = [pinned(0, &[(0, "h1"), (1, "h1")]), placed(shuffled(1, 1, 0, 0), &[(2, "h3")])];
    world.executors(0, &["h1", "h1", "h3"], 1).rdds(nodes);
    world.submit(1);
    world.finish_maps(&[0, 1], 1);
    before(&mut world);
    world.fail(2, fetch_failed(0, 0, 0, "h1"));
    world.resubmit().lines_with("submitted")
}

/// Behaviours: DAG-035.
#[test]
fn a_whole_host_is_written_off_only_where_that_is_wanted_and_likely() {
    let nothing = |_: &mut World| ();
    let decommission = |world: &mut World| {
        world.send(Event::ScalingRequested(firesteel_scheduler::Scaling::Decommission {
            executors: vec![ExecutorId(0)],
            worker_host: Some("h1".into()),
            adjust_target: false,
            by_executor: true,
        }));
    };
    let service = SchedulerConfig { shuffle_service: true, ..SchedulerConfig::default() };
    let one = ["* stage-0.1 submitted, 1 tasks"];
    let both = ["* stage-0.1 submitted, 2 tasks"];

    assert_eq!(rerun_after_failure(SchedulerConfig::default(), nothing), one);
    assert_eq!(rerun_after_failure(service, nothing), one, "it is not wanted");
    assert_eq!(rerun_after_failure(unregistering_hosts(false), nothing), one, "the other executor may live");
    assert_eq!(rerun_after_failure(unregistering_hosts(true), nothing), both);
    assert_eq!(rerun_after_failure(unregistering_hosts(false), decommission), both);
    assert_eq!(rerun_after_failure(SchedulerConfig::default(), decommission), one);
}

/// Behaviours: DAG-036.
#[test]
fn a_metadata_failure_retries_the_reader_and_unregisters_nothing() {
    let mut world = default_reading();

    let failed = world.fail(2, metadata_failed(0));
    let resubmitted = world.resubmit();

    assert_eq!(
        failed.lines(),
        [
            "* attempt-2 ends: fetch failed",
            "* stage-1.0 failed: cannot fetch shuffle-0 for partition-0: no locations"
        ]
    );
    assert_eq!(
        resubmitted.lines(),
        [
            "* stage-0.1 submitted, 0 tasks",
            "* stage-0.1 completed",
            "* stage-1.1 submitted, 2 tasks",
            "prepare stage-1.1 for job-0",
            "* attempt-4 starts",
            "launch attempt-4 = stage-1.1 partition-0 try-0 on executor-2 Process",
        ]
    );
}

/// Behaviours: DAG-043.
#[test]
fn lost_outputs_are_found_back_to_the_first_stage_that_lacks_some() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 2).rdds([
        pinned(0, &[(0, "h1")]),
        placed(shuffled(1, 1, 0, 0), &[(0, "h1")]),
        placed(shuffled(2, 1, 1, 1), &[(0, "h1")]),
        placed(shuffled(3, 1, 2, 2), &[(1, "h2")]),
    ]);
    world.submit(3);
    world.finish_maps(&[0, 1, 2], 1);

    let mut submitted = world.fail(3, fetch_failed(2, 0, 0, "h1")).lines_with("submitted");
    submitted.extend(world.resubmit().lines_with("submitted"));
    for attempt in 4..7 {
        submitted.extend(world.finish_maps(&[attempt], 1).lines_with("submitted"));
    }
    let last = world.finish(7);

    assert_eq!(
        submitted,
        [
            "* stage-0.1 submitted, 1 tasks",
            "* stage-1.1 submitted, 1 tasks",
            "* stage-2.1 submitted, 1 tasks",
            "* stage-3.1 submitted, 1 tasks",
        ]
    );
    assert_eq!(last.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

/// Reports that name what does not exist fail the attempt, as any report of a failure does, and harm nothing else.
///
/// Behaviours: DAG-029.
#[test]
fn a_failure_that_names_what_nobody_knows_is_harmless() {
    let mut world = default_reading();
    let absurd = TaskFailure::FetchFailed(FetchFailure {
        shuffle: ShuffleId(77),
        location: Some((ExecutorId(88), "h99".into())),
        map_partition: Some(PartitionId(99)),
        map_attempt: None,
        reduce_partition: PartitionId(5),
        message: "?".to_owned(),
    });

    world.fail(2, absurd);
    let again = world.resubmit();

    assert_eq!(again.lines_with("submitted"), ["* stage-1.1 submitted, 2 tasks"]);
}
