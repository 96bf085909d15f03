//! Bugs that random runs found, each as small as it could be made.

use firesteel_scheduler::{
    Cancel, Event, FetchedResult, NotSent, ResultPlace, Scaling, SchedulerConfig, SpeculationConfig,
    StageConfig, TaskOutcome, TaskStatus, exclusion::ExclusionConfig,
};
use firesteel_types::{
    AttemptId, Dependency, ExecutorId, ExecutorLossReason, JobId, PartitionId, RddId, RddNode, ShuffleId,
};

use crate::harness::{World, fetch_failed, map_outcome, millis, secs, shuffle_dependency, shuffled, source};

/// A scheduler that makes a copy of every task as soon as one task of its set has succeeded.
fn with_copies() -> SchedulerConfig {
    let speculation =
        SpeculationConfig { quantile_permille: 0, multiplier_permille: 0, ..SpeculationConfig::default() };
    SchedulerConfig { speculation: Some(speculation), ..SchedulerConfig::default() }
}

fn indirect() -> TaskStatus {
    TaskStatus::Finished(TaskOutcome { result: ResultPlace::Indirect, ..TaskOutcome::default() })
}

fn fetched(attempt: u64) -> Event {
    Event::ResultFetched { attempt: AttemptId(attempt), outcome: FetchedResult::Fetched }
}

/// The executor takes no more tasks.
fn drained(executor: u32) -> Event {
    Event::ScalingRequested(Scaling::Decommission {
        executors: vec![ExecutorId(executor)],
        worker_host: None,
        adjust_target: false,
        by_executor: true,
    })
}

fn barrier(node: RddNode) -> RddNode {
    RddNode { barrier: true, ..node }
}

/// The RDD as it is after a checkpoint: it depends on nothing any more.
fn checkpointed(id: u32, partitions: u32) -> RddNode {
    RddNode { checkpointed: true, ..source(id, partitions) }
}

#[test]
fn an_attempt_whose_result_is_on_the_way_is_not_killed_by_a_faster_copy() {
    let mut world = World::with(with_copies());
    world.executors(0, &["h1"], 2).rdds([source(0, 2)]);
    world.submit(0);
    world.finish(0);
    world.executor(1, "h2", 1);
    let copied = world.advance(millis(200));
    world.status(1, indirect());

    let beaten = world.finish(2);

    assert_eq!(copied.attempts(), [2]);
    assert_eq!(
        beaten.lines(),
        [
            "* attempt-2 ends",
            "deliver job-0 [1] = attempt-2",
            "* stage-0.0 completed",
            "* job-0 ends",
            "job-0 succeeded",
        ]
    );
    let late = world.send(fetched(1));
    assert_eq!(late.lines(), ["forget stage-0.0", "* attempt-1 ends: killed: another attempt succeeded"]);
    world.assert_quiescent();
}

#[test]
fn a_backend_that_cannot_kill_is_not_told_to() {
    let mut world = World::with(SchedulerConfig { can_kill_tasks: false, ..with_copies() });
    world.executors(0, &["h1"], 2).rdds([source(0, 2)]);
    world.submit(0);
    let (attempt, reason) = (AttemptId(1), "by hand".to_owned());
    let asked = world.send(Event::TaskKillRequested { attempt, interrupt: false, reason });
    world.finish(0);
    world.executor(1, "h2", 1);
    world.advance(millis(200));

    let beaten = world.finish(2);

    assert_eq!(asked.lines(), ["ignored: the backend cannot kill tasks", "attempt-1 not found"]);
    assert_eq!(beaten.lines_with("kill"), [""; 0]);
    world.finish(1);
    world.assert_quiescent();
}

#[test]
fn a_task_that_reported_its_end_cannot_have_stayed_unsent() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    world.status(0, indirect());

    let why = NotSent::NotSerializable { message: "late".to_owned() };
    let late = world.send(Event::TaskNotSent { attempt: AttemptId(0), why });

    assert_eq!(late.lines(), ["ignored: attempt-0 is not running"]);
    world.send(fetched(0));
    world.assert_quiescent();
}

#[test]
fn an_attempt_of_a_stage_that_failed_does_not_end_again_with_its_job() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1]);
    world.fail(1, fetch_failed(0, 0, 0, "h1"));

    let cancelled =
        world.send(Event::CancelRequested { what: Cancel::All, reason: Some("enough".to_owned()) });

    assert_eq!(
        cancelled.lines(),
        ["job-0 failed: job-0 cancelled: enough", "* job-0 ends: job-0 cancelled: enough"]
    );
    world.assert_quiescent();
}

#[test]
fn an_attempt_that_failed_does_not_end_again_with_its_last_result() {
    let mut world = World::with(with_copies());
    world.executors(0, &["h1"], 2).rdds([source(0, 1), shuffled(1, 2, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1, 1]);
    world.finish(1);
    world.executor(1, "h2", 1);
    world.advance(millis(200));
    world.status(2, indirect());
    // The copy cannot get its input, while the result of the first attempt is on the way.
    let failed = world.fail(3, fetch_failed(0, 0, 0, "h1"));

    let late = world.send(fetched(2));

    assert_eq!(failed.lines_with("stage-1.0 failed").len(), 1);
    assert_eq!(
        late.lines(),
        [
            "forget stage-1.0",
            "* attempt-2 ends",
            "deliver job-0 [1] = attempt-2",
            "* job-0 ends",
            "job-0 succeeded",
        ]
    );
    world.assert_quiescent();
}

#[test]
fn no_job_outlives_the_context_even_if_tasks_cannot_be_killed() {
    let mut world = World::with(SchedulerConfig { can_kill_tasks: false, ..SchedulerConfig::default() });
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);

    let stopped = world.send(Event::ContextStopped);

    assert_eq!(
        stopped.lines(),
        [
            "* stage-0.0 failed: job-0 cancelled: the context was shut down",
            "job-0 failed: job-0 cancelled: the context was shut down",
            "* job-0 ends: job-0 cancelled: the context was shut down",
            "stop executors",
        ]
    );
    world.lose(0);
    world.assert_quiescent();
}

#[test]
fn an_executor_that_is_lost_with_a_host_it_was_not_on_takes_its_own_outputs_along() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 2), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1]);

    world.lose_with(0, ExecutorLossReason::Decommissioned { worker_host: Some("h2".into()) });

    assert_eq!(world.scheduler.map_outputs().output(ShuffleId(0), PartitionId(0)), None);
}

#[test]
fn a_shuffle_that_was_dropped_too_early_fails_the_job_that_wants_it_again() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0), shuffled(2, 1, 1, 1)]);
    world.submit(2);
    world.finish_map(0, &[1]);
    world.finish_map(1, &[1]);
    // The job runs its last stage and does not need the first shuffle any more; the second job does.
    let dropped = world.send(Event::ShuffleDropped { shuffle: ShuffleId(0) });

    let second = world.submit(1);
    let first = world.finish(2);

    assert_eq!(dropped.lines(), [""; 0]);
    assert_eq!(
        second.lines_with("failed"),
        ["job-1 failed by stage-0: shuffle-0 was removed while a job was using it"]
    );
    assert_eq!(first.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

#[test]
fn a_job_goes_on_when_a_stage_is_given_up_that_a_checkpoint_made_needless() {
    let mut world = World::new();
    let chain = [source(0, 1), shuffled(1, 1, 0, 0), shuffled(2, 1, 1, 1)];
    world.executors(0, &["h1"], 1).rdds(chain);
    world.submit(2);
    world.rdds([checkpointed(2, 1)]);

    let why = NotSent::NotSerializable { message: "no".to_owned() };
    let given_up = world.send(Event::TaskNotSent { attempt: AttemptId(0), why });

    let goes_on = world.advance(millis(200));

    assert_eq!(
        given_up.lines(),
        [
            "forget stage-0.0",
            "* stage-0.0 failed: task 0 of stage-0.0 cannot be serialized: no",
            "* attempt-0 ends: killed: it was not sent",
        ]
    );
    assert_eq!(
        goes_on.lines(),
        [
            "* stage-2.0 submitted, 1 tasks",
            "prepare stage-2.0 for job-0",
            "* attempt-1 starts",
            "launch attempt-1 = stage-2.0 partition-0 try-0 on executor-0 Process",
        ]
    );
    world.finish(1);
    world.assert_quiescent();
}

#[test]
fn an_executor_id_that_comes_back_on_another_host_is_no_contradiction() {
    let exclusion = Some(ExclusionConfig::enabled());
    let mut world = World::with(SchedulerConfig { exclusion, ..SchedulerConfig::default() });
    world.executors(0, &["h1"], 1).rdds([source(0, 2)]);
    world.submit(0);
    world.panic(0);
    world.lose(0);
    world.executor(0, "h2", 1);

    let failed = world.panic(2);

    assert_eq!(failed.lines_with("attempt-2"), ["* attempt-2 ends: boom"]);
}

/// Runs the first stage of a map-stage job on executor 0, which takes nothing more, and starts the second on executor 1.
fn two_stages_apart() -> World {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0), shuffled(2, 1, 1, 1)]);
    world.submit_map_stage(2, 1);
    world.send(drained(0));
    world.executor(1, "h2", 2);
    world.finish_map(0, &[1]);
    world
}

#[test]
fn a_map_stage_that_is_there_does_not_make_its_lost_ancestors_again() {
    let mut world = two_stages_apart();
    world.finish_map(1, &[1]);
    world.lose(0);

    let again = world.submit_map_stage(2, 1);

    assert_eq!(
        again.lines(),
        [
            "* job-1 starts [stage-2.0, stage-3.0]",
            "* stage-3.0 submitted, 0 tasks",
            "* stage-3.0 completed",
            "statistics job-1 = [1]",
            "* job-1 ends",
            "job-1 succeeded",
        ]
    );
    world.assert_quiescent();
}

#[test]
fn a_map_stage_job_that_is_done_leaves_no_stage_running_behind_it() {
    let mut world = two_stages_apart();
    // Another job finds that the first stage must run again, and is cancelled.
    world.submit(1);
    world.fail(2, fetch_failed(0, 0, 0, "h1"));
    world.advance(millis(200));
    world.send(Event::CancelRequested { what: Cancel::Job(JobId(1)), reason: None });

    let done = world.finish_map(1, &[1]);

    assert_eq!(
        done.lines(),
        [
            "forget stage-1.0",
            "* attempt-1 ends",
            "* stage-1.0 completed",
            "statistics job-0 = [1]",
            "* stage-0.1 failed: job-0 is finished",
            "* job-0 ends",
            "job-0 succeeded",
            "kill attempt-3 on executor-1: job-0 is finished",
        ]
    );
    world.panic(3);
    world.assert_quiescent();
}

#[test]
fn a_barrier_stage_that_loses_an_output_runs_again_as_a_whole() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([barrier(source(0, 2)), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1]);
    let (done, other) = (world.executor_of(0).0, world.executor_of(1).0);

    let lost = world.lose(done);

    assert_eq!(
        lost.lines(),
        [
            format!("* executor-{done} removed: gone"),
            "* attempt-0 resubmitted".to_owned(),
            "* stage-0.0 failed: barrier task 0 of stage-0.0 ended: its output is lost".to_owned(),
            format!(
                "kill attempt-1 on executor-{other}: barrier task 0 of stage-0.0 ended: its output is lost"
            ),
            format!("remove blocks of executor-{done}"),
        ]
    );
    world.panic(1);
    world.executor(2, "h3", 1);
    assert_eq!(world.advance(millis(200)).partitions(), [0, 1]);
}

#[test]
fn a_barrier_stage_whose_output_was_written_off_runs_again_as_a_whole() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([barrier(source(0, 2)), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1]);
    let done = world.executor_of(0);
    world.executor(2, "h3", 1);
    world.send(Event::ExecutorDisconnected { executor: done });

    let again = world.finish_map(1, &[1]);

    assert_eq!(again.partitions(), [0, 1]);
}

#[test]
fn a_late_output_of_an_older_barrier_attempt_does_not_count() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([barrier(source(0, 2)), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    let slow = TaskOutcome { result: ResultPlace::Indirect, ..map_outcome(&[1], None) };
    world.status(0, TaskStatus::Finished(slow));
    world.panic(1);
    // The next attempt has too few slots when the output comes.
    world.lose(world.executor_of(1).0);
    world.advance(millis(200));

    let late = world.send(fetched(0));
    let again = world.executor(2, "h3", 1);

    assert_eq!(late.lines(), ["forget stage-0.0", "* attempt-0 ends"]);
    assert_eq!(again.partitions(), [0; 0], "an offer of one executor is not enough");
    assert_eq!(world.advance(secs(1)).partitions(), [0, 1]);
}

#[test]
fn a_barrier_job_cannot_want_a_partition_twice() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([barrier(source(0, 2))]);

    let submitted = world.submit_partitions(0, &[0, 0]);

    assert_eq!(submitted.lines().len(), 1);
    assert_eq!(submitted.lines_with("cannot be part of a barrier stage").len(), 1);
}

#[test]
fn a_late_result_counts_for_its_position_and_not_for_others_of_the_same_partition() {
    let mut world = World::new();
    world.executors(0, &["h1"], 3).rdds([source(0, 1), shuffled(1, 2, 0, 0)]);
    world.submit_partitions(1, &[0, 0, 1]);
    world.finish_map(0, &[1, 1]);
    world.status(1, indirect());
    world.fail(3, fetch_failed(0, 0, 0, "h1"));
    world.panic(2);
    // The next attempts come one by one.
    world.send(drained(0));
    world.executor(1, "h2", 1);
    world.advance(millis(200));
    let first = world.finish_map(4, &[1, 1]);

    world.send(fetched(1));
    let second = world.finish(5);
    let third = world.finish(6);
    let last = world.finish(7);

    assert_eq!(first.attempts(), [5]);
    assert_eq!([second.partitions(), third.partitions()], [[0], [1]]);
    assert_eq!(third.lines_with("deliver"), ["deliver job-0 [1] = attempt-6"]);
    assert_eq!(last.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

#[test]
fn a_stage_is_not_submitted_on_the_strength_of_outputs_that_expire_with_their_executor() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1]);
    // The reducer's stage is to run again, and the map output is there, when the executor is found silent.
    world.fail(1, fetch_failed(0, 0, 7, "h7"));
    world.now += secs(200);
    world.executor(1, "h2", 1);

    let expired = world.send(Event::Tick);

    assert_eq!(
        expired.lines(),
        [
            "kill [executor-0] by force",
            "* executor-0 removed: executor heartbeat timed out after 200000 ms",
            "remove blocks of executor-0",
            "* stage-0.1 submitted, 1 tasks",
            "prepare stage-0.1 for shuffle-0",
            "* attempt-2 starts",
            "launch attempt-2 = stage-0.1 partition-0 try-0 on executor-1 Process",
        ]
    );
}

#[test]
fn a_stage_does_not_wait_for_a_parent_that_may_not_be_submitted_again() {
    let stages = StageConfig { attempts_max: 2, ..StageConfig::default() };
    let mut world = World::with(SchedulerConfig { stages, ..SchedulerConfig::default() });
    let chain = [source(0, 1), shuffled(1, 1, 0, 0), shuffled(2, 1, 1, 1)];
    world.executors(0, &["h1"], 1).rdds(chain);
    world.submit(2);
    world.finish_map(0, &[1]);
    // The second attempt of the first stage, without any task.
    world.submit_map_stage(1, 0);
    world.fail(1, fetch_failed(0, 0, 0, "h1"));
    // The last stage does not read the others any more.
    world.rdds([checkpointed(2, 1)]);

    world.advance(millis(200));
    let resubmitted = world.advance(millis(200));

    assert_eq!(resubmitted.attempts(), [2]);
    assert_eq!(world.finish(2).lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

#[test]
fn a_stage_is_not_submitted_on_the_strength_of_outputs_that_go_with_a_failed_fetch() {
    let stages = StageConfig { consecutive_attempts_max: 1, ..StageConfig::default() };
    let mut world = World::with(SchedulerConfig { stages, ..SchedulerConfig::default() });
    let both = vec![Dependency::one_to_one(RddId(2)), shuffle_dependency(2, 0, 1)];
    let last = RddNode::derived(RddId(3), 1, both);
    world.executors(0, &["h1"], 2).rdds([source(0, 1), shuffled(1, 1, 0, 0), shuffled(2, 1, 1, 1), last]);
    world.submit(3);
    world.finish_map(0, &[1]);
    world.finish_map(1, &[1]);
    // Nothing needs the stage that fails any more, so its child can go on. But the failure also means that the executor
    // is gone, and with it what the child reads.
    world.rdds([checkpointed(2, 1)]);

    let failed = world.fail(2, fetch_failed(0, 0, 0, "h1"));
    let again = world.advance(millis(200));

    assert_eq!(failed.attempts(), [0; 0]);
    assert_eq!(again.lines_with("prepare"), ["prepare stage-0.1 for shuffle-2"]);
    world.finish_map(3, &[1]);
    assert_eq!(world.finish(4).lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}
