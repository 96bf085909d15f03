//! Executors that go silent, are lost or drain, and a cluster that gives up.

use firesteel_scheduler::{Event, Scaling};
use firesteel_types::{ExecutorId, ExecutorLossReason};

use crate::harness::{World, fetch_failed, located, millis, shuffled, source};

/// Behaviours: TSI-009.
#[test]
fn a_silent_executor_keeps_its_tasks_until_the_reason_is_known() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 3)]);
    world.submit(0);
    world.running(0);
    world.running(1);

    let silent = world.send(Event::ExecutorDisconnected { executor: ExecutorId(0) });
    let again = world.send(Event::ExecutorDisconnected { executor: ExecutorId(0) });
    let elsewhere = world.executor(1, "h2", 3);
    let late = world.finish(0);
    let reason = ExecutorLossReason::Exited { code: 137, caused_by_app: false, message: "preempted".into() };
    let known = world.lose_with(0, reason);

    assert_eq!(silent.lines(), ["remove blocks of executor-0"]);
    assert_eq!(again.lines(), [""; 0]);
    assert_eq!(elsewhere.partitions(), [2], "the tasks of the silent one are not rescheduled");
    assert_eq!(late.lines(), ["ignored: contact with executor-0 was lost"]);
    assert_eq!(
        known.lines(),
        [
            "* executor-0 removed: exited with code 137: preempted",
            "* attempt-0 ends: executor lost, not by app",
            "* attempt-1 ends: executor lost, not by app",
            "* attempt-3 starts",
            "launch attempt-3 = stage-0.0 partition-1 try-1 on executor-1 Process",
            "* attempt-4 starts",
            "launch attempt-4 = stage-0.0 partition-0 try-1 on executor-1 Process",
        ],
        "the DAG scheduler heard of the loss at the first notice, and not again"
    );
    for attempt in 2..5 {
        world.finish(attempt);
    }
    world.assert_quiescent();
}

/// Behaviours: TSI-010.
#[test]
fn reports_of_attempts_on_a_lost_executor_are_ignored() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 2)]);
    world.submit(0);
    world.running(0);
    world.lose(0);

    let finished = world.finish(0);
    let failed = world.panic(1);
    let lost_again = world.lose(0);

    assert_eq!(finished.lines(), ["ignored: attempt-0 is not running"]);
    assert_eq!(failed.lines(), ["ignored: attempt-1 is not running"]);
    assert_eq!(lost_again.lines(), ["remove blocks of executor-0", "* executor-0 removed: gone"]);
    assert_eq!(world.executor(1, "h2", 2).partitions(), [1, 0]);
}

/// Behaviours: TSI-010.
#[test]
fn an_id_that_comes_back_on_another_host_is_a_new_executor() {
    let mut world = World::config(|config| {
        config.exclusion = Some(firesteel_scheduler::exclusion::ExclusionConfig::enabled());
    });
    world.executors(0, &["h1"], 2).rdds([source(0, 3)]);
    world.submit(0);
    world.panic(0);
    world.lose(0);
    world.executor(0, "h2", 2);
    let attempt = *world.launched.keys().last().expect("something was launched");

    let failed = world.panic(attempt.0);

    assert_eq!(
        failed.lines()[..2],
        ["* executor-0 excluded for stage-0.0 after 2".to_owned(), format!("* {attempt} ends: boom")],
        "its record goes with its id"
    );
}

/// Behaviours: TSI-013.
#[test]
fn a_cluster_that_gives_up_aborts_every_active_set() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), source(1, 1)]);
    world.submit(0);
    world.submit(1);

    let failed = world.send(Event::ClusterFailed { message: "the master removed us".into() });

    let text = "job aborted due to stage failure: the master removed us";
    assert_eq!(
        failed.lines(),
        [
            "forget stage-1.0".to_owned(),
            format!("* stage-0.0 failed: {text}"),
            "job-0 failed by stage-0: the master removed us".to_owned(),
            format!("* job-0 ends: {text}"),
            format!("kill attempt-0 on executor-0: {text}"),
            format!("* stage-1.0 failed: {text}"),
            "job-1 failed by stage-1: the master removed us".to_owned(),
            format!("* job-1 ends: {text}"),
        ]
    );
}

/// Behaviours: TSI-013.
#[test]
fn a_cluster_that_gives_up_before_anything_was_submitted_stops_the_context() {
    let mut world = World::new();

    let failed = world.send(Event::ClusterFailed { message: "all masters are unresponsive".into() });

    assert_eq!(failed.lines(), ["stop context: all masters are unresponsive"]);
}

fn decommission(executor: u32, worker_host: Option<&str>) -> Event {
    Event::ScalingRequested(Scaling::Decommission {
        executors: vec![ExecutorId(executor)],
        worker_host: worker_host.map(Into::into),
        adjust_target: false,
        by_executor: true,
    })
}

/// A reducer runs on executor 0, which has the map output and drains; executor 1 is idle.
fn draining_with_a_reducer(retained: usize) -> World {
    let mut world = World::config(|config| {
        config.executors.retained_decommissioned = retained;
        config.stages.consecutive_attempts_max = 1;
    });
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1]);
    world.send(decommission(0, None));
    world.executor(1, "h2", 1);
    world
}

/// Behaviours: TSI-017.
#[test]
fn an_unknown_executor_does_not_drain_and_a_known_one_is_not_offered() {
    let mut world = World::new();
    world.rdds([source(0, 2)]);

    let unknown = world.send(decommission(0, None));
    world.executors(0, &["h1"], 2);
    let launched = world.submit(0);
    let known = world.send(decommission(0, None));
    let finished = world.panic(0);

    assert_eq!(unknown.lines(), [""; 0]);
    assert_eq!(launched.partitions(), [0, 1], "it was not known when it was asked to drain");
    assert_eq!(known.lines(), [""; 0]);
    assert_eq!(finished.attempts(), [0; 0]);
}

/// Behaviours: TSI-017.
#[test]
fn what_is_remembered_of_a_drained_executor_is_bounded() {
    for (retained, is_excused) in [(0, false), (1, true)] {
        let mut world = draining_with_a_reducer(retained);
        world.lose(0);
        let reducer = world.launched.keys().last().expect("the reducer runs on executor 1").0;

        let failed = world.fail(reducer, fetch_failed(0, 0, 0, "h1"));

        assert_eq!(failed.lines_with("job-0 failed").is_empty(), is_excused, "{retained} remembered");
        world.advance(millis(200));
    }
}

/// Behaviours: TSI-017.
#[test]
fn a_leaving_host_is_not_alive_for_locality() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(9, 1), located(0, &[&["h1"]])]);
    world.submit(9);
    world.executor(1, "h2", 1);
    world.submit(0);

    let leaving = world.send(decommission(0, Some("h1")));

    assert_eq!(
        leaving.lines_with("launch"),
        ["launch attempt-1 = stage-1.0 partition-0 try-0 on executor-1 Any"]
    );
}
