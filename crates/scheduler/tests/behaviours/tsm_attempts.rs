//! Attempts of one task: their numbers, which failures count, and when a set is given up.

use firesteel_scheduler::{Event, FetchedResult, ResultPlace, TaskOutcome, TaskStatus};
use firesteel_types::{AttemptId, ExecutorId, TaskFailure};

use crate::harness::{World, fetch_failed, shuffled, source};

/// Behaviours: TSM-001, TSM-003.
#[test]
fn a_failed_task_is_tried_again_under_the_next_number_and_attempts_are_numbered_across_sets() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 3), source(1, 1)]);

    let submitted = world.submit(0);
    let failed = world.panic(0);
    let finished = world.finish(1);
    let spare = world.finish(2);
    let other_job = world.submit(1);
    let last = world.finish(3);

    assert_eq!(
        submitted.lines(),
        [
            "* job-0 starts [stage-0.0]",
            "* stage-0.0 submitted, 3 tasks",
            "prepare stage-0.0 for job-0",
            "* attempt-0 starts",
            "launch attempt-0 = stage-0.0 partition-0 try-0 on executor-0 Process",
            "* attempt-1 starts",
            "launch attempt-1 = stage-0.0 partition-1 try-0 on executor-0 Process",
        ]
    );
    assert_eq!(
        failed.lines(),
        [
            "* attempt-0 ends: boom",
            "* attempt-2 starts",
            "launch attempt-2 = stage-0.0 partition-0 try-1 on executor-0 Process",
        ]
    );
    assert_eq!(
        finished.lines(),
        [
            "* attempt-1 ends",
            "deliver job-0 [1] = attempt-1",
            "* attempt-3 starts",
            "launch attempt-3 = stage-0.0 partition-2 try-0 on executor-0 Process",
        ]
    );
    assert_eq!(
        spare.lines(),
        ["* attempt-2 ends", "deliver job-0 [0] = attempt-2"],
        "nothing waits any more"
    );
    assert_eq!(
        other_job.lines(),
        [
            "* job-1 starts [stage-1.0]",
            "* stage-1.0 submitted, 1 tasks",
            "prepare stage-1.0 for job-1",
            "* attempt-4 starts",
            "launch attempt-4 = stage-1.0 partition-0 try-0 on executor-0 Process",
        ]
    );
    assert_eq!(
        last.lines(),
        [
            "forget stage-0.0",
            "* attempt-3 ends",
            "deliver job-0 [2] = attempt-3",
            "* stage-0.0 completed",
            "* job-0 ends",
            "job-0 succeeded",
        ]
    );
    world.finish(4);
    world.assert_quiescent();
}

/// Behaviours: TSM-001.
#[test]
fn attempts_of_a_stage_are_different_task_sets_and_number_their_tasks_anew() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1]);
    world.fail(1, fetch_failed(0, 0, 0, "h1"));

    let resubmitted = world.advance(crate::harness::millis(200));
    let again = world.finish_map(2, &[1]);

    assert_eq!(
        resubmitted.lines_with("launch"),
        ["launch attempt-2 = stage-0.1 partition-0 try-0 on executor-0 Process"]
    );
    assert_eq!(
        again.lines_with("launch"),
        ["launch attempt-3 = stage-1.1 partition-0 try-0 on executor-0 Node"]
    );
}

/// Behaviours: TSM-004.
#[test]
fn failures_that_are_nobodys_fault_are_retried_without_end() {
    let not_counted = [
        TaskFailure::killed("by hand"),
        TaskFailure::CommitDenied,
        TaskFailure::ExecutorShuttingDown,
        TaskFailure::ExecutorLost {
            executor: ExecutorId(0),
            caused_by_app: false,
            reason: "preempted".into(),
        },
    ];
    for failure in not_counted {
        let mut world = World::config(|config| config.tasks.failures_max = 1);
        world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
        world.submit(0);

        for attempt in 0..6 {
            let effects = world.fail(attempt, failure.clone());

            assert_eq!(
                effects.lines_with("launch"),
                [format!(
                    "launch attempt-{0} = stage-0.0 partition-0 try-{0} on executor-0 Process",
                    attempt + 1
                )],
                "{failure:?}"
            );
        }
        world.finish(6);
        world.assert_quiescent();
    }
}

/// Behaviours: TSM-004.
#[test]
fn failures_of_the_task_itself_count() {
    let counted = [
        TaskFailure::panicked("boom"),
        TaskFailure::ResultLost,
        TaskFailure::Unknown,
        TaskFailure::ExecutorLost {
            executor: ExecutorId(0),
            caused_by_app: true,
            reason: "killed it".into(),
        },
    ];
    for failure in counted {
        let mut world = World::config(|config| config.tasks.failures_max = 2);
        world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
        world.submit(0);

        let first = world.fail(0, failure.clone());
        let second = world.fail(1, failure.clone());

        assert_eq!(first.attempts(), [1], "{failure:?}");
        let reason = format!(
            "task 0 of stage-0.0 failed 2 times, most recently: task 0.1 of stage-0.0 (attempt-1) on executor-0: \
             {failure}"
        );
        assert_eq!(
            second.lines_with("job-0 failed"),
            [format!("job-0 failed by stage-0: {reason} ({failure})")],
        );
        world.assert_quiescent();
    }
}

/// Behaviours: TSM-004.
#[test]
fn a_result_that_is_gone_when_the_driver_fetches_it_counts() {
    let mut world = World::config(|config| config.tasks.failures_max = 2);
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    let outcome = TaskOutcome { result: ResultPlace::Indirect, ..TaskOutcome::default() };

    let finished = world.status(0, TaskStatus::Finished(outcome.clone()));
    let lost = world.send(Event::ResultFetched { attempt: AttemptId(0), outcome: FetchedResult::Lost });
    world.status(1, TaskStatus::Finished(outcome));
    let again = world.send(Event::ResultFetched { attempt: AttemptId(1), outcome: FetchedResult::Lost });

    assert_eq!(finished.lines(), ["* attempt-0 getting result", "fetch result of attempt-0"]);
    assert_eq!(
        lost.lines(),
        [
            "* attempt-0 ends: the result was lost before the driver fetched it",
            "* attempt-1 starts",
            "launch attempt-1 = stage-0.0 partition-0 try-1 on executor-0 Process",
        ]
    );
    assert_eq!(again.lines_with("job-0 failed").len(), 1);
    world.assert_quiescent();
}

/// Behaviours: TSM-005.
#[test]
fn four_failures_of_one_task_abort_the_set_and_every_task_has_its_own_count() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 2)]);
    world.submit(0);
    let (mut of_0, mut of_1) = (0, 1);
    for _ in 0..3 {
        of_0 = world.panic(of_0).attempts()[0];
        of_1 = world.panic(of_1).attempts()[0];
    }

    let fourth = world.panic(of_0);
    let late = world.fail(of_1, TaskFailure::killed("cancelled"));

    let reason = "task 0 of stage-0.0 failed 4 times, most recently: task 0.3 of stage-0.0 (attempt-6) on executor-0: boom";
    assert_eq!(
        fourth.lines(),
        [
            "* attempt-6 ends: boom".to_owned(),
            format!("* stage-0.0 failed: job aborted due to stage failure: {reason}"),
            format!("job-0 failed by stage-0: {reason} (boom)"),
            format!("* job-0 ends: job aborted due to stage failure: {reason}"),
            format!("kill attempt-7 on executor-0: job aborted due to stage failure: {reason}"),
        ]
    );
    assert_eq!(late.lines(), ["forget stage-0.0", "* attempt-7 ends: killed: cancelled"]);
    world.assert_quiescent();
}

/// Behaviours: TSM-005.
#[test]
fn a_task_whose_output_was_lost_after_it_succeeded_has_all_its_tries_again() {
    let mut world = World::config(|config| config.tasks.failures_max = 2);
    world.executors(0, &["h1"], 2).rdds([source(0, 2), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    let second_try = world.panic(0).attempts()[0];
    world.finish_map(second_try, &[1]);
    world.lose(0);
    world.executor(1, "h2", 2);
    let third = *world.launched.iter().find(|(_, task)| task.number.0 == 2).expect("it runs again").0;

    let failed = world.panic(third.0);

    assert_eq!(failed.attempts().len(), 1, "one failure since its success is not two");
}

/// Behaviours: TSM-010.
#[test]
fn failures_that_no_retry_can_help_abort_at_once_after_the_task_end_is_told() {
    let finals = [
        TaskFailure::ResultNotSerializable { message: "a socket".into() },
        TaskFailure::OutputExists { path: "/out/part-0".into() },
    ];
    for failure in finals {
        let mut world = World::new();
        world.executors(0, &["h1"], 1).rdds([source(0, 2)]);
        world.submit(0);

        let failed = world.fail(0, failure.clone());

        let reason = format!("task 0 of stage-0.0 cannot succeed: {failure}");
        assert_eq!(
            failed.lines(),
            [
                "forget stage-0.0".to_owned(),
                format!("* attempt-0 ends: {failure}"),
                format!("* stage-0.0 failed: job aborted due to stage failure: {reason}"),
                format!("job-0 failed by stage-0: {reason} ({failure})"),
                format!("* job-0 ends: job aborted due to stage failure: {reason}"),
            ]
        );
        world.assert_quiescent();
    }
}

/// Behaviours: TSM-014, TSI-011.
#[test]
fn a_second_report_of_an_attempt_changes_nothing() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 2)]);
    world.submit(0);
    world.finish(0);

    let finished_again = world.finish(0);
    let failed_after = world.panic(0);
    let running_after = world.running(0);
    let never_launched = world.finish(77);

    assert_eq!(finished_again.lines(), ["ignored: attempt-0 is not running"]);
    assert_eq!(failed_after.lines(), ["ignored: attempt-0 is not running"]);
    assert_eq!(running_after.lines(), ["ignored: attempt-0 is not running"]);
    assert_eq!(never_launched.lines(), ["ignored: attempt-77 is not running"]);
    let last = world.finish(1);
    assert_eq!(last.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: TSM-014.
#[test]
fn an_attempt_whose_result_is_on_the_way_cannot_end_a_second_time() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    let outcome = TaskOutcome { result: ResultPlace::Indirect, ..TaskOutcome::default() };
    world.status(0, TaskStatus::Finished(outcome.clone()));

    let again = world.status(0, TaskStatus::Finished(outcome));
    let failed = world.panic(0);
    let not_sent = world.send(Event::TaskNotSent {
        attempt: AttemptId(0),
        why: firesteel_scheduler::NotSent::TooLarge { size_bytes: 1 },
    });
    let killed = world.send(Event::TaskKillRequested {
        attempt: AttemptId(0),
        interrupt: false,
        reason: "too slow".into(),
    });

    assert_eq!(again.lines(), ["ignored: attempt-0 is not running"]);
    assert_eq!(failed.lines(), ["ignored: attempt-0 is not running"]);
    assert_eq!(not_sent.lines(), ["ignored: attempt-0 is not running"]);
    assert_eq!(killed.lines(), ["attempt-0 not found"]);
    world.send(Event::ResultFetched { attempt: AttemptId(0), outcome: FetchedResult::Fetched });
    world.assert_quiescent();
}

#[test]
fn a_report_from_an_executor_that_does_not_run_the_attempt_is_ignored() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([source(0, 1)]);
    world.submit(0);
    let liar = ExecutorId(1 - world.executor_of(0).0);

    let lie = world.send(Event::StatusUpdate {
        executor: liar,
        attempt: AttemptId(0),
        status: TaskStatus::Finished(TaskOutcome::default()),
    });

    assert_eq!(lie.lines(), [format!("ignored: attempt-0 does not run on {liar}")]);
    world.finish(0);
    world.assert_quiescent();
}
