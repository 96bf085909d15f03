//! Short tasks are sent before a slot is free: how many, how they begin, and how they end.

use firesteel_scheduler::{
    Event, Explanation, KeepAhead, NotSent, SchedulerConfig, SpeculationConfig, TaskStatus,
};
use firesteel_types::{
    AttemptId, ExecutorId, ExecutorLossReason, PartitionId, StageId, TaskFailure, TaskMetrics,
};
use std::time::Duration;

use crate::harness::{World, millis, secs, source};

/// A scheduler that keeps executors ahead as a cluster's does.
pub fn keeping_ahead() -> SchedulerConfig {
    let keep_ahead = KeepAhead { max_per_slot: 32, longest_task: millis(4) };
    SchedulerConfig { keep_ahead, ..SchedulerConfig::default() }
}

/// Forty tasks on one executor of one core, the first of which took a millisecond: two wait behind the second.
pub fn two_wait() -> World {
    let mut world = World::with(keeping_ahead());
    world.executors(0, &["h1"], 1).rdds([source(0, 40)]);
    world.submit(0);
    world.finish_in(0, 1000);
    world
}

#[test]
fn two_milliseconds_of_work_are_sent_ahead_once_a_task_was_short() {
    let mut world = World::with(keeping_ahead());
    world.executors(0, &["h1"], 1).rdds([source(0, 40)]);

    let submitted = world.submit(0);
    let finished = world.finish_in(0, 1000);

    assert_eq!(submitted.attempts(), [0], "the duration of a task is unknown");
    assert_eq!(
        finished.lines(),
        [
            "* attempt-0 ends",
            "deliver job-0 [0] = attempt-0",
            "* attempt-1 starts",
            "launch attempt-1 = stage-0.0 partition-1 try-0 on executor-0 Process",
            "launch attempt-2 = stage-0.0 partition-2 try-0 on executor-0 Process ahead",
            "launch attempt-3 = stage-0.0 partition-3 try-0 on executor-0 Process ahead",
        ]
    );
}

#[test]
fn a_task_that_was_sent_ahead_begins_when_one_before_it_ends_and_is_announced_then() {
    let mut world = two_wait();

    let first = world.finish_in(1, 1000);
    let second = world.finish_in(2, 1000);

    assert_eq!(
        first.lines(),
        [
            "* attempt-2 starts",
            "* attempt-1 ends",
            "deliver job-0 [1] = attempt-1",
            "launch attempt-4 = stage-0.0 partition-4 try-0 on executor-0 Process ahead",
        ]
    );
    assert_eq!(
        second.lines(),
        [
            "* attempt-3 starts",
            "* attempt-2 ends",
            "deliver job-0 [2] = attempt-2",
            "launch attempt-5 = stage-0.0 partition-5 try-0 on executor-0 Process ahead",
        ]
    );
    let status = world.scheduler.executor_status(ExecutorId(0)).expect("it is registered");
    assert_eq!((status.running, status.ahead), (vec![AttemptId(3)], vec![AttemptId(4), AttemptId(5)]));
    let stage = world.scheduler.stage_status(StageId(0)).expect("it is active");
    assert_eq!((stage.running_tasks, stage.ahead_tasks, stage.waiting_tasks), (1, 2, 34));
}

#[test]
fn reports_that_come_together_are_taken_in_their_order_and_filled_up_once() {
    let mut world = two_wait();
    let finished = [1, 2, 3].map(|attempt| {
        let status = TaskStatus::Finished(firesteel_scheduler::TaskOutcome::default());
        Event::StatusUpdate { executor: ExecutorId(0), attempt: AttemptId(attempt), status }
    });

    let mut effects = Vec::new();
    world.scheduler.handle_all(world.now, finished, &mut effects);

    let effects = crate::harness::Effects(effects);
    let order: Vec<_> =
        effects.lines_with("*").into_iter().map(|line| line.replace("attempt-", "")).collect();
    assert_eq!(order, ["* 2 starts", "* 1 ends", "* 3 starts", "* 2 ends", "* 3 ends", "* 4 starts"]);
    assert_eq!(effects.ahead(), [5, 6]);
}

#[test]
fn the_number_follows_what_tasks_take_and_has_a_bound() {
    let sent_after = |run_time_us: u64, tasks: u32, cores: u32| {
        let mut config = keeping_ahead();
        config.keep_ahead.max_per_slot = 10;
        let mut world = World::with(config);
        world.executors(0, &["h1"], cores).rdds([source(0, tasks)]);
        world.submit(0);
        world.finish_in(0, run_time_us).ahead().len()
    };

    assert_eq!([500, 1000, 4000, 4001].map(|us| sent_after(us, 1000, 1)), [4, 2, 1, 0]);
    assert_eq!([0, 1, 200, 250].map(|us| sent_after(us, 1000, 1)), [10, 10, 10, 8], "ten at most");
    assert_eq!(sent_after(500, 1000, 4), 16, "for each slot");
    assert_eq!(sent_after(0, 22, 2), 9, "half of the nineteen that wait");
    assert_eq!([5, 4, 3].map(|tasks| sent_after(0, tasks, 2)), [1, 0, 0], "the last ones wait for a slot");
}

#[test]
fn an_executor_gets_no_more_than_half_of_its_share() {
    let mut world = World::with(keeping_ahead());
    world.executors(0, &["h1", "h2", "h3"], 2).executor(3, "h4", 4);
    world.rdds([source(0, 90)]);
    world.submit(0);

    let small = world.status(
        world.launched.values().find(|task| task.executor == ExecutorId(0)).expect("all are busy").attempt.0,
        finished_in(10),
    );
    let large = world.status(
        world.launched.values().find(|task| task.executor == ExecutorId(3)).expect("all are busy").attempt.0,
        finished_in(10),
    );

    assert_eq!(small.ahead().len(), 7, "79 wait, and it has two of ten cores");
    assert_eq!(large.ahead().len(), 14, "71 wait, and it has four of ten cores");
}

fn finished_in(run_time_us: u64) -> TaskStatus {
    let metrics = TaskMetrics { run_time_us, ..TaskMetrics::default() };
    TaskStatus::Finished(firesteel_scheduler::TaskOutcome { metrics, ..Default::default() })
}

#[test]
fn slots_are_filled_up_when_half_of_what_waits_has_begun() {
    let mut world = World::with(keeping_ahead());
    world.executors(0, &["h1"], 1).rdds([source(0, 1000)]);
    world.submit(0);

    let sent: Vec<_> = (0..9).map(|attempt| world.finish_in(attempt, 250).ahead().len()).collect();

    assert_eq!(sent, [8, 0, 0, 0, 4, 0, 0, 0, 4]);
}

#[test]
fn nothing_is_sent_ahead_by_default() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 40)]);
    world.submit(0);

    assert_eq!(world.finish_in(0, 10).attempts(), [1]);
}

#[test]
fn an_attempt_that_waits_says_how_many_are_before_it() {
    let world = two_wait();

    let explained = |partition| match world.scheduler.explain(StageId(0), PartitionId(partition)) {
        Explanation::Running(attempts) => attempts[0].waits_behind,
        other => panic!("{other:?}"),
    };

    assert_eq!([1, 2, 3].map(explained), [None, Some(0), Some(1)]);
    assert_eq!(world.scheduler.explain_attempt(AttemptId(3)).and_then(|launch| launch.waits_behind), Some(1));
}

#[test]
fn a_loss_does_not_count_against_tasks_that_had_not_begun_and_listeners_never_hear_of_them() {
    let mut world = two_wait();
    world.finish_in(1, 1000);

    let lost = world.lose(0);
    let again = world.executor(1, "h2", 40);

    assert_eq!(
        lost.lines(),
        ["* executor-0 removed: gone", "* attempt-2 ends: executor lost", "remove blocks of executor-0"],
        "attempt-2 had begun, and attempts 3 and 4 waited behind it"
    );
    let tries: Vec<_> =
        again.launches().iter().take(3).map(|task| (task.partition.0, task.number.0)).collect();
    assert_eq!(tries, [(2, 1), (3, 1), (4, 1)]);
}

#[test]
fn a_task_that_takes_its_executor_down_from_the_queue_fails_its_set_in_the_end() {
    let mut config = keeping_ahead();
    config.tasks.failures_max = 2;
    let mut world = World::with(config);
    world.executors(0, &["h1"], 1).rdds([source(0, 40)]);
    world.submit(0);
    world.finish_in(0, 1000);
    // It is partition 2 that begins in the queue, and everything ends with it.
    world.finish_in(1, 1000);
    world.lose(0);
    world.executor(1, "h2", 1);
    world.running(5);

    let twice = world.lose(1);

    let failed = twice.lines_with("job-0 failed");
    assert_eq!(failed.len(), 1, "{:?}", twice.lines());
    assert!(failed[0].contains("task 2 of stage-0.0 failed 2 times"), "{failed:?}");
    world.assert_quiescent();
}

#[test]
fn an_attempt_that_waits_is_killed_like_one_that_runs() {
    let mut world = two_wait();
    let (attempt, interrupt, reason) = (AttemptId(3), false, "by hand".to_owned());

    let requested = world.send(Event::TaskKillRequested { attempt, interrupt, reason });
    let killed = world.fail(3, TaskFailure::killed("by hand"));

    assert_eq!(requested.lines(), ["kill attempt-3 on executor-0: by hand", "attempt-3 found"]);
    assert_eq!(
        killed.lines(),
        ["launch attempt-4 = stage-0.0 partition-3 try-1 on executor-0 Process ahead"],
        "it is tried again"
    );
}

#[test]
fn a_job_that_is_cancelled_ends_what_runs_and_what_waits() {
    let mut world = two_wait();

    let cancelled = world.cancel(firesteel_scheduler::Cancel::All);
    world.fail(3, TaskFailure::killed("as told"));
    world.fail(2, TaskFailure::killed("as told"));
    let last = world.fail(1, TaskFailure::killed("as told"));

    let kills = ["attempt-1", "attempt-2", "attempt-3"];
    let reason = "on executor-0: job-0 cancelled: all jobs were cancelled";
    assert_eq!(cancelled.lines_with("kill "), kills.map(|attempt| format!("kill {attempt} {reason}")));
    assert_eq!(cancelled.lines_with("take"), [""; 0], "they are told to end already");
    assert_eq!(last.lines(), ["forget stage-0.0", "* attempt-1 ends: killed: as told"]);
    world.assert_quiescent();
}

#[test]
fn an_attempt_that_ends_out_of_turn_has_begun_all_the_same() {
    let mut world = two_wait();

    let early = world.running(3);
    let finished = world.finish_in(3, 1000);

    assert_eq!(early.lines(), ["ignored: attempt-3 is not running"], "attempt-2 was sent before it");
    assert_eq!(
        finished.lines(),
        [
            "* attempt-3 starts",
            "* attempt-3 ends",
            "deliver job-0 [3] = attempt-3",
            "launch attempt-4 = stage-0.0 partition-4 try-0 on executor-0 Process ahead",
        ]
    );
}

#[test]
fn a_task_that_was_to_be_sent_ahead_and_was_not_ends_its_set() {
    let mut world = two_wait();
    let why = NotSent::TooLarge { size_bytes: 1 << 30 };

    let not_sent = world.send(Event::TaskNotSent { attempt: AttemptId(3), why });

    assert_eq!(
        not_sent.lines_with("* attempt-"),
        ["* attempt-3 starts", "* attempt-3 ends: killed: it was not sent"]
    );
    assert_eq!(not_sent.lines_with("kill attempt-").len(), 2, "attempts 1 and 2");
    assert_eq!(not_sent.lines_with("job-0 failed by stage-0").len(), 1);
}

#[test]
fn a_set_whose_tasks_wait_on_an_executor_that_goes_leaves_nothing_behind() {
    let mut world = two_wait();
    world.cancel(firesteel_scheduler::Cancel::All);

    let lost = world.lose_with(0, ExecutorLossReason::Killed);

    assert_eq!(
        lost.lines_with("attempt"),
        ["* attempt-1 ends: executor lost, not by app"],
        "the others were never reported"
    );
    world.advance(secs(1));
    world.assert_quiescent();
}

#[test]
fn what_a_task_waited_on_its_executor_is_not_time_that_it_ran() {
    let mut config = keeping_ahead();
    config.speculation = Some(SpeculationConfig {
        quantile_permille: 20,
        multiplier_permille: 1000,
        duration_threshold: None,
        efficiency: None,
        ..SpeculationConfig::default()
    });
    let mut world = World::with(config);
    world.executors(0, &["h1"], 1).rdds([source(0, 40)]);
    world.submit(0);
    world.finish_in(0, 1000);
    // Another executor is busy with what waits, so that it is not taken back.
    world.executor(1, "h2", 1);

    world.advance(Duration::from_millis(90));
    let began = world.finish_in(1, 1000);
    let copied_early = world.advance(millis(100));
    let copied = world.advance(millis(100));

    assert_eq!(began.lines_with("attempt-2 starts").len(), 1);
    let speculatable = |effects: &crate::harness::Effects| effects.lines_with("speculatable");
    assert_eq!(speculatable(&copied_early), ["* stage-0.0 partition-4 speculatable"], "it ran on executor 1");
    assert_eq!(speculatable(&copied), ["* stage-0.0 partition-2 speculatable"], "which began at 90 ms");
}

#[test]
fn a_task_whose_end_is_told_with_that_of_the_one_before_it_has_run_as_long_as_it_says() {
    let mut config = keeping_ahead();
    // Three finished tasks are enough.
    let speculation = SpeculationConfig {
        quantile_permille: 75,
        multiplier_permille: 1000,
        efficiency: None,
        ..SpeculationConfig::default()
    };
    config.speculation = Some(speculation);
    let mut world = World::with(config);
    world.executors(0, &["h1"], 1).rdds([source(0, 40)]);
    world.submit(0);
    world.finish_in(0, 1000);

    world.now += millis(200);
    let told = [(1, 200_000), (2, 150_000)].map(|(attempt, run_time_us)| {
        let status = finished_in(run_time_us);
        Event::StatusUpdate { executor: ExecutorId(0), attempt: AttemptId(attempt), status }
    });
    world.scheduler.handle_all(world.now, told, &mut Vec::new());
    let early = world.advance(millis(149));
    let late = world.advance(millis(100));

    assert_eq!(early.lines_with("speculatable"), [""; 0], "the median is 150 ms");
    assert_eq!(late.lines_with("speculatable"), ["* stage-0.0 partition-3 speculatable"]);
}
