//! Ending jobs from outside.

use std::{sync::mpsc, time::Duration};

use firesteel::prelude::*;
use firesteel_types::{AttemptId, ListenerEvent};

use crate::support::each_backend;

/// Has `event` told for every task that starts.
fn started_tasks(ctx: &Context) -> mpsc::Receiver<AttemptId> {
    let (tell, started) = mpsc::channel();
    let listener = move |event: &ListenerEvent| {
        if let ListenerEvent::TaskStart { task, .. } = event {
            tell.send(task.attempt).ok();
        }
    };
    ctx.add_listener(listener).unwrap();
    started
}

/// A job that runs until it is ended.
fn endless(ctx: &Context) -> JobHandle<u64> {
    ctx.range_into(0..2_u64, 2).flat_map(|_| std::iter::repeat(1_u8)).count_async()
}

const LIMIT: Duration = Duration::from_secs(60);

fn error_of(handle: JobHandle<u64>) -> String {
    let ended = handle.wait_timeout(LIMIT).unwrap_or_else(|_| panic!("the job was not ended"));
    ended.unwrap_err().to_string()
}

/// Behaviours: CANC-001, CANC-009.
#[test]
fn a_running_job_is_cancelled_by_its_id_at_the_next_rows() {
    each_backend(|ctx| {
        let started = started_tasks(ctx);
        let job = endless(ctx);
        started.recv_timeout(LIMIT).unwrap();

        ctx.cancel_job(job.job_ids()[0], Some("changed my mind"));

        assert!(error_of(job).contains("changed my mind"));
        assert_eq!(ctx.range(0..5).count().unwrap(), 5, "the slots are free again");
    });
}

/// Behaviours: CANC-004.
#[test]
fn a_group_is_cancelled_and_with_future_jobs_later_ones_are_refused() {
    each_backend(|ctx| {
        ctx.set_job_group("doomed", "runs for ever", false);
        let job = endless(ctx);

        ctx.cancel_job_group_and_future_jobs("doomed", None);

        assert!(error_of(job).contains("cancelled"));
        assert!(ctx.range(0..5).count().is_err(), "the group is closed");
        ctx.clear_job_group();
        assert_eq!(ctx.range(0..5).count().unwrap(), 5);
    });
}

/// Behaviours: CANC-005.
#[test]
fn jobs_are_cancelled_by_tag_and_their_ids_reported() {
    each_backend(|ctx| {
        ctx.add_job_tag("slow").unwrap();
        let job = endless(ctx);
        ctx.remove_job_tag("slow").unwrap();

        let hit = ctx.cancel_jobs_with_tag("slow", Some("too slow"));

        assert_eq!(hit, job.job_ids());
        assert!(error_of(job).contains("too slow"));
        assert!(ctx.cancel_jobs_with_tag("slow", None).is_empty());
        assert!(ctx.add_job_tag("").is_err() && ctx.add_job_tag("a,b").is_err());
    });
}

/// Behaviours: CANC-006, CANC-007.
#[test]
fn stages_and_everything_can_be_cancelled() {
    each_backend(|ctx| {
        let started = started_tasks(ctx);
        let job = endless(ctx);
        started.recv_timeout(LIMIT).unwrap();
        let stage = ctx.status().unwrap().active_stages()[0].stage_id;

        ctx.cancel_stage(stage, Some("wrong stage"));
        assert!(error_of(job).contains("wrong stage"));
        let job = endless(ctx);
        ctx.cancel_all_jobs(Some("all of them"));

        assert!(error_of(job).contains("all of them"));
    });
}

/// Behaviours: CANC-008.
#[test]
fn one_attempt_is_killed_and_its_task_tried_again() {
    each_backend(|ctx| {
        let started = started_tasks(ctx);
        // The first attempt never ends by itself, the second one gives a row.
        let job = ctx.range_into(0..1_u64, 1).flat_map(|_| {
            let first = TaskContext::current().unwrap().attempt_number().0 == 0;
            std::iter::repeat_n(1_u8, if first { usize::MAX } else { 1 })
        });
        let job = job.count_async();
        let attempt = started.recv_timeout(LIMIT).unwrap();

        assert!(ctx.kill_task_attempt(attempt, "start over"));
        assert!(!ctx.kill_task_attempt(AttemptId(u64::MAX), "nobody"));

        let counted = job.wait_timeout(LIMIT).unwrap_or_else(|_| panic!("the task was not tried again"));
        assert_eq!(counted.unwrap(), 1);
    });
}

/// Behaviours: CANC-011.
#[test]
fn cancelling_one_of_two_jobs_leaves_the_other_alone() {
    each_backend(|ctx| {
        let doomed = ctx.range_into(0..1_u64, 1).flat_map(|_| std::iter::repeat(1_u8)).count_async();
        let other =
            ctx.range_into(0..1000_u64, 8).map(|x| (x % 7, x)).reduce_by_key(|a, b| a + b).count_async();

        doomed.cancel_because("only this one");

        assert!(error_of(doomed).contains("only this one"));
        assert_eq!(other.wait().unwrap(), 7);
    });
}

/// Behaviours: CANC-013.
#[test]
fn stopping_the_context_fails_what_runs_and_refuses_what_follows() {
    each_backend(|ctx| {
        let job = endless(ctx);

        ctx.stop().unwrap();

        let error = job.wait().unwrap_err().to_string();
        assert!(error.contains("context"), "{error}");
        assert!(matches!(ctx.range(0..5).count(), Err(Error::Stopped)));
        ctx.stop().unwrap();
    });
}
