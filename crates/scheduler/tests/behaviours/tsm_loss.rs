//! What the loss of an executor does to the tasks that run there and to the map outputs it holds.

use firesteel_scheduler::{Event, Scaling, SchedulerConfig};
use firesteel_types::{ExecutorId, ExecutorLossReason};

use crate::harness::{World, shuffled, source};

fn exited(caused_by_app: bool) -> ExecutorLossReason {
    ExecutorLossReason::Exited { code: 1, caused_by_app, message: "out of memory".into() }
}

fn process_lost(caused_by_app: bool) -> ExecutorLossReason {
    ExecutorLossReason::ProcessLost { message: "gone".into(), worker_host: None, caused_by_app }
}

/// A job of one task that one counted failure aborts, running on executor 0.
fn one_fragile_task() -> World {
    let mut world = World::config(|config| config.tasks.failures_max = 1);
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    world
}

/// Behaviours: TSM-006.
#[test]
fn a_task_that_was_never_heard_of_is_not_blamed_for_the_loss_of_its_executor() {
    for reason in [exited(true), process_lost(true)] {
        let mut world = one_fragile_task();

        let lost = world.lose_with(0, reason.clone());

        assert_eq!(
            lost.lines(),
            [
                format!("* executor-0 removed: {reason}"),
                "* attempt-0 ends: executor lost, not by app".to_owned(),
                "remove blocks of executor-0".to_owned(),
            ],
        );
        assert_eq!(world.executor(1, "h2", 1).attempts(), [1], "it waits for another executor");
    }
}

/// Behaviours: TSM-007.
#[test]
fn a_running_task_is_blamed_unless_the_reason_says_otherwise() {
    let decommissioned = ExecutorLossReason::Decommissioned { worker_host: None };
    let cases = [
        (exited(true), true),
        (process_lost(true), true),
        (exited(false), false),
        (process_lost(false), false),
        (ExecutorLossReason::Killed, false),
        (decommissioned, false),
    ];
    for (reason, is_blamed) in cases {
        let mut world = one_fragile_task();
        world.running(0);

        let lost = world.lose_with(0, reason.clone());

        assert_eq!(!lost.lines_with("job-0 failed").is_empty(), is_blamed, "{reason:?}");
        assert_eq!(world.executor(1, "h2", 1).attempts().is_empty(), is_blamed, "{reason:?}");
    }
}

/// Behaviours: TSM-007.
#[test]
fn what_the_driver_did_to_an_executor_decides_whatever_is_reported_about_its_end() {
    let killed = Scaling::Kill {
        executors: vec![ExecutorId(0)],
        adjust_target: false,
        count_failures: false,
        force: true,
    };
    let decommissioned = Scaling::Decommission {
        executors: vec![ExecutorId(0)],
        worker_host: None,
        adjust_target: false,
        by_executor: false,
    };
    for order in [killed, decommissioned] {
        let mut world = one_fragile_task();
        world.running(0);
        world.send(Event::ScalingRequested(order.clone()));

        let lost = world.lose_with(0, exited(true));

        assert_eq!(lost.lines_with("ends"), ["* attempt-0 ends: executor lost, not by app"], "{order:?}");
    }
}

/// Two of three map tasks are launched on executor 0, and the first is finished.
fn half_a_map_stage(change: impl FnOnce(&mut SchedulerConfig)) -> World {
    let mut world = World::config(change);
    world.executors(0, &["h1"], 2).rdds([source(0, 3), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1]);
    world.running(1);
    world.running(2);
    world
}

/// Behaviours: TSM-015.
#[test]
fn finished_map_tasks_run_again_when_their_output_is_lost_with_the_executor() {
    let mut world = half_a_map_stage(|_| ());

    let lost = world.lose(0);
    let elsewhere = world.executor(1, "h2", 3);

    assert_eq!(
        lost.lines(),
        [
            "* executor-0 removed: gone",
            "* attempt-0 resubmitted",
            "* attempt-1 ends: executor lost",
            "* attempt-2 ends: executor lost",
            "remove blocks of executor-0",
        ]
    );
    assert_eq!(
        elsewhere.lines_with("launch"),
        [
            "launch attempt-3 = stage-0.0 partition-2 try-1 on executor-1 Process",
            "launch attempt-4 = stage-0.0 partition-1 try-1 on executor-1 Process",
            "launch attempt-5 = stage-0.0 partition-0 try-1 on executor-1 Process",
        ]
    );
    for attempt in 3..6 {
        world.finish_map(attempt, &[1]);
    }
    let end = world.finish(6);
    assert_eq!(end.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: TSM-015.
#[test]
fn outputs_that_outlive_the_executor_are_not_made_again() {
    let service = |config: &mut SchedulerConfig| config.shuffle_service = true;
    let reliable = |config: &mut SchedulerConfig| config.reliable_shuffle = true;

    let with_service = half_a_map_stage(service).lose(0);
    let with_storage = half_a_map_stage(reliable).lose(0);
    let mut decommissioned = half_a_map_stage(service);
    let reason = ExecutorLossReason::Decommissioned { worker_host: None };
    let decommissioned = decommissioned.lose_with(0, reason.clone());
    let mut stored = half_a_map_stage(reliable);
    let stored = stored.lose_with(0, reason);

    assert_eq!(with_service.lines_with("resubmitted"), [""; 0]);
    assert_eq!(with_storage.lines_with("resubmitted"), [""; 0]);
    assert_eq!(
        decommissioned.lines_with("resubmitted"),
        ["* attempt-0 resubmitted"],
        "a service goes with its host"
    );
    assert_eq!(stored.lines_with("resubmitted"), [""; 0]);
}

/// Behaviours: TSM-015.
#[test]
fn an_output_that_moved_before_its_executor_left_is_not_made_again() {
    let mut world = half_a_map_stage(|_| ());
    world.executor(1, "h2", 1);
    world.send(Event::MapOutputMoved {
        shuffle: firesteel_types::ShuffleId(0),
        map_attempt: firesteel_types::AttemptId(0),
        executor: ExecutorId(1),
        host: "h2".into(),
    });

    let lost = world.lose_with(0, ExecutorLossReason::Decommissioned { worker_host: None });

    assert_eq!(lost.lines_with("resubmitted"), [""; 0]);
}

/// Behaviours: TSM-016.
#[test]
fn result_tasks_and_zombies_never_resubmit() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 3)]);
    world.submit(0);
    world.finish(0);

    let result_set = world.lose(0);

    assert_eq!(result_set.lines_with("resubmitted"), [""; 0]);

    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 2), shuffled(1, 2, 0, 0), shuffled(2, 1, 1, 1)]);
    world.submit(2);
    world.finish_map(0, &[1, 1]);
    world.finish_map(1, &[1, 1]);
    world.finish_map(2, &[1]);
    world.fail(3, crate::harness::fetch_failed(0, 0, 0, "h1"));

    let zombie = world.lose(0);

    assert_eq!(
        zombie.lines_with("resubmitted"),
        [""; 0],
        "the set of stage 1 is over with the fetch failure"
    );
}
