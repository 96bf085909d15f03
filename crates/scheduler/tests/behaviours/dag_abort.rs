//! Stages are given up and jobs are cancelled: who fails, who goes on, and that nothing is left.

use firesteel_scheduler::{Cancel, Effect, Event, JobError, SchedulerConfig};
use firesteel_types::{JobId, ShuffleId, StageId, TaskFailure};

use crate::harness::{
    Effects, World, derived, fetch_failed, millis, pinned, placed, shuffle_dependency, shuffled, source,
};

/// An attempt panics until its set is given up.
fn panic_four_times(world: &mut World, attempt: u64) -> Effects {
    let mut effects = world.panic(attempt);
    for _ in 0..3 {
        let next = *effects.attempts().last().expect("the task is tried again");
        effects = world.panic(next);
    }
    effects
}

/// Behaviours: DAG-023, DAG-024.
#[test]
fn a_task_that_fails_too_often_fails_the_job_with_the_reason_and_the_cause() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 2), shuffled(1, 1, 0, 0)]);
    world.submit(1);

    let failed = panic_four_times(&mut world, 0);

    let reason = "task 0 of stage-0.0 failed 4 times, most recently: task 0.3 of stage-0.0 (attempt-3) on executor-0: boom";
    let text = format!("job aborted due to stage failure: {reason}");
    assert_eq!(
        failed.lines(),
        [
            "forget stage-0.0".to_owned(),
            "* attempt-3 ends: boom".to_owned(),
            format!("* stage-0.0 failed: {text}"),
            format!("job-0 failed by stage-0: {reason} (boom)"),
            format!("* job-0 ends: {text}"),
        ]
    );
    let error = JobError::StageFailed {
        stage: StageId(0),
        reason: reason.to_owned(),
        cause: Some(TaskFailure::panicked("boom")),
    };
    assert!(failed.0.contains(&Effect::JobFailed { job: JobId(0), error: error.clone() }));
    assert_eq!(error.to_string(), text);
    world.assert_quiescent();
}

/// Behaviours: DAG-024.
#[test]
fn a_failure_without_a_task_error_has_no_cause() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);

    let failed = world.send(Event::ShuffleDropped { shuffle: ShuffleId(0) });

    let reason = "shuffle-0 was removed while a job was using it".to_owned();
    let error = JobError::StageFailed { stage: StageId(0), reason, cause: None };
    assert!(failed.0.contains(&Effect::JobFailed { job: JobId(0), error }), "{:?}", failed.lines());
}

/// Job 0 reads shuffles 0 and 1, job 1 only shuffle 0, job 2 only shuffle 1.
///
/// Behaviours: DAG-023.
#[test]
fn an_aborted_stage_fails_the_jobs_that_need_it_and_no_others() {
    let mut world = World::new();
    world.executors(0, &["h1"], 4).rdds([
        source(0, 1),
        source(1, 1),
        derived(2, 1, vec![shuffle_dependency(0, 0, 1), shuffle_dependency(1, 1, 1)]),
        shuffled(3, 1, 0, 0),
        shuffled(4, 1, 1, 1),
    ]);
    world.submit(2);
    world.submit(3);
    world.submit(4);

    let failed = panic_four_times(&mut world, 0);

    let reason = "task 0 of stage-0.0 failed 4 times, most recently: task 0.3 of stage-0.0 (attempt-4) on executor-0: boom";
    let text = format!("job aborted due to stage failure: {reason}");
    // Stage 1 is shared with job 2, so it keeps running.
    assert_eq!(
        failed.lines(),
        [
            "forget stage-0.0".to_owned(),
            "* attempt-4 ends: boom".to_owned(),
            format!("job-0 failed by stage-0: {reason} (boom)"),
            format!("* job-0 ends: {text}"),
            format!("* stage-0.0 failed: {text}"),
            format!("job-1 failed by stage-0: {reason} (boom)"),
            format!("* job-1 ends: {text}"),
        ]
    );
    world.finish_map(1, &[1]);
    let other = world.finish(5);
    assert_eq!(other.lines_with("succeeded"), ["job-2 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-023.
#[test]
fn stages_of_a_failed_job_that_nobody_else_uses_are_killed() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([
        source(0, 1),
        source(1, 1),
        derived(2, 1, vec![shuffle_dependency(0, 0, 1), shuffle_dependency(1, 1, 1)]),
    ]);
    world.submit(2);

    let failed = world.fail(0, TaskFailure::OutputExists { path: "/out".to_owned() });
    let killed = world.fail(1, TaskFailure::killed("the job failed"));

    let reason = "task 0 of stage-0.0 cannot succeed: the output /out exists already";
    let text = format!("job aborted due to stage failure: {reason}");
    assert_eq!(
        failed.lines(),
        [
            "forget stage-0.0".to_owned(),
            "* attempt-0 ends: the output /out exists already".to_owned(),
            format!("* stage-0.0 failed: {text}"),
            format!("* stage-1.0 failed: {text}"),
            format!("job-0 failed by stage-0: {reason} (the output /out exists already)"),
            format!("* job-0 ends: {text}"),
            format!("kill attempt-1 on executor-0: {text}"),
        ]
    );
    assert_eq!(killed.lines(), ["forget stage-1.0", "* attempt-1 ends: killed: the job failed"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-023.
#[test]
fn a_job_past_a_stage_survives_its_abort_and_can_run_it_again_later() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 4).rdds([
        pinned(0, &[(0, "h1")]),
        placed(shuffled(1, 1, 0, 0), &[(1, "h2")]),
        shuffled(2, 1, 1, 1),
        shuffled(3, 1, 0, 0),
    ]);
    // Job 0 has run stages 0 and 1, and its result task runs.
    world.submit(2);
    world.finish_map(0, &[1]);
    world.finish_map(1, &[1]);
    // Job 1 reads shuffle 0 too, loses an output of it, and the rerun fails four times.
    world.submit(3);
    world.fail(3, fetch_failed(0, 0, 0, "h1"));
    let rerun = world.resubmit();
    let aborted = panic_four_times(&mut world, rerun.attempts()[0]);

    assert_eq!(rerun.lines_with("submitted"), ["* stage-0.1 submitted, 1 tasks"]);
    assert_eq!(aborted.lines_with("failed by").len(), 1);
    assert_eq!(aborted.lines_with("* stage-0.1 failed").len(), 1, "{:?}", aborted.lines());

    // Now job 0 loses what it reads, and needs stage 0 after all.
    world.fail(2, fetch_failed(1, 0, 1, "h2"));
    let again = world.resubmit();
    assert_eq!(again.lines_with("submitted"), ["* stage-0.2 submitted, 1 tasks"]);
}

/// Behaviours: DAG-023.
#[test]
fn a_cancelled_job_kills_what_is_left_of_a_failed_attempt_without_ending_it_twice() {
    let mut world = World::new();
    world.executors(0, &["h1"], 3).rdds([source(0, 1), shuffled(1, 2, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1, 1]);
    world.fail(1, fetch_failed(0, 0, 0, "h1"));

    let cancelled = world.cancel(Cancel::Job(JobId(0)));
    let killed = world.fail(2, TaskFailure::killed("cancelled"));

    let text = "job-0 cancelled: cancelled by the user";
    assert_eq!(
        cancelled.lines(),
        [
            format!("job-0 failed: {text}"),
            format!("* job-0 ends: {text}"),
            format!("kill attempt-2 on executor-0: {text}")
        ]
    );
    assert_eq!(killed.lines(), ["forget stage-1.0", "* attempt-2 ends: killed: cancelled"]);
    world.assert_quiescent();
    world.send(Event::Tick);
    let deadline = world.scheduler.next_deadline();
    assert!(deadline.is_none_or(|at| at > world.now + millis(200)), "nothing is left to be submitted again");
}

/// Behaviours: DAG-025.
#[test]
fn a_job_cannot_be_cancelled_where_tasks_cannot_be_killed() {
    let config = SchedulerConfig { can_kill_tasks: false, ..SchedulerConfig::default() };
    let mut world = World::with(config);
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);

    let cancelled = world.cancel(Cancel::Job(JobId(0)));
    let finished = world.finish(0);

    assert_eq!(cancelled.lines(), ["ignored: the backend cannot kill tasks"]);
    assert_eq!(
        finished.lines(),
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

/// Behaviours: DAG-053.
#[test]
fn an_unexpected_error_of_the_loop_cancels_every_job_and_stops_the_context() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 1)]);
    world.submit(0);
    world.submit(0);

    let failed = world.send(Event::LoopFailed { message: "index out of bounds".to_owned() });

    let reason = "the scheduler's loop failed: index out of bounds";
    let job = |job: u32| {
        let text = format!("job-{job} cancelled: {reason}");
        [
            format!("* stage-{job}.0 failed: {text}"),
            format!("job-{job} failed: {text}"),
            format!("* job-{job} ends: {text}"),
        ]
    };
    let mut expected: Vec<_> = [job(0), job(1)].concat();
    expected.push(format!("stop context: {reason}"));
    expected
        .extend([0, 1].map(|job| format!("kill attempt-{job} on executor-0: job-{job} cancelled: {reason}")));
    assert_eq!(failed.lines(), expected);
}

/// Behaviours: DAG-053.
#[test]
fn a_shuffle_that_is_gone_aborts_the_stage_that_writes_it_and_nothing_else() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 1), shuffled(1, 1, 0, 0), source(2, 1)]);
    world.submit(1);
    world.submit(2);

    let dropped = world.send(Event::ShuffleDropped { shuffle: ShuffleId(0) });
    let repeated = world.send(Event::ShuffleDropped { shuffle: ShuffleId(0) });
    let late = world.finish_map(0, &[1]);
    let other = world.finish(1);

    let reason = "shuffle-0 was removed while a job was using it";
    let text = format!("job aborted due to stage failure: {reason}");
    assert_eq!(
        dropped.lines(),
        [
            format!("* stage-0.0 failed: {text}"),
            format!("job-0 failed by stage-0: {reason}"),
            format!("* job-0 ends: {text}"),
            format!("kill attempt-0 on executor-0: {text}"),
        ]
    );
    assert_eq!(repeated.lines(), ["ignored: shuffle-0 is not registered"]);
    assert_eq!(late.lines(), ["forget stage-0.0", "* attempt-0 ends"]);
    assert_eq!(other.lines_with("succeeded"), ["job-1 succeeded"]);
    world.assert_quiescent();
}

/// The job is past the shuffle when it goes, and needs it again later.
///
/// Behaviours: DAG-053.
#[test]
fn a_shuffle_that_is_gone_is_missed_when_its_outputs_are_needed_again() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0), shuffled(2, 1, 1, 1)]);
    world.submit(2);
    world.finish_map(0, &[1]);
    world.finish_map(1, &[1]);

    let dropped = world.send(Event::ShuffleDropped { shuffle: ShuffleId(0) });
    world.fail(2, fetch_failed(1, 0, 0, "h1"));
    let resubmitted = world.resubmit();

    let reason = "shuffle-0 was removed while a job was using it";
    assert_eq!(dropped.lines(), [""; 0]);
    assert_eq!(
        resubmitted.lines(),
        [
            format!("job-0 failed by stage-0: {reason}"),
            format!("* job-0 ends: job aborted due to stage failure: {reason}"),
        ]
    );
    world.assert_quiescent();
}
