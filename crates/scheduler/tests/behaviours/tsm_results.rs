//! Results and tasks that are too large, and tasks that never leave the driver.

use firesteel_scheduler::{Event, FetchedResult, NotSent, ResultPlace, TaskOutcome, TaskStatus};
use firesteel_types::AttemptId;

use crate::harness::{World, map_outcome, shuffled, source};

fn result_of(size_bytes: u64) -> TaskStatus {
    TaskStatus::Finished(TaskOutcome { size_bytes, ..TaskOutcome::default() })
}

/// Behaviours: TSM-017.
#[test]
fn results_that_are_too_large_together_abort_the_set() {
    let mut world = World::config(|config| config.tasks.result_bytes_max = 100);
    world.executors(0, &["h1"], 3).rdds([source(0, 3)]);
    world.submit(0);

    let first = world.status(0, result_of(60));
    let second = world.status(1, result_of(41));
    let third = world.status(2, result_of(1));

    let reason = "total size of serialized results of 2 tasks (101 bytes) is bigger than \
                  firesteel.driver.maxResultSize (100 bytes)";
    assert_eq!(first.lines(), ["* attempt-0 ends", "deliver job-0 [0] = attempt-0"]);
    assert_eq!(
        second.lines(),
        [
            format!("* stage-0.0 failed: job aborted due to stage failure: {reason}"),
            format!("job-0 failed by stage-0: {reason}"),
            format!("* job-0 ends: job aborted due to stage failure: {reason}"),
            format!("kill attempt-2 on executor-0: job aborted due to stage failure: {reason}"),
            "* attempt-1 ends: killed: the results of its task set exceed the driver's limit".to_owned(),
        ]
    );
    assert_eq!(
        third.lines(),
        [
            "forget stage-0.0",
            "* attempt-2 ends: killed: the results of its task set exceed the driver's limit",
        ]
    );
    world.assert_quiescent();
}

/// Behaviours: TSM-017.
#[test]
fn a_large_result_that_waits_on_its_executor_is_dropped_there() {
    let mut world = World::config(|config| config.tasks.result_bytes_max = 100);
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);

    let outcome = TaskOutcome { result: ResultPlace::Indirect, size_bytes: 101, ..TaskOutcome::default() };
    let effects = world.status(0, TaskStatus::Finished(outcome));

    assert_eq!(effects.lines()[0], "drop result block of attempt-0");
    assert_eq!(effects.lines_with("job-0 failed").len(), 1);
    world.assert_quiescent();
}

/// Behaviours: TSM-017.
#[test]
fn a_limit_of_zero_is_none_and_map_tasks_are_never_checked() {
    let mut world = World::config(|config| config.tasks.result_bytes_max = 0);
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    let unlimited = world.status(0, result_of(u64::MAX));

    assert_eq!(unlimited.lines_with("succeeded"), ["job-0 succeeded"]);

    let mut world = World::config(|config| config.tasks.result_bytes_max = 100);
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    let outcome = TaskOutcome { size_bytes: 1000, ..map_outcome(&[1], None) };
    let map = world.status(0, TaskStatus::Finished(outcome));

    assert_eq!(map.lines_with("* stage-0.0"), ["* stage-0.0 completed"]);
}

/// Behaviours: TSM-018, TSI-006.
#[test]
fn a_task_that_cannot_be_sent_aborts_its_own_set_and_others_go_on() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 2), source(1, 1)]);
    world.submit(0);
    world.submit(1);

    let why = NotSent::NotSerializable { message: "a socket".into() };
    let not_sent = world.send(Event::TaskNotSent { attempt: AttemptId(0), why });

    let reason = "task 0 of stage-0.0 cannot be serialized: a socket";
    assert_eq!(
        not_sent.lines(),
        [
            "forget stage-0.0".to_owned(),
            format!("* stage-0.0 failed: job aborted due to stage failure: {reason}"),
            format!("job-0 failed by stage-0: {reason}"),
            format!("* job-0 ends: job aborted due to stage failure: {reason}"),
            "* attempt-0 ends: killed: it was not sent".to_owned(),
            "* attempt-1 starts".to_owned(),
            "launch attempt-1 = stage-1.0 partition-0 try-0 on executor-0 Process".to_owned(),
        ]
    );
    world.finish(1);
    world.assert_quiescent();
}

/// Behaviours: TSM-018.
#[test]
fn a_task_larger_than_a_message_aborts_its_set() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);

    let why = NotSent::TooLarge { size_bytes: 200 << 20 };
    let not_sent = world.send(Event::TaskNotSent { attempt: AttemptId(0), why: why.clone() });
    let late = world.send(Event::TaskNotSent { attempt: AttemptId(0), why });

    assert_eq!(
        not_sent.lines_with("job-0 failed"),
        ["job-0 failed by stage-0: task 0 of stage-0.0 is 209715200 bytes, which is not below \
          firesteel.rpc.message.maxSize (134217728 bytes); raise it or use broadcast variables for large values"]
    );
    assert_eq!(late.lines(), ["ignored: attempt-0 is not running"]);
    world.assert_quiescent();
}

/// Behaviours: TSM-019.
#[test]
fn a_task_above_1000_kib_is_warned_about_once_for_its_set() {
    let mut world = World::new();
    world.executors(0, &["h1"], 3).rdds([source(0, 3)]);
    world.submit(0);
    let mut sent = |attempt, size_bytes| {
        world.send(Event::LargeTaskSent { attempt: AttemptId(attempt), size_bytes }).lines()
    };

    let just_below = sent(0, 1000 << 10);
    let above = sent(1, (1000 << 10) + 1);
    let again = sent(2, 1 << 30);

    assert_eq!(just_below, [""; 0]);
    assert_eq!(above, ["warn: a task of stage-0.0 is 1024001 bytes; broadcast what it carries"]);
    assert_eq!(again, [""; 0]);
}

/// Behaviours: TSI-011.
#[test]
fn a_finished_attempt_frees_its_core_before_its_result_is_there() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 2)]);
    world.submit(0);

    let outcome = TaskOutcome { result: ResultPlace::Indirect, ..TaskOutcome::default() };
    let finished = world.status(0, TaskStatus::Finished(outcome));
    let fetched = world.send(Event::ResultFetched { attempt: AttemptId(0), outcome: FetchedResult::Fetched });
    let again = world.send(Event::ResultFetched { attempt: AttemptId(0), outcome: FetchedResult::Fetched });

    assert_eq!(
        finished.lines(),
        [
            "* attempt-0 getting result",
            "fetch result of attempt-0",
            "* attempt-1 starts",
            "launch attempt-1 = stage-0.0 partition-1 try-0 on executor-0 Process",
        ]
    );
    assert_eq!(fetched.lines(), ["* attempt-0 ends", "deliver job-0 [0] = attempt-0"]);
    assert_eq!(again.lines(), ["ignored: attempt-0 is not running"]);
}

/// Behaviours: TSI-011.
#[test]
fn a_result_on_its_way_is_lost_with_its_executor() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    let outcome = TaskOutcome { result: ResultPlace::Indirect, ..TaskOutcome::default() };
    world.status(0, TaskStatus::Finished(outcome));

    let lost = world.lose(0);
    let late = world.send(Event::ResultFetched { attempt: AttemptId(0), outcome: FetchedResult::Fetched });
    let elsewhere = world.executor(1, "h2", 1);

    assert_eq!(
        lost.lines(),
        ["* executor-0 removed: gone", "* attempt-0 ends: executor lost", "remove blocks of executor-0"]
    );
    assert_eq!(late.lines(), ["ignored: attempt-0 is not running"]);
    assert_eq!(elsewhere.attempts(), [1]);
}
