//! Events and effects are plain data: what is encoded is decoded to an equal value.

use std::{collections::BTreeMap, fmt, sync::Arc};

use firesteel_scheduler::{
    BlockUpdate, Cancel, Effect, Event, FetchedResult, Ignored, JobError, JobRejection, NotSent, Partitions,
    Refusal, ResultPlace, Scaling, StageTaskKind, TaskDescription, TaskOutcome, TaskStatus, Warning,
    barrier_sync::{SyncCall, SyncFailure, SyncReply, SyncRequest},
    commit::CommitDecision,
    heartbeat::HeartbeatReply,
};
use firesteel_types::{
    AttemptId, AttemptNumber, Cpus, ExecutorId, ExecutorLossReason, JobId, Locality, PartitionId, ProfileId,
    Properties, RddId, ResourceProfile, Share, ShuffleId, StageAttemptId, StageId, TaskFailure, TaskIndex,
    TaskMetrics,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::harness::{
    World, barrier, executor_spec, fetch_failed, map, map_outcome, millis, property, shuffled, source,
};

const SET: StageAttemptId = StageAttemptId::new(StageId(3), 1);
const ATTEMPT: AttemptId = AttemptId(u64::MAX);
const EXECUTOR: ExecutorId = ExecutorId(7);

fn assert_survives<T: Serialize + DeserializeOwned + PartialEq + fmt::Debug>(value: &T) {
    let bytes = postcard::to_stdvec(value).expect("plain data can be encoded");
    let back: T = postcard::from_bytes(&bytes).expect("what was encoded can be decoded");
    assert_eq!(&back, value);
}

/// Behaviours: BACK-018.
#[test]
fn a_task_survives_the_wire() {
    let third: Share = "0.3".parse().expect("the amount is well-formed");
    let description = TaskDescription {
        attempt: ATTEMPT,
        set: SET,
        index: TaskIndex(5),
        partition: PartitionId(9),
        number: AttemptNumber(2),
        executor: EXECUTOR,
        locality: Locality::Rack,
        speculative: true,
        ahead: true,
        cpus: "1.5".parse().expect("the amount is well-formed"),
        resources: BTreeMap::from([
            ("gpu".into(), vec![("0".into(), third), ("1".into(), Share::WHOLE)]),
            ("fpga".into(), Vec::new()),
        ]),
        epoch: 77,
        barrier: Some(Arc::from(["h1:1".into(), "h2:2".into()])),
    };
    let plain = TaskDescription { resources: BTreeMap::new(), barrier: None, ..description.clone() };

    assert_survives(&description);
    assert_survives(&plain);
}

/// Behaviours: BACK-018.
#[test]
fn what_a_task_shares_with_its_stage_survives_the_wire_with_long_properties() {
    let long = "x".repeat(100_000);
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    let properties = property("long", &long).with("ümlaut", "✓");

    let submitted = world.submit_with(0, properties);

    let launch = submitted.0.iter().find_map(|effect| match effect {
        Effect::PrepareStage(launch) => Some(launch),
        _ => None,
    });
    let launch = launch.expect("a stage begins");
    assert_eq!(launch.properties.get("long"), Some(long.as_str()));
    assert_survives(launch);
}

/// Behaviours: BACK-018.
#[test]
fn every_effect_of_an_eventful_life_survives_the_wire() {
    let mut world = World::new();
    let mut effects = Vec::new();
    effects.extend(world.executor(0, "h1", 2).0);
    effects.extend(world.executor(1, "h2", 2).0);
    world.rdds([source(0, 2), shuffled(1, 2, 0, 0), barrier(2, 2), map(3, 2, 2), barrier(4, 9)]);
    effects.extend(world.submit(1).0);
    effects.extend(world.finish_map(0, &[1, 2]).0);
    effects.extend(world.finish_map(1, &[3, 4]).0);
    let (executor, host) = if world.executor_of(0).0 == 0 { (0, "h1") } else { (1, "h2") };
    effects.extend(world.fail(2, fetch_failed(0, 0, executor, host)).0);
    effects.extend(world.advance(millis(200)).0);
    effects.extend(world.submit(3).0);
    effects.extend(world.submit(4).0);
    effects.extend(world.submit(99).0);
    effects.extend(world.cancel(Cancel::Tag("x".to_owned())).0);
    effects.extend(world.lose(0).0);
    effects.extend(world.send(Event::ContextStopped).0);

    assert!(effects.len() > 30);
    effects.iter().for_each(assert_survives);
}

/// Behaviours: BACK-018.
#[test]
fn every_kind_of_effect_survives_the_wire() {
    let answers: [Result<(), Refusal>; 3] = [
        Ok(()),
        Err(Refusal::Duplicate { executor: EXECUTOR }),
        Err(Refusal::HostExcluded { host: "h".into() }),
    ];
    let gathered = SyncReply::Gathered { messages: Arc::from(["a".into(), "b".into()]) };
    let cause = Some(TaskFailure::panicked("boom"));
    let mut effects = vec![
        Effect::KillTask { executor: EXECUTOR, attempt: ATTEMPT, interrupt: true, reason: "r".to_owned() },
        Effect::ForgetStage { set: SET },
        Effect::FetchResult { attempt: ATTEMPT },
        Effect::DropResultBlock { attempt: ATTEMPT },
        Effect::DeliverResult { job: JobId(1), position: 2, attempt: ATTEMPT },
        Effect::DeliverStatistics { job: JobId(1), bytes_by_reducer: vec![0, u64::MAX] },
        Effect::JobSucceeded { job: JobId(1), generation: 2 },
        Effect::JobFailed {
            job: JobId(1),
            error: JobError::StageFailed { stage: StageId(1), reason: "r".to_owned(), cause },
        },
        Effect::JobFailed { job: JobId(1), error: JobRejection::UnknownRdd { rdd: RddId(4) }.into() },
        Effect::AnswerCommit {
            set: SET,
            partition: PartitionId(0),
            number: AttemptNumber(0),
            decision: CommitDecision::Granted,
        },
        Effect::AnswerBarrier { set: SET, attempt: ATTEMPT, reply: gathered },
        Effect::AnswerBarrier {
            set: SET,
            attempt: ATTEMPT,
            reply: SyncReply::Failed(SyncFailure::MixedCalls { set: SET, epoch: 1 }),
        },
        Effect::AnswerHeartbeat {
            executor: EXECUTOR,
            reply: HeartbeatReply { pass_on: true, reregister_block_manager: false },
        },
        Effect::ProfileAnswer(Ok(ProfileId(3))),
        Effect::ProfileAnswer(Err("no".to_owned())),
        Effect::KillExecutors { executors: vec![EXECUTOR, ExecutorId::DRIVER], force: true },
        Effect::DecommissionExecutors { executors: vec![EXECUTOR] },
        Effect::RequestExecutors { totals: vec![(ProfileId(0), 3)] },
        Effect::RemoveBlockManager { executor: EXECUTOR },
        Effect::ResolveRacks { hosts: vec!["h".into()] },
        Effect::TagCancelled { tag: "t".to_owned(), jobs: vec![JobId(1)] },
        Effect::TaskKillAnswer { attempt: ATTEMPT, found: false },
        Effect::StopExecutors,
        Effect::StopContext { reason: "r".to_owned() },
        Effect::Warn(Warning::LargeTask { set: SET, size_bytes: 1 }),
        Effect::Ignored(Ignored::UnknownProfile { profile: ProfileId(9) }),
    ];
    effects.extend(answers.map(|answer| Effect::AnswerRegistration { executor: EXECUTOR, answer }));

    effects.iter().for_each(assert_survives);
    assert_survives(&StageTaskKind::ShuffleMap(ShuffleId(4)));
}

/// Behaviours: BACK-018.
#[test]
fn events_of_the_application_survive_the_wire() {
    let job = firesteel_scheduler::JobSpec {
        job: JobId(1),
        rdd: RddId(2),
        partitions: Partitions::Listed(Arc::from([PartitionId(3), PartitionId(1)])),
        properties: property("a", "b"),
        rows_seen: None,
    };
    let events = [
        Event::RddsRegistered(vec![source(0, 2), barrier(1, 1), shuffled(2, 2, 0, 0)]),
        Event::RddsDropped(vec![RddId(1)]),
        Event::ProfileRegistered { profile: ResourceProfile::default_profile(Cpus::ONE) },
        Event::JobSubmitted(job),
        Event::MapStageSubmitted {
            job: JobId(1),
            rdd: RddId(2),
            shuffle: ShuffleId(3),
            properties: Properties::default(),
        },
        Event::CancelRequested { what: Cancel::Group { group: "g".to_owned(), future: true }, reason: None },
        Event::TaskKillRequested { attempt: ATTEMPT, interrupt: true, reason: "r".to_owned() },
        Event::ResultHandlerFailed { job: JobId(1), message: "m".to_owned() },
        Event::ShuffleDropped { shuffle: ShuffleId(1) },
        Event::ContextStopped,
        Event::LoopFailed { message: "m".to_owned() },
    ];

    events.iter().for_each(assert_survives);
}

/// Behaviours: BACK-018.
#[test]
fn events_of_executors_survive_the_wire() {
    let statuses = [
        TaskStatus::Running,
        TaskStatus::Finished(map_outcome(&[0, 1, u64::MAX], Some(5))),
        TaskStatus::Finished(TaskOutcome {
            result: ResultPlace::Indirect,
            size_bytes: 9,
            ..TaskOutcome::default()
        }),
        TaskStatus::Failed {
            failure: fetch_failed(1, 2, 3, "h"),
            metrics: TaskMetrics { input_bytes: 1, ..TaskMetrics::default() },
            accumulators: true,
        },
    ];
    let request = SyncRequest {
        set: SET,
        partition: PartitionId(0),
        attempt: ATTEMPT,
        epoch: 3,
        call: SyncCall::AllGather { message: "hello".into() },
    };
    let reason = ExecutorLossReason::from_exit(None, "gone", Some("h".into()));
    let block = BlockUpdate { rdd: RddId(1), partition: PartitionId(2), generation: 0, present: true };
    let mut events = vec![
        Event::StageNotSerializable { set: SET, message: "m".to_owned() },
        Event::TaskNotSent { attempt: ATTEMPT, why: NotSent::TooLarge { size_bytes: 1 } },
        Event::LargeTaskSent { attempt: ATTEMPT, size_bytes: 1 },
        Event::ResultFetched { attempt: ATTEMPT, outcome: FetchedResult::Lost },
        Event::RacksResolved(vec![("h".into(), Some("r".to_owned())), ("i".into(), None)]),
        Event::ExecutorRegistered(executor_spec(1, "h", 4)),
        Event::ExecutorLaunched { executor: EXECUTOR },
        Event::Heartbeat {
            executor: EXECUTOR,
            block_manager_known: true,
            running: vec![(ATTEMPT, TaskMetrics::default())],
        },
        Event::ExecutorDisconnected { executor: EXECUTOR },
        Event::ExecutorLost { executor: EXECUTOR, reason },
        Event::WorkerRemoved { host: "h".into(), message: "m".to_owned() },
        Event::ScalingRequested(Scaling::Total(BTreeMap::from([(ProfileId(0), -1)]))),
        Event::BlocksUpdated { executor: EXECUTOR, blocks: vec![block] },
        Event::MapOutputMoved {
            shuffle: ShuffleId(1),
            map_attempt: ATTEMPT,
            executor: EXECUTOR,
            host: "h".into(),
        },
        Event::ClusterFailed { message: "m".to_owned() },
        Event::CommitRequested { set: SET, partition: PartitionId(0), number: AttemptNumber(1) },
        Event::BarrierRequested(request),
        Event::Tick,
    ];
    events.extend(statuses.map(|status| Event::StatusUpdate {
        executor: EXECUTOR,
        attempt: ATTEMPT,
        status,
    }));

    events.iter().for_each(assert_survives);
}
