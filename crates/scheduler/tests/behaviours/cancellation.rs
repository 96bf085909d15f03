//! Jobs, groups, tags, stages and single tasks are cancelled.

use firesteel_scheduler::{Cancel, Event, PoolConfig, SchedulerConfig, pool::SchedulingMode};
use firesteel_types::{AttemptId, JobId, Properties, StageId, TaskFailure};

use crate::harness::{Effects, World, fetch_failed, millis, property, shuffled, source};

/// One executor with two cores, and a source of two partitions.
fn world() -> World {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 2)]);
    world
}

fn cancel_with(world: &mut World, what: Cancel, reason: &str) -> Effects {
    world.send(Event::CancelRequested { what, reason: Some(reason.to_owned()) })
}

fn group(name: &str, future: bool) -> Cancel {
    Cancel::Group { group: name.to_owned(), future }
}

/// The lines that tell callers that their job failed.
fn failures(effects: &Effects) -> Vec<String> {
    effects.lines().into_iter().filter(|line| line.starts_with("job-")).collect()
}

fn killed() -> TaskFailure {
    TaskFailure::killed("told to")
}

/// Behaviours: CANC-001, LIS-004.
#[test]
fn a_cancelled_job_fails_and_its_tasks_are_killed() {
    let mut world = world();
    world.submit(0);

    let cancelled = cancel_with(&mut world, Cancel::Job(JobId(0)), "too slow");
    let first = world.fail(0, killed());
    let second = world.fail(1, killed());

    let why = "job-0 cancelled: too slow";
    assert_eq!(
        cancelled.lines(),
        [
            format!("* stage-0.0 failed: {why}"),
            format!("job-0 failed: {why}"),
            format!("* job-0 ends: {why}"),
            format!("kill attempt-0 on executor-0: {why}"),
            format!("kill attempt-1 on executor-0: {why}"),
        ]
    );
    assert_eq!(first.lines(), ["* attempt-0 ends: killed: told to"]);
    assert_eq!(second.lines(), ["forget stage-0.0", "* attempt-1 ends: killed: told to"]);
    world.assert_quiescent();
}

/// Behaviours: CANC-001.
#[test]
fn the_tasks_of_every_stage_attempt_are_killed() {
    let mut world = World::new();
    world.executors(0, &["h1"], 4).rdds([source(0, 1), shuffled(1, 2, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1, 1]);
    world.fail(1, fetch_failed(0, 0, 0, "h1"));
    let again = world.advance(millis(200)).attempts()[0];
    assert_eq!(world.finish_map(again, &[1, 1]).partitions(), [0, 1], "attempt 2 of the old set still runs");

    let cancelled = world.cancel(Cancel::Job(JobId(0)));

    let why = "job-0 cancelled: cancelled by the user";
    assert_eq!(
        cancelled.lines(),
        [
            format!("* stage-1.1 failed: {why}"),
            format!("job-0 failed: {why}"),
            format!("* job-0 ends: {why}"),
            format!("kill attempt-2 on executor-0: {why}"),
            format!("kill attempt-4 on executor-0: {why}"),
            format!("kill attempt-5 on executor-0: {why}"),
        ]
    );
    for attempt in [2, 4, 5] {
        world.fail(attempt, killed());
    }
    world.assert_quiescent();
}

/// Behaviours: CANC-001.
#[test]
fn a_stage_that_waits_for_its_retry_ends_with_its_job_and_is_told_once() {
    let mut world = World::new();
    world.executors(0, &["h1"], 4).rdds([source(0, 1), shuffled(1, 2, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1, 1]);
    world.fail(1, fetch_failed(0, 0, 0, "h1"));

    let cancelled = world.cancel(Cancel::Job(JobId(0)));
    let later = world.advance(millis(200));

    let why = "job-0 cancelled: cancelled by the user";
    assert_eq!(
        cancelled.lines(),
        [
            format!("job-0 failed: {why}"),
            format!("* job-0 ends: {why}"),
            format!("kill attempt-2 on executor-0: {why}"),
        ]
    );
    assert_eq!(later.lines(), [""; 0]);
    world.fail(2, killed());
    world.assert_quiescent();
}

/// Behaviours: CANC-001.
#[test]
fn unknown_and_finished_jobs_are_not_cancelled() {
    let mut world = world();
    world.submit(0);
    world.finish(0);
    world.finish(1);

    assert_eq!(world.cancel(Cancel::Job(JobId(0))).lines(), ["ignored: job-0 is not active"]);
    assert_eq!(world.cancel(Cancel::Job(JobId(9))).lines(), ["ignored: job-9 is not active"]);
}

/// Behaviours: CANC-001.
#[test]
fn where_tasks_cannot_be_killed_a_running_job_goes_on() {
    let mut world = World::with(SchedulerConfig { can_kill_tasks: false, ..SchedulerConfig::default() });
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);

    let cancelled = world.cancel(Cancel::Job(JobId(0)));
    let attempt = AttemptId(0);
    let kill = world.send(Event::TaskKillRequested { attempt, interrupt: true, reason: "x".to_owned() });

    assert_eq!(cancelled.lines(), ["ignored: the backend cannot kill tasks"]);
    assert_eq!(kill.lines(), ["ignored: the backend cannot kill tasks", "attempt-0 not found"]);
    assert_eq!(world.finish(0).lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: CANC-002.
#[test]
fn a_stage_shared_with_another_job_goes_on() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2);
    world.rdds([source(0, 2), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.submit(1);

    let cancelled = world.cancel(Cancel::Job(JobId(0)));
    world.finish_map(0, &[10]);
    let done = world.finish_map(1, &[10]);

    let why = "job-0 cancelled: cancelled by the user";
    assert_eq!(cancelled.lines(), [format!("job-0 failed: {why}"), format!("* job-0 ends: {why}")]);
    assert_eq!(
        done.lines_with("launch"),
        ["launch attempt-2 = stage-2.0 partition-0 try-0 on executor-0 Node"]
    );
    assert_eq!(world.finish(2).lines_with("succeeded"), ["job-1 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: CANC-003.
#[test]
fn threads_are_interrupted_only_where_the_job_says_so() {
    let cases = [(None, ""), (Some("true"), " with interrupt"), (Some("false"), ""), (Some("maybe"), "")];
    for (setting, how) in cases {
        let mut world = world();
        let properties =
            setting.map_or_else(Properties::default, |text| property(Properties::INTERRUPT_ON_CANCEL, text));
        world.submit_with(0, properties);

        let kills = cancel_with(&mut world, Cancel::Job(JobId(0)), "stop").lines_with("kill");

        let kill = |attempt| format!("kill attempt-{attempt} on executor-0{how}: job-0 cancelled: stop");
        assert_eq!(kills, [kill(0), kill(1)], "{setting:?}");
    }
}

/// Behaviours: CANC-004.
#[test]
fn a_group_is_cancelled_with_its_queued_jobs() {
    let mut world = world();
    let mine = property(Properties::JOB_GROUP, "mine");
    world.submit_with(0, mine.clone());
    world.submit_with(0, property(Properties::JOB_GROUP, "yours"));
    let queued = world.submit_with(0, mine.clone());

    let cancelled = world.cancel(group("mine", false));
    let later = world.submit_with(0, mine);

    assert_eq!(queued.attempts(), [0; 0]);
    let why = |job| format!("{job} failed: {job} cancelled: job group `mine` was cancelled");
    assert_eq!(failures(&cancelled), [why("job-0"), why("job-2")]);
    assert_eq!(later.lines_with("starts"), ["* job-3 starts [stage-3.0]"], "later jobs of the group run");
    let given = cancel_with(&mut world, group("yours", false), "not yours");
    assert_eq!(failures(&given), ["job-1 failed: job-1 cancelled: not yours"]);
    assert_eq!(world.cancel(group("nobody", false)).lines(), [""; 0]);
}

/// Behaviours: CANC-004.
#[test]
fn future_jobs_of_a_cancelled_group_fail_at_submission() {
    let mut world = world();
    let mine = property(Properties::JOB_GROUP, "mine");

    let cancelled = world.cancel(group("mine", true));
    let refused = world.submit_with(0, mine.clone());
    let other = world.submit(0);

    assert_eq!(cancelled.lines(), [""; 0]);
    assert_eq!(
        refused.lines(),
        ["job-0 failed: job-0 cancelled: its group `mine` was cancelled, future jobs too"]
    );
    assert_eq!(other.launches().len(), 2);
}

/// Behaviours: CANC-004.
#[test]
fn the_oldest_of_more_than_a_thousand_cancelled_groups_is_forgotten() {
    let mut world = world();
    for number in 0..1001 {
        world.cancel(group(&format!("g{number}"), true));
    }
    // A group that is cancelled again keeps its place.
    world.cancel(group("g1", true));

    let refused = |world: &mut World, name: &str| {
        let effects = world.submit_with(0, property(Properties::JOB_GROUP, name));
        effects.lines_with("future jobs too").len() == 1
    };

    assert_eq!(["g0", "g1", "g1000"].map(|name| refused(&mut world, name)), [false, true, true]);
    world.cancel(group("one more", true));
    assert_eq!(["g1", "g2", "one more"].map(|name| refused(&mut world, name)), [false, true, true]);
}

/// Behaviours: CANC-005.
#[test]
fn cancelling_a_tag_hits_the_jobs_that_had_it_and_tells_which() {
    let mut world = world();
    let tags = |text: &str| property(Properties::TAGS, text);
    world.submit_with(0, tags("etl,nightly"));
    world.submit_with(0, tags("night"));
    world.submit_with(0, tags("nightly"));
    world.submit(0);

    let cancelled = world.cancel(Cancel::Tag("nightly".to_owned()));
    let again = world.cancel(Cancel::Tag("nightly".to_owned()));

    let why = |job| format!("{job} failed: {job} cancelled: jobs with tag `nightly` were cancelled");
    assert_eq!(failures(&cancelled), [why("job-0"), why("job-2")]);
    assert_eq!(cancelled.lines_with("tag nightly cancelled"), ["tag nightly cancelled [job-0, job-2]"]);
    assert_eq!(again.lines(), ["tag nightly cancelled []"]);
    assert_eq!(world.scheduler.jobs().collect::<Vec<_>>(), [JobId(1), JobId(3)]);
}

/// Behaviours: CANC-006.
#[test]
fn cancelling_all_hits_running_and_waiting_jobs() {
    let mut world = world();
    world.rdds([crate::harness::barrier(1, 9)]);
    world.submit(0);
    world.submit(1);
    world.submit(0);

    let cancelled = world.cancel(Cancel::All);

    let why = |job| format!("{job} failed: {job} cancelled: all jobs were cancelled");
    assert_eq!(failures(&cancelled), [why("job-0"), why("job-2"), why("job-1")]);
    world.fail(0, killed());
    world.fail(1, killed());
    world.assert_quiescent();
    world.submit(0);
    let given = cancel_with(&mut world, Cancel::All, "closing time");
    assert_eq!(failures(&given), ["job-3 failed: job-3 cancelled: closing time"]);
}

/// Behaviours: CANC-007.
#[test]
fn cancelling_a_stage_cancels_every_job_that_uses_it() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1);
    world.rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.submit(1);
    world.submit(0);

    let cancelled = world.cancel(Cancel::Stage(StageId(0)));
    let unknown = world.cancel(Cancel::Stage(StageId(0)));

    let why = |job| format!("{job} failed: {job} cancelled: stage-0 was cancelled");
    assert_eq!(failures(&cancelled), [why("job-0"), why("job-1")]);
    assert_eq!(
        cancelled.lines_with("kill"),
        ["kill attempt-0 on executor-0: job-1 cancelled: stage-0 was cancelled"],
        "the last job that used it ends it"
    );
    assert_eq!(unknown.lines(), ["ignored: stage-0 is not active"]);
    let given = cancel_with(&mut world, Cancel::Stage(StageId(3)), "wrong one");
    assert_eq!(failures(&given), ["job-2 failed: job-2 cancelled: wrong one"]);
    world.fail(0, killed());
    world.assert_quiescent();
}

/// Behaviours: CANC-008.
#[test]
fn a_killed_task_is_tried_again_and_the_kill_is_not_counted() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    let kill = |world: &mut World, attempt, interrupt| {
        let reason = "because".to_owned();
        world.send(Event::TaskKillRequested { attempt: AttemptId(attempt), interrupt, reason })
    };

    for attempt in 0..10 {
        let told = kill(&mut world, attempt, false);
        let ended = world.fail(attempt, TaskFailure::killed("because"));

        let order = format!("kill attempt-{attempt} on executor-0: because");
        assert_eq!(told.lines(), [order, format!("attempt-{attempt} found")]);
        let next = attempt + 1;
        assert_eq!(
            ended.lines(),
            [
                format!("* attempt-{attempt} ends: killed: because"),
                format!("* attempt-{next} starts"),
                format!("launch attempt-{next} = stage-0.0 partition-0 try-{next} on executor-0 Process"),
            ]
        );
    }
    let hard = kill(&mut world, 10, true);
    assert_eq!(hard.lines(), ["kill attempt-10 on executor-0 with interrupt: because", "attempt-10 found"]);
    assert_eq!(kill(&mut world, 3, false).lines(), ["attempt-3 not found"]);
    assert_eq!(kill(&mut world, 99, false).lines(), ["attempt-99 not found"]);
    assert_eq!(world.finish(10).lines_with("succeeded"), ["job-0 succeeded"], "it finished before it heard");
    world.assert_quiescent();
}

/// Behaviours: CANC-011.
#[test]
fn jobs_run_side_by_side_and_the_end_of_one_leaves_the_others() {
    for (mode, local) in [
        (SchedulingMode::Fifo, false),
        (SchedulingMode::Fair, false),
        (SchedulingMode::Fifo, true),
        (SchedulingMode::Fair, true),
    ] {
        let pools = PoolConfig { mode, ..PoolConfig::default() };
        let mut world = World::with(SchedulerConfig { pools, local, ..SchedulerConfig::default() });
        world.executors(0, &["h1"], 3).rdds([source(0, 1)]);
        for _ in 0..3 {
            assert_eq!(world.submit(0).launches().len(), 1);
        }

        let cancelled = world.cancel(Cancel::Job(JobId(1)));
        let others = [world.finish(0), world.finish(2)].map(|effects| effects.lines_with("succeeded"));

        assert_eq!(cancelled.lines_with("kill").len(), 1);
        assert_eq!(others, [["job-0 succeeded"], ["job-2 succeeded"]]);
        world.fail(1, killed());
        world.assert_quiescent();
    }
}

/// Behaviours: CANC-013, LIS-004.
#[test]
fn stopping_the_context_fails_every_job_and_refuses_new_ones() {
    for can_kill_tasks in [true, false] {
        let mut world = World::with(SchedulerConfig { can_kill_tasks, ..SchedulerConfig::default() });
        world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
        world.submit(0);

        let stopped = world.send(Event::ContextStopped);
        let refused = world.submit(0);
        let map_stage = world.submit_map_stage(1, 0);
        let ended = world.lose(0);

        let why = "job-0 cancelled: the context was shut down";
        let mut expected = vec![
            format!("* stage-0.0 failed: {why}"),
            format!("job-0 failed: {why}"),
            format!("* job-0 ends: {why}"),
            "stop executors".to_owned(),
        ];
        if can_kill_tasks {
            expected.push(format!("kill attempt-0 on executor-0: {why}"));
        }
        assert_eq!(stopped.lines(), expected);
        assert_eq!(refused.lines(), ["job-1 failed: the context is stopped"]);
        assert_eq!(map_stage.lines(), ["job-2 failed: the context is stopped"]);
        assert_eq!(ended.lines_with("attempt-0").len(), 1, "the task that ran has its end");
        world.assert_quiescent();
    }
}
