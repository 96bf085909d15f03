//! Events that are late, repeated, unknown or lying are named and ignored, or are harmless; none makes the
//! scheduler panic.

use std::collections::BTreeMap;

use firesteel_scheduler::{
    BlockUpdate, Cancel, Event, FetchedResult, JobSpec, NotSent, Partitions, ResultPlace, Scaling,
    TaskOutcome, TaskStatus,
    barrier_sync::{SyncCall, SyncRequest},
};
use firesteel_types::{
    AttemptId, AttemptNumber, Cpus, ExecutorId, ExecutorLossReason, JobId, PartitionId, ProfileId,
    Properties, RddId, RddNode, ShuffleId, StageAttemptId, StageId, StorageLevel, TaskFailure, TaskMetrics,
};

use crate::harness::{Effects, World, executor_spec, fetch_failed, map_outcome, millis, shuffled, source};

const NOTHING: [&str; 0] = [];
const SET: StageAttemptId = StageAttemptId::new(StageId(99), 0);

fn job(id: u32, rdd: u32) -> Event {
    let (partitions, properties) = (Partitions::All, Properties::default());
    Event::JobSubmitted(JobSpec { job: JobId(id), rdd: RddId(rdd), partitions, properties, rows_seen: None })
}

type Case = (Event, Vec<&'static str>);

/// Every event that names something, naming what does not exist, with the effects it has.
fn strangers() -> Vec<Case> {
    let mut cases = strangers_of_the_application();
    cases.extend(strangers_of_executors());
    cases
}

fn strangers_of_the_application() -> Vec<Case> {
    let attempt = AttemptId(77);
    let text = || "x".to_owned();
    let unknown_attempt = vec!["ignored: attempt-77 is not running"];
    vec![
        (Event::RddsDropped(vec![RddId(77)]), vec![]),
        (job(5, 77), vec!["job-5 failed: rdd-77 is not registered"]),
        (
            Event::MapStageSubmitted {
                job: JobId(5),
                rdd: RddId(77),
                shuffle: ShuffleId(77),
                properties: Properties::default(),
            },
            vec!["job-5 failed: rdd-77 has no dependency on shuffle-77"],
        ),
        (
            Event::CancelRequested { what: Cancel::Job(JobId(77)), reason: None },
            vec!["ignored: job-77 is not active"],
        ),
        (
            Event::CancelRequested { what: Cancel::Stage(StageId(77)), reason: None },
            vec!["ignored: stage-77 is not active"],
        ),
        (Event::TaskKillRequested { attempt, interrupt: true, reason: text() }, vec!["attempt-77 not found"]),
        (
            Event::ResultHandlerFailed { job: JobId(77), message: text() },
            vec!["ignored: job-77 is not active"],
        ),
        (Event::ShuffleDropped { shuffle: ShuffleId(77) }, vec!["ignored: shuffle-77 is not registered"]),
        (
            Event::StageNotSerializable { set: SET, message: text() },
            vec!["ignored: stage-99.0 is not active"],
        ),
        (Event::TaskNotSent { attempt, why: NotSent::TooLarge { size_bytes: 1 } }, unknown_attempt.clone()),
        (Event::LargeTaskSent { attempt, size_bytes: u64::MAX }, unknown_attempt.clone()),
        (Event::ResultFetched { attempt, outcome: FetchedResult::Lost }, unknown_attempt),
    ]
}

fn strangers_of_executors() -> Vec<Case> {
    let (executor, attempt, partition) = (ExecutorId(77), AttemptId(77), PartitionId(u32::MAX));
    let number = AttemptNumber(u32::MAX);
    let block = BlockUpdate { rdd: RddId(77), partition, generation: 0, present: true };
    let text = || "x".to_owned();
    let request = SyncRequest { set: SET, partition, attempt, epoch: 9, call: SyncCall::Barrier };
    let status = |status| Event::StatusUpdate { executor, attempt, status };
    let unknown_attempt = vec!["ignored: attempt-77 is not running"];
    let unknown_executor = vec!["ignored: executor-77 is not registered"];
    vec![
        (Event::RacksResolved(vec![("nowhere".into(), Some(text())), ("nowhere".into(), None)]), vec![]),
        (Event::ExecutorLaunched { executor }, unknown_executor.clone()),
        (status(TaskStatus::Running), unknown_attempt.clone()),
        (status(TaskStatus::Finished(TaskOutcome::default())), unknown_attempt),
        (
            Event::Heartbeat {
                executor,
                block_manager_known: true,
                running: vec![(attempt, TaskMetrics::default())],
            },
            vec!["heartbeat executor-77: HeartbeatReply { pass_on: false, reregister_block_manager: true }"],
        ),
        (Event::ExecutorDisconnected { executor }, unknown_executor.clone()),
        (
            Event::ExecutorLost { executor, reason: ExecutorLossReason::Killed },
            vec!["remove blocks of executor-77", "* executor-77 removed: killed by the driver"],
        ),
        (Event::WorkerRemoved { host: "nowhere".into(), message: text() }, vec![]),
        (Event::ScalingRequested(Scaling::Replace(vec![executor])), vec!["kill [] by force"]),
        (
            Event::ScalingRequested(Scaling::Total(BTreeMap::from([(ProfileId(77), 1)]))),
            vec!["ignored: profile-77 is not registered"],
        ),
        (Event::BlocksUpdated { executor, blocks: vec![block] }, unknown_executor),
        (
            Event::MapOutputMoved {
                shuffle: ShuffleId(77),
                map_attempt: attempt,
                executor,
                host: "nowhere".into(),
            },
            vec![],
        ),
        (
            Event::CommitRequested { set: SET, partition, number },
            vec!["commit stage-99.0 partition-4294967295 try-4294967295: Denied(StageNotRunning)"],
        ),
        (
            Event::BarrierRequested(request),
            vec!["barrier stage-99.0 attempt-77: Failed(StageNotRunning { set: stage-99.0 })"],
        ),
        (Event::Tick, vec![]),
    ]
}

#[test]
fn events_about_strangers_change_nothing() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 2), shuffled(1, 1, 0, 0)]);
    world.submit(1);

    for (event, expected) in strangers() {
        let text = format!("{event:?}");
        assert_eq!(world.send(event).lines(), expected, "{text}");
    }

    world.finish_map(0, &[1]);
    world.finish_map(1, &[1]);
    assert_eq!(world.finish(2).lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

#[test]
fn events_after_the_context_stopped_start_nothing() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 2)]);
    world.submit(0);
    world.send(Event::ContextStopped);

    for (event, _) in strangers() {
        let effects = world.send(event);
        assert_eq!(effects.attempts(), [0; 0]);
        assert_eq!(effects.lines_with("request"), NOTHING);
    }
    assert_eq!(world.send(job(9, 0)).lines(), ["job-9 failed: the context is stopped"]);
    world.finish(0);
    world.panic(1);
    world.assert_quiescent();
    assert_eq!(world.scheduler.next_deadline(), None);
}

#[test]
fn reports_on_finished_tasks_are_ignored() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 2)]);
    world.submit(0);
    world.finish(0);
    let ignored = ["ignored: attempt-0 is not running"];

    assert_eq!(world.running(0).lines(), ignored);
    assert_eq!(world.finish(0).lines(), ignored);
    assert_eq!(world.panic(0).lines(), ignored);
    assert_eq!(world.fail(0, fetch_failed(0, 0, 0, "h1")).lines(), ignored);
    let fetched = Event::ResultFetched { attempt: AttemptId(0), outcome: FetchedResult::Fetched };
    assert_eq!(world.send(fetched).lines(), ignored);
    world.finish(1);
    world.assert_quiescent();
}

#[test]
fn a_status_from_the_wrong_executor_is_ignored() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([source(0, 1)]);
    world.submit(0);
    let wrong = ExecutorId(1 - world.executor_of(0).0);
    let killed = TaskStatus::Failed {
        failure: TaskFailure::killed("x"),
        metrics: TaskMetrics::default(),
        accumulators: true,
    };

    for status in [TaskStatus::Running, TaskStatus::Finished(TaskOutcome::default()), killed] {
        let effects = world.send(Event::StatusUpdate { executor: wrong, attempt: AttemptId(0), status });
        assert_eq!(effects.lines(), [format!("ignored: attempt-0 does not run on {wrong}")]);
    }
    world.finish(0);
    world.assert_quiescent();
}

#[test]
fn blocks_of_unknown_rdds_and_partitions_are_not_kept() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1);
    world.rdds([RddNode { storage: StorageLevel::MEMORY_ONLY, ..source(0, 1) }]);
    let update = |world: &mut World, rdd, partition, present| {
        let block =
            BlockUpdate { rdd: RddId(rdd), partition: PartitionId(partition), generation: 0, present };
        world.send(Event::BlocksUpdated { executor: ExecutorId(0), blocks: vec![block, block] })
    };

    for (rdd, partition) in [(7, 0), (0, 1), (0, u32::MAX), (7, u32::MAX)] {
        assert_eq!(update(&mut world, rdd, partition, false).lines(), NOTHING);
        assert_eq!(update(&mut world, rdd, partition, true).lines(), NOTHING);
        assert_eq!(world.scheduler.cached_at(RddId(rdd), PartitionId(partition)), []);
    }
    update(&mut world, 0, 0, true);
    assert_eq!(world.scheduler.cached_at(RddId(0), PartitionId(0)), [ExecutorId(0)], "said twice, held once");
}

#[test]
fn a_task_that_runs_cannot_turn_out_not_to_have_been_sent() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 2)]);
    world.submit(0);
    world.running(0);
    let outcome = TaskOutcome { result: ResultPlace::Indirect, ..TaskOutcome::default() };
    world.status(1, TaskStatus::Finished(outcome));

    for attempt in [0, 1] {
        let why = NotSent::NotSerializable { message: "x".to_owned() };
        let effects = world.send(Event::TaskNotSent { attempt: AttemptId(attempt), why });
        assert_eq!(effects.lines(), [format!("ignored: attempt-{attempt} is not running")]);
    }
    world.finish(0);
    world.send(Event::ResultFetched { attempt: AttemptId(1), outcome: FetchedResult::Fetched });
    world.assert_quiescent();
}

#[test]
fn a_result_is_fetched_once() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    let fetched = |world: &mut World, outcome| -> Effects {
        world.send(Event::ResultFetched { attempt: AttemptId(0), outcome })
    };
    let early = fetched(&mut world, FetchedResult::Fetched);
    let outcome = TaskOutcome { result: ResultPlace::Indirect, ..TaskOutcome::default() };
    world.status(0, TaskStatus::Finished(outcome));

    let first = fetched(&mut world, FetchedResult::Fetched);
    let second = fetched(&mut world, FetchedResult::Lost);

    assert_eq!(early.lines(), ["ignored: attempt-0 is not running"], "no fetch was ordered");
    assert_eq!(first.lines_with("succeeded"), ["job-0 succeeded"]);
    assert_eq!(second.lines(), ["ignored: attempt-0 is not running"]);
    world.assert_quiescent();
}

#[test]
fn absurd_executors_are_harmless() {
    let mut world = World::new();
    for id in 0..12 {
        let mut spec = executor_spec(id, "h1", u32::MAX);
        spec.cpus = Cpus::nanos(u64::MAX);
        spec.profile = ProfileId(u32::MAX - id % 2);
        spec.resources.insert("gpu".into(), vec!["0".into(), "0".into()]);
        world.send(Event::ExecutorRegistered(spec.clone()));
        assert_eq!(world.send(Event::ExecutorRegistered(spec)).lines_with("already").len(), 1);
        world.send(Event::ExecutorLaunched { executor: ExecutorId(id) });
    }
    world.executor(50, "h1", 0);
    world.rdds([source(0, 1)]);

    assert_eq!(world.submit(0).attempts(), [0; 0], "none of them serves a known profile");
    for id in 0..12 {
        world.lose(id);
    }
    assert_eq!(world.scheduler.default_parallelism(), 2);
}

#[test]
fn a_job_id_that_is_in_use_is_refused() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(0);

    assert_eq!(world.send(job(0, 0)).lines(), ["job-0 failed: job-0 was submitted before"]);
    let map_stage = Event::MapStageSubmitted {
        job: JobId(0),
        rdd: RddId(1),
        shuffle: ShuffleId(0),
        properties: Properties::default(),
    };
    assert_eq!(world.send(map_stage).lines(), ["job-0 failed: job-0 was submitted before"]);
    assert_eq!(world.finish(0).lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

#[test]
fn a_map_output_of_the_wrong_shape_fails_the_job() {
    let outcomes = [map_outcome(&[1], None), map_outcome(&[1, 1, 1], None), TaskOutcome::default()];
    for outcome in outcomes {
        let mut world = World::new();
        world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 2, 0, 0)]);
        world.submit(1);

        let failed = world.status(0, TaskStatus::Finished(outcome));

        assert_eq!(failed.lines_with("job-0 failed by stage-0").len(), 1, "{:?}", failed.lines());
        assert_eq!(failed.attempts(), [0; 0]);
        world.assert_quiescent();
    }
}

#[test]
fn a_result_task_that_reports_a_map_output_only_gives_its_result() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);

    let done = world.status(0, TaskStatus::Finished(map_outcome(&[1, 2, 3], Some(4))));

    assert_eq!(done.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

#[test]
fn fetch_failures_that_name_nonsense_only_fail_their_stage() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1]);

    let failed = world.fail(1, fetch_failed(77, u32::MAX, 77, "nowhere"));
    let again = world.advance(millis(200));

    assert_eq!(failed.lines_with("stage-1.0 failed").len(), 1);
    assert_eq!(again.attempts(), [2], "the map output is there, so the reader just runs again");
    assert_eq!(world.finish(2).lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

#[test]
fn a_clock_that_goes_backwards_does_not_confuse_anybody() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    world.now = firesteel_types::Timestamp::ZERO;

    assert_eq!(world.send(Event::Tick).lines(), NOTHING);
    assert_eq!(world.finish(0).lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}
