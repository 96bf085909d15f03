//! Tasks that are too large to send, and tasks that end their executor.

use std::time::Duration;

use firesteel_scheduler::{Event, NotSent, Readiness, SchedulerConfig, TaskConfig};
use firesteel_types::{AttemptId, Cpus, ExecutorId, ExecutorLossReason};

use crate::harness::{World, secs, source};

/// Behaviours: BACK-006.
#[test]
fn a_task_at_the_message_limit_is_too_large() {
    let tasks = TaskConfig::default();
    let limit = 128 << 20;

    assert_eq!(tasks.check_size(limit - 1), Ok(()));
    assert_eq!(tasks.check_size(limit), Err(NotSent::TooLarge { size_bytes: limit }));
}

/// Behaviours: BACK-006.
#[test]
fn a_task_too_large_to_send_aborts_its_set_and_takes_no_cores() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 3)]);
    world.submit(0);
    let why = NotSent::TooLarge { size_bytes: 200 << 20 };

    let aborted = world.send(Event::TaskNotSent { attempt: AttemptId(0), why });

    let reason = "task 0 of stage-0.0 is 209715200 bytes, which is not below firesteel.rpc.message.maxSize (134217728 \
                  bytes); raise it or use broadcast variables for large values";
    let text = format!("job aborted due to stage failure: {reason}");
    assert_eq!(
        aborted.lines(),
        [
            format!("* stage-0.0 failed: {text}"),
            format!("job-0 failed by stage-0: {reason}"),
            format!("* job-0 ends: {text}"),
            format!("kill attempt-1 on executor-0: {text}"),
            "* attempt-0 ends: killed: it was not sent".to_owned(),
        ]
    );
    let free = world.scheduler.executor_status(ExecutorId(0)).map(|status| status.cpus_free);
    assert_eq!(free, Some(Cpus::ONE), "only the task that was sent holds a core");
    world.fail(1, firesteel_types::TaskFailure::killed("told to"));
    world.assert_quiescent();
}

/// Behaviours: BACK-010.
#[test]
fn a_task_that_ends_its_executor_four_times_fails_the_job_and_not_the_cluster() {
    for code in [0, 1, 50] {
        let mut world = World::new();
        world.rdds([source(0, 1)]);
        world.executor(0, "h1", 1);
        world.submit(0);
        let mut last = Vec::new();
        for round in 0..4 {
            world.running(u64::from(round));
            assert_eq!(world.executor_of(u64::from(round)), ExecutorId(round));
            let exit = ExecutorLossReason::from_exit(Some(code), "ended", None);
            last = world.lose_with(round, exit).lines_with("job-0 failed");
            world.executor(round + 1, "h1", 1);
        }

        let cause = format!("executor-3 lost: exited with code {code}: ended");
        let reason = format!(
            "job-0 failed by stage-0: task 0 of stage-0.0 failed 4 times, most recently: task 0.3 of stage-0.0 \
             (attempt-3) on executor-3: {cause} ({cause})"
        );
        assert_eq!(last, [reason]);
        world.assert_quiescent();
        world.submit(0);
        assert_eq!(world.finish(4).lines_with("succeeded"), ["job-1 succeeded"]);
    }
}

/// Behaviours: BACK-009, BACK-010.
#[test]
fn an_executor_that_ends_through_no_fault_of_its_task_is_not_counted() {
    let mut world = World::new();
    world.rdds([source(0, 1)]);
    world.executor(0, "h1", 1);
    world.submit(0);

    for round in 0..10 {
        world.running(u64::from(round));
        let lost = world.lose_with(round, ExecutorLossReason::from_exit(Some(56), "no driver", None));
        assert_eq!(lost.lines_with("ends"), [format!("* attempt-{round} ends: executor lost, not by app")]);
        world.executor(round + 1, "h1", 1);
    }

    assert_eq!(world.finish(10).lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

fn waiting_for_cores(ratio_permille: u64) -> World {
    let mut config = SchedulerConfig::default();
    config.executors.cores_max = Some(10);
    config.executors.registered_ratio_permille = ratio_permille;
    World::with(config)
}

/// Behaviours: TSI-019.
#[test]
fn the_first_job_waits_for_enough_cores() {
    let mut world = waiting_for_cores(800);
    let started = world.now;
    let until = started + secs(30);

    assert_eq!(world.scheduler.readiness(world.now, started), Readiness::WaitUntil(until));
    world.register(0, "h1", 7);
    assert_eq!(world.scheduler.readiness(world.now, started), Readiness::WaitUntil(until));
    world.register(1, "h2", 1);
    assert_eq!(world.scheduler.readiness(world.now, started), Readiness::Ready);
}

/// Behaviours: TSI-019.
#[test]
fn the_wait_for_cores_ends_after_thirty_seconds_or_with_the_context() {
    let mut world = waiting_for_cores(800);
    let started = world.now;
    let almost = started + Duration::from_millis(29_999);

    assert_eq!(world.scheduler.readiness(almost, started), Readiness::WaitUntil(started + secs(30)));
    assert_eq!(world.scheduler.readiness(started + secs(30), started), Readiness::Ready);
    world.send(Event::ContextStopped);
    assert_eq!(world.scheduler.readiness(started, started), Readiness::Stopped);
}

/// Behaviours: TSI-019.
#[test]
fn public_waits_by_default() {
    let world = World::new();
    let unset = waiting_for_cores(0);

    assert_eq!(world.scheduler.readiness(world.now, world.now), Readiness::Ready);
    assert_eq!(unset.scheduler.readiness(unset.now, unset.now), Readiness::Ready);
}
