//! Jobs with barrier stages: what is refused, what waits for slots, and how their tasks meet.

use std::sync::Arc;

use firesteel_scheduler::{Cancel, Event, SchedulerConfig};
use firesteel_types::{Dependency, ExecutorId, NarrowMap, Properties, RddId, RddNode, TaskFailure};

use crate::harness::{World, barrier, map, property, secs, shuffle_dependency, shuffled, source};

const WAITS: &str = "warn: job-0 waits for 3 slots for its barrier stage; there are 2";

/// Two slots, and a job whose barrier stage needs three.
fn too_small(properties: Properties) -> World {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([barrier(0, 3)]);
    assert_eq!(world.submit_with(0, properties).lines(), [WAITS]);
    world
}

/// Behaviours: BAR-008.
#[test]
fn a_job_that_does_not_fit_is_checked_every_fifteen_seconds_until_it_does() {
    let mut world = too_small(Properties::default());

    assert_eq!(world.scheduler.next_deadline(), Some(world.now + secs(15)));
    assert_eq!(world.advance(secs(14)).lines(), [""; 0]);
    assert_eq!(world.advance(secs(1)).lines(), [WAITS]);
    let joined = world.executor(1, "h2", 1);
    assert_eq!(joined.lines(), [""; 0], "the next check finds it");
    let started = world.advance(secs(15));

    assert_eq!(
        started.lines_with("stage-0.0")[..2],
        ["* job-0 starts [stage-0.0]", "* stage-0.0 submitted, 3 tasks"]
    );
    assert_eq!(started.launches().len(), 3);
    for attempt in 0..3 {
        world.finish(attempt);
    }
    world.assert_quiescent();
}

/// Behaviours: BAR-008.
#[test]
fn the_forty_first_failed_check_fails_the_job() {
    let mut world = too_small(Properties::default());
    for check in 2..=40 {
        let executor = ExecutorId(0);
        world.send(Event::Heartbeat { executor, block_manager_known: true, running: Vec::new() });
        assert_eq!(world.advance(secs(15)).lines(), [WAITS], "check {check}");
    }

    let last = world.advance(secs(15));

    assert_eq!(
        last.lines(),
        [
            "job-0 failed: a barrier stage needs 3 slots at once, and there are only 2; add executors or use fewer \
             partitions"
        ]
    );
    assert_eq!(world.advance(secs(15)).lines(), [""; 0]);
    world.assert_quiescent();
}

/// Behaviours: BAR-008.
#[test]
fn every_job_has_its_own_count_of_failed_checks() {
    let mut config = SchedulerConfig::default();
    config.barrier.check_failures_max = 1;
    let mut world = World::with(config);
    world.executors(0, &["h1"], 1).rdds([barrier(0, 2)]);
    world.submit(0);
    world.advance(secs(10));
    world.submit(0);

    let first = world.advance(secs(5));
    let second = world.advance(secs(10));

    assert_eq!(first.lines_with("failed").len(), 1);
    assert!(first.lines_with("failed")[0].starts_with("job-0 failed"));
    assert!(second.lines_with("failed")[0].starts_with("job-1 failed"));
    world.assert_quiescent();
}

/// Behaviours: BAR-009.
#[test]
fn a_job_that_waits_for_slots_can_be_cancelled_in_every_way() {
    let properties = property(Properties::JOB_GROUP, "g").with(Properties::TAGS, "a,t");
    let failed = |why: &str| format!("job-0 failed: job-0 cancelled: {why}");
    let group = Cancel::Group { group: "g".to_owned(), future: false };
    let cases = [
        (Cancel::Job(firesteel_types::JobId(0)), vec![failed("cancelled by the user")]),
        (group, vec![failed("job group `g` was cancelled")]),
        (
            Cancel::Tag("t".to_owned()),
            vec![failed("jobs with tag `t` were cancelled"), "tag t cancelled [job-0]".to_owned()],
        ),
        (Cancel::All, vec![failed("all jobs were cancelled")]),
    ];
    for (what, expected) in cases {
        let mut world = too_small(properties.clone());

        let cancelled = world.cancel(what);

        assert_eq!(cancelled.lines(), expected);
        world.assert_quiescent();
        world.executor(1, "h2", 4);
        assert_eq!(world.advance(secs(15)).lines(), [""; 0], "the late check is dropped");
    }
}

/// Behaviours: BAR-009, CANC-013.
#[test]
fn stopping_the_context_fails_a_job_that_waits_for_slots() {
    let mut world = too_small(Properties::default());

    let stopped = world.send(Event::ContextStopped);

    assert_eq!(
        stopped.lines(),
        ["job-0 failed: job-0 cancelled: the context was shut down", "stop executors"]
    );
    world.assert_quiescent();
}

/// Behaviours: BAR-009.
#[test]
fn stages_made_before_the_check_failed_leave_no_trace() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2);
    let wide = RddNode { barrier: true, ..shuffled(1, 3, 0, 0) };
    world.rdds([source(0, 1), wide, shuffled(2, 1, 1, 1)]);

    let waits = world.submit(2);
    let cancelled = world.cancel(Cancel::All);

    assert_eq!(waits.lines(), [WAITS]);
    assert_eq!(cancelled.lines().len(), 1);
    world.assert_quiescent();
    world.executor(1, "h2", 1);
    assert_eq!(world.submit(2).lines_with("starts")[0], "* job-1 starts [stage-1.0, stage-2.0, stage-3.0]");
}

fn chain_error(rdd: u32) -> String {
    format!(
        "job-0 failed: rdd-{rdd} cannot be part of a barrier stage: every RDD of it needs the same number of \
         partitions as tasks and at most one barrier parent; use a shuffle or compute all partitions"
    )
}

fn narrow(parent: u32, map: NarrowMap) -> Dependency {
    Dependency::Narrow { parent: RddId(parent), map }
}

/// Behaviours: BAR-010.
#[test]
fn chains_with_other_numbers_of_partitions_are_refused() {
    let half = |start| NarrowMap::Range { parent_start: 0, child_start: start, len: 2 };
    let union = RddNode::derived(RddId(2), 4, vec![narrow(0, half(0)), narrow(1, half(2))]);
    let coalesced =
        RddNode::derived(RddId(2), 1, vec![narrow(0, NarrowMap::Runs(std::iter::once(0..2).collect()))]);
    let pruned = RddNode::derived(RddId(2), 1, vec![narrow(0, NarrowMap::Listed(Arc::from([vec![1]])))]);
    for (child, blamed) in [(union, 0), (coalesced, 0), (pruned, 0)] {
        let mut world = World::new();
        world.executors(0, &["h1"], 8).rdds([barrier(0, 2), source(1, 2), child]);

        assert_eq!(world.submit(2).lines(), [chain_error(blamed)]);
        world.assert_quiescent();
    }
}

/// Behaviours: BAR-010.
#[test]
fn computing_only_some_partitions_is_refused() {
    for partitions in [&[0][..], &[0, 0], &[1, 0, 1]] {
        let mut world = World::new();
        world.executors(0, &["h1"], 8).rdds([barrier(0, 2)]);

        assert_eq!(world.submit_partitions(0, partitions).lines(), [chain_error(0)], "{partitions:?}");
        world.assert_quiescent();
    }
    let mut world = World::new();
    world.executors(0, &["h1"], 8).rdds([barrier(0, 2)]);
    assert_eq!(world.submit_partitions(0, &[1, 0]).partitions(), [0, 1], "all, in another order, is fine");
}

/// Behaviours: BAR-010.
#[test]
fn one_barrier_parent_is_fine_and_two_are_not() {
    let zipped = |left, right| {
        let parents = vec![Dependency::one_to_one(RddId(left)), Dependency::one_to_one(RddId(right))];
        RddNode::derived(RddId(3), 2, parents)
    };
    let mut two = World::new();
    two.executors(0, &["h1"], 8).rdds([barrier(0, 2), barrier(1, 2), source(2, 2), zipped(0, 1)]);
    let mut one = World::new();
    one.executors(0, &["h1"], 8).rdds([barrier(0, 2), barrier(1, 2), source(2, 2), zipped(0, 2)]);

    assert_eq!(two.submit(3).lines(), [chain_error(3)]);
    assert_eq!(one.submit(3).launches().len(), 2);
}

/// Behaviours: BAR-010.
#[test]
fn a_shuffle_ends_the_barrier_property() {
    let mut world = World::new();
    let both = vec![shuffle_dependency(0, 0, 3), shuffle_dependency(1, 1, 3)];
    world.executors(0, &["h1"], 2).rdds([barrier(0, 2), barrier(1, 2), RddNode::derived(RddId(2), 3, both)]);
    world.submit(2);
    for attempt in 0..4 {
        world.finish_map(attempt, &[1, 1, 1]);
        world.advance(secs(1));
    }

    let last: Vec<_> = world.launched.values().skip(4).map(|task| task.barrier.clone()).collect();
    assert_eq!(last, [None, None], "two of three result tasks start: the stage is no barrier");
}

/// Behaviours: BAR-010.
#[test]
fn barrier_stages_are_refused_with_dynamic_allocation() {
    let mut world = World::with(SchedulerConfig { dynamic_allocation: true, ..SchedulerConfig::default() });
    world.executors(0, &["h1"], 2).rdds([barrier(0, 2), map(1, 2, 0)]);

    let refused = world.submit(1);

    assert_eq!(
        refused.lines(),
        ["job-0 failed: barrier stages do not work with dynamic allocation; turn it off"]
    );
    world.assert_quiescent();
}

/// Two barrier tasks on one executor, both running.
fn two_tasks() -> World {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([barrier(0, 2)]);
    world.submit(0);
    world
}

/// Behaviours: BAR-014.
#[test]
fn a_task_that_waits_in_a_sync_hears_of_its_kill_at_once() {
    let mut world = two_tasks();
    world.sync(0, 0);

    let cancelled = world.cancel(Cancel::All);
    let late = world.sync(1, 0);

    let why = "job-0 cancelled: all jobs were cancelled";
    assert_eq!(
        cancelled.lines(),
        [
            format!("* stage-0.0 failed: {why}"),
            format!("job-0 failed: {why}"),
            format!("* job-0 ends: {why}"),
            format!("kill attempt-0 on executor-0: {why}"),
            format!("kill attempt-1 on executor-0: {why}"),
            "barrier stage-0.0 attempt-0: Failed(Killed)".to_owned(),
        ]
    );
    assert_eq!(late.lines(), ["barrier stage-0.0 attempt-1: Failed(Killed)"], "its call was on the way");
}

/// Behaviours: BAR-014.
#[test]
fn a_single_kill_ends_the_wait_of_that_task() {
    let mut world = two_tasks();
    world.sync(0, 0);
    let attempt = firesteel_types::AttemptId(0);

    let killed =
        world.send(Event::TaskKillRequested { attempt, interrupt: false, reason: "why not".to_owned() });

    assert_eq!(
        killed.lines(),
        [
            "kill attempt-0 on executor-0: why not",
            "attempt-0 found",
            "barrier stage-0.0 attempt-0: Failed(Killed)",
        ]
    );
}

/// Behaviours: BAR-014.
#[test]
fn tasks_meet_and_nothing_is_left_when_the_stage_completes() {
    let mut world = two_tasks();

    let first = world.sync(0, 0);
    let second = world.sync(1, 0);
    world.finish(0);
    world.finish(1);
    let after = world.sync(0, 1);

    assert_eq!(first.lines(), [""; 0]);
    assert_eq!(
        second.lines(),
        ["barrier stage-0.0 attempt-0: Released", "barrier stage-0.0 attempt-1: Released"]
    );
    assert_eq!(after.lines(), ["barrier stage-0.0 attempt-0: Failed(StageNotRunning { set: stage-0.0 })"]);
    world.assert_quiescent();
}

/// Behaviours: BAR-014.
#[test]
fn an_attempt_that_was_written_off_does_not_take_part() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([barrier(0, 2), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    let gone = world.executor_of(0).0;
    world.lose(gone);

    let late = world.sync(0, 0);

    assert_eq!(late.lines(), ["barrier stage-0.0 attempt-0: Failed(Killed)"]);
    world.fail(1, TaskFailure::killed("told to"));
    assert_eq!(world.scheduler.executors(), [ExecutorId(1 - gone)]);
}

/// Behaviours: BAR-014.
#[test]
fn a_sync_that_not_all_reach_in_time_fails() {
    let mut config = SchedulerConfig::default();
    config.barrier.sync_timeout = secs(5);
    let mut world = World::with(config);
    world.executors(0, &["h1"], 2).rdds([barrier(0, 2)]);
    world.submit(0);
    world.sync(0, 0);

    assert_eq!(world.scheduler.next_deadline(), Some(world.now + secs(5)));
    let failed = world.advance(secs(5));

    assert_eq!(
        failed.lines(),
        ["barrier stage-0.0 attempt-0: Failed(TimedOut { set: stage-0.0, epoch: 0, arrived: 1, tasks: 2, \
             timeout: 5s })"]
    );
}
