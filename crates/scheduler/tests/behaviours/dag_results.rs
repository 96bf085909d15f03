//! Results, each handed out once, and what counts when attempts are repeated.

use firesteel_scheduler::{Event, SchedulerConfig, SpeculationConfig, TaskOutcome, TaskStatus};
use firesteel_types::{AttemptId, ExecutorId, JobId, TaskFailure, TaskMetrics};

use crate::harness::{
    Effects, World, fetch_failed, map_outcome, metadata_failed, pinned, secs, shuffled, source,
};

impl World {
    /// An attempt finishes with accumulator updates.
    fn finish_counting(&mut self, attempt: u64) -> Effects {
        self.status(
            attempt,
            TaskStatus::Finished(TaskOutcome { accumulators: true, ..TaskOutcome::default() }),
        )
    }

    fn finish_map_counting(&mut self, attempt: u64) -> Effects {
        let outcome = TaskOutcome { accumulators: true, ..map_outcome(&[10], None) };
        self.status(attempt, TaskStatus::Finished(outcome))
    }

    fn fail_counting(&mut self, attempt: u64, failure: TaskFailure) -> Effects {
        self.status(
            attempt,
            TaskStatus::Failed { failure, metrics: TaskMetrics::default(), accumulators: true },
        )
    }
}

fn speculating() -> World {
    let speculation = SpeculationConfig { quantile_permille: 500, ..SpeculationConfig::default() };
    World::with(SchedulerConfig { speculation: Some(speculation), ..SchedulerConfig::default() })
}

/// One executor for each of four tasks, of which the last is slow enough to get a second copy on executor 4.
fn world_with_a_copy() -> (World, u64) {
    let mut world = speculating();
    let places = [(0, "h0"), (1, "h1"), (2, "h2"), (3, "h3")];
    world.executors(0, &["h0", "h1", "h2", "h3"], 1).rdds([pinned(0, &places)]);
    world.submit(0);
    world.advance(secs(1));
    for partition in 0..3 {
        let attempt = world.attempt_of("stage-0.0", partition);
        world.finish(attempt);
    }
    let slow = world.attempt_of("stage-0.0", 3);
    world.executor(4, "h4", 1);
    let copied = world.advance(secs(60));
    assert_eq!(copied.partitions(), [3], "{:?}", copied.lines());
    (world, slow)
}

/// Behaviours: DAG-016.
#[test]
fn only_the_requested_partitions_run_and_results_go_to_their_positions() {
    let mut world = World::new();
    world.executors(0, &["h1"], 4).rdds([source(0, 6)]);

    let submitted = world.submit_partitions(0, &[5, 1, 5]);
    let delivered: Vec<_> = [1, 2, 0].into_iter().map(|attempt| world.finish(attempt).lines()).collect();

    assert_eq!(
        submitted.lines_with("launch"),
        [
            "launch attempt-0 = stage-0.0 partition-5 try-0 on executor-0 Process",
            "launch attempt-1 = stage-0.0 partition-1 try-0 on executor-0 Process",
            "launch attempt-2 = stage-0.0 partition-5 try-0 on executor-0 Process",
        ]
    );
    assert_eq!(delivered[0], ["* attempt-1 ends", "deliver job-0 [1] = attempt-1"]);
    assert_eq!(delivered[1], ["* attempt-2 ends", "deliver job-0 [2] = attempt-2"]);
    assert_eq!(
        delivered[2],
        [
            "forget stage-0.0",
            "* attempt-0 ends",
            "deliver job-0 [0] = attempt-0",
            "* stage-0.0 completed",
            "* job-0 ends",
            "job-0 succeeded",
        ]
    );
    world.assert_quiescent();
}

/// A late success of one position must not be taken for the other position of the same partition.
///
/// Behaviours: DAG-016, DAG-041.
#[test]
fn a_partition_wanted_twice_is_delivered_twice_also_across_attempts_of_the_stage() {
    let mut world = World::new();
    world.executors(0, &["h1"], 4).rdds([source(0, 1), shuffled(1, 2, 0, 0)]);
    world.submit_partitions(1, &[1, 1]);
    world.finish_map(0, &[1, 1]);
    world.fail(1, metadata_failed(0));

    // The other task of the failed attempt succeeds after the stage was submitted again.
    let resubmitted = world.resubmit();
    let late = world.finish(2);
    let last = world.finish(3);

    assert_eq!(resubmitted.partitions(), [1, 1]);
    assert_eq!(late.lines(), ["forget stage-1.0", "* attempt-2 ends", "deliver job-0 [1] = attempt-2"]);
    assert_eq!(
        last.lines(),
        [
            "* attempt-3 ends",
            "deliver job-0 [0] = attempt-3",
            "* stage-1.1 completed",
            "* job-0 ends",
            "job-0 succeeded",
            "kill attempt-4 on executor-0: the stage is finished",
        ]
    );
    world.fail(4, TaskFailure::killed("the stage is finished"));
    world.assert_quiescent();
}

/// Results are effects in one list, so they reach the handler one at a time. Nothing follows a failure.
///
/// Behaviours: DAG-018.
#[test]
fn results_come_one_by_one_and_the_first_failure_is_the_only_one() {
    let mut world = World::new();
    world.executors(0, &["h1"], 3).rdds([source(0, 3)]);
    world.submit(0);
    let status = |attempt: u64, status: TaskStatus| Event::StatusUpdate {
        executor: ExecutorId(0),
        attempt: AttemptId(attempt),
        status,
    };
    let failed = TaskStatus::Failed {
        failure: TaskFailure::ResultNotSerializable { message: "a socket".to_owned() },
        metrics: TaskMetrics::default(),
        accumulators: false,
    };
    let together = [
        status(2, TaskStatus::Finished(TaskOutcome::default())),
        status(1, failed),
        status(0, TaskStatus::Finished(TaskOutcome::default())),
        Event::ResultHandlerFailed { job: JobId(0), message: "no".to_owned() },
    ];

    let mut effects = Vec::new();
    world.scheduler.handle_all(world.now, together, &mut effects);

    let outcomes: Vec<_> = Effects(effects)
        .lines()
        .into_iter()
        .filter(|line| !line.starts_with('*') && line.contains("job-0"))
        .collect();
    assert_eq!(
        outcomes,
        [
            "deliver job-0 [2] = attempt-2",
            "job-0 failed by stage-0: task 1 of stage-0.0 cannot succeed: the result cannot be serialized: a socket \
             (the result cannot be serialized: a socket)",
            "ignored: job-0 is not active",
        ]
    );
    world.assert_quiescent();
}

/// Behaviours: DAG-019, ACC-001.
#[test]
fn a_second_success_of_a_result_partition_is_not_delivered_and_not_counted() {
    let mut world = World::new();
    world.executors(0, &["h1"], 6).rdds([source(0, 1), shuffled(1, 3, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1; 3]);
    world.fail(1, metadata_failed(0));
    world.resubmit();

    // Partition 1 runs in both attempts of the stage.
    let first = world.finish_counting(2);
    let second = world.finish_counting(5);

    assert_eq!(
        first.lines(),
        ["merge All of attempt-2", "* attempt-2 ends", "deliver job-0 [1] = attempt-2"]
    );
    assert_eq!(second.lines(), ["* attempt-5 ends"]);
}

/// Behaviours: DAG-020.
#[test]
fn a_result_handler_that_fails_fails_its_job_alone() {
    let mut world = World::new();
    world.executors(0, &["h1"], 3).rdds([source(0, 2)]);
    world.submit(0);
    world.submit(0);
    world.finish(0);

    let failed = world.send(Event::ResultHandlerFailed { job: JobId(0), message: "disk full".to_owned() });
    let repeated = world.send(Event::ResultHandlerFailed { job: JobId(0), message: "disk full".to_owned() });
    let late = world.finish(1);

    let reason = "the result handler failed: disk full";
    assert_eq!(
        failed.lines(),
        [
            format!("* stage-0.0 failed: {reason}"),
            format!("job-0 failed: {reason}"),
            format!("* job-0 ends: {reason}"),
            format!("kill attempt-1 on executor-0: {reason}"),
        ]
    );
    assert_eq!(repeated.lines(), ["ignored: job-0 is not active"]);
    assert_eq!(late.lines(), ["forget stage-0.0", "* attempt-1 ends"]);
    world.finish(2);
    let other = world.finish(3);
    assert_eq!(other.lines_with("succeeded"), ["job-1 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-021.
#[test]
fn the_last_result_kills_second_copies() {
    let (mut world, slow) = world_with_a_copy();
    let copy = world.attempt_of("stage-0.0", 3);

    let last = world.finish(copy);
    let killed = world.fail(slow, TaskFailure::killed("another attempt succeeded"));

    assert_eq!(
        last.lines(),
        [
            format!("kill attempt-{slow} on executor-3 with interrupt: another attempt succeeded"),
            format!("* attempt-{copy} ends"),
            format!("deliver job-0 [3] = attempt-{copy}"),
            "* stage-0.0 completed".to_owned(),
            "* job-0 ends".to_owned(),
            "job-0 succeeded".to_owned(),
            format!("kill attempt-{slow} on executor-3: the stage is finished"),
        ]
    );
    assert_eq!(
        killed.lines(),
        ["forget stage-0.0".to_owned(), format!("* attempt-{slow} ends: killed: another attempt succeeded"),]
    );
    world.assert_quiescent();
}

/// One copy of a reader fails to fetch, so the map stage runs again; then the other copy gets through.
///
/// Behaviours: DAG-021.
#[test]
fn the_last_result_cancels_map_stages_that_only_this_job_needs() {
    let mut world = speculating();
    world.executors(0, &["h1", "h2"], 2).rdds([pinned(0, &[(0, "h1")]), shuffled(1, 2, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[10, 10]);
    world.advance(secs(1));
    world.finish(1);
    let copied = world.advance(secs(60));
    world.fail(2, fetch_failed(0, 0, 0, "h1"));
    let resubmitted = world.resubmit();

    let last = world.finish(3);
    let killed = world.fail(4, TaskFailure::killed("job-0 is finished"));

    assert_eq!(
        copied.lines_with("launch"),
        ["launch attempt-3 = stage-1.0 partition-1 try-1 copy on executor-1 Any"]
    );
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
        last.lines(),
        [
            "forget stage-1.0",
            "* attempt-3 ends",
            "deliver job-0 [1] = attempt-3",
            "* stage-0.1 failed: job-0 is finished",
            "* job-0 ends",
            "job-0 succeeded",
            "kill attempt-4 on executor-0: job-0 is finished",
        ]
    );
    assert_eq!(killed.lines(), ["forget stage-0.1", "* attempt-4 ends: killed: job-0 is finished"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-022.
#[test]
fn listeners_hear_of_the_end_of_tasks_whose_job_is_long_over() {
    let mut world = World::new();
    world.executors(0, &["h1"], 3).rdds([source(0, 3)]);
    world.submit(0);
    world.fail(0, TaskFailure::OutputExists { path: "/out".to_owned() });

    let succeeded = world.finish_counting(1);
    let killed = world.fail_counting(2, TaskFailure::killed("the job failed"));
    let repeated = world.finish(2);

    assert_eq!(succeeded.lines(), ["* attempt-1 ends"]);
    assert_eq!(killed.lines(), ["forget stage-0.0", "* attempt-2 ends: killed: the job failed"]);
    assert_eq!(repeated.lines(), ["ignored: attempt-2 is not running"]);
    world.assert_quiescent();
}

/// Behaviours: ACC-002.
#[test]
fn a_map_partition_that_is_computed_again_is_counted_again() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);

    let first = world.finish_map_counting(0);
    world.fail(1, fetch_failed(0, 0, 0, "h1"));
    world.resubmit();
    let second = world.finish_map_counting(2);

    assert_eq!(first.lines_with("merge"), ["merge All of attempt-0"]);
    assert_eq!(second.lines_with("merge"), ["merge All of attempt-2"]);
}

/// Behaviours: ACC-003.
#[test]
fn failed_and_killed_tasks_count_only_what_is_marked_to_count_on_failure() {
    let failures = [
        (TaskFailure::panicked("boom"), true),
        (TaskFailure::killed("by hand"), true),
        (TaskFailure::ResultNotSerializable { message: "a socket".to_owned() }, true),
        (TaskFailure::OutputExists { path: "/out".to_owned() }, true),
        (TaskFailure::ResultLost, false),
        (TaskFailure::CommitDenied, false),
        (TaskFailure::ExecutorShuttingDown, false),
        (TaskFailure::Unknown, false),
        (metadata_failed(0), false),
    ];
    for (failure, counts) in failures {
        let mut world = World::new();
        world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
        world.submit(0);

        let failed = world.fail_counting(0, failure.clone());

        let expected: &[&str] = if counts { &["merge CountedOnFailure of attempt-0"] } else { &[] };
        assert_eq!(failed.lines_with("merge"), expected, "{failure}");
    }
}

/// Behaviours: ACC-003.
#[test]
fn a_report_without_updates_merges_nothing() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);

    let panicked = world.panic(0);
    let finished = world.finish(1);

    assert_eq!(panicked.lines_with("merge"), [""; 0]);
    assert_eq!(finished.lines_with("merge"), [""; 0]);
}

/// Behaviours: ACC-008.
#[test]
fn figures_in_heartbeats_never_change_totals() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    let figures = TaskMetrics { input_records: 7, ..TaskMetrics::default() };
    let beat = |executor: u32, attempt: u64| Event::Heartbeat {
        executor: ExecutorId(executor),
        block_manager_known: true,
        running: vec![(AttemptId(attempt), figures)],
    };

    let own = world.send(beat(0, 0));
    let unknown = world.send(beat(0, 9));
    let finished = world.finish_counting(0);

    assert_eq!(own.0.len(), 1, "only the answer: {:?}", own.lines());
    assert_eq!(unknown.lines(), own.lines());
    assert_eq!(finished.lines_with("merge"), ["merge All of attempt-0"]);
}
