//! Facts about the barrier coordinator.

use std::{sync::Arc, time::Duration};

use firesteel_types::{AttemptId, PartitionId, StageAttemptId, StageId, Timestamp};

use super::{
    BarrierConfig, BarrierCoordinator, BarrierEffect, BarrierEvent, IgnoredBarrierEvent, SyncCall,
    SyncFailure, SyncReply, SyncRequest,
};

const SET: StageAttemptId = StageAttemptId::new(StageId(4), 0);
const TIMEOUT: Duration = Duration::from_secs(5);

fn at(secs: u64) -> Timestamp {
    Timestamp::from_secs(secs)
}

/// A stage attempt of three tasks; the attempt of partition p is attempt 10 + p.
struct Harness {
    coordinator: BarrierCoordinator,
}

impl Harness {
    fn new() -> Self {
        let mut coordinator = BarrierCoordinator::new(BarrierConfig { sync_timeout: TIMEOUT });
        assert_eq!(coordinator.handle(at(0), BarrierEvent::StageStarted { set: SET, tasks: 3 }), []);
        Self { coordinator }
    }

    fn call_as(&mut self, now: Timestamp, request: SyncRequest) -> Vec<BarrierEffect> {
        self.coordinator.handle(now, BarrierEvent::SyncRequested(request))
    }

    fn barrier(&mut self, now: Timestamp, partition: u32, epoch: u32) -> Vec<BarrierEffect> {
        self.call_as(now, request(partition, epoch, SyncCall::Barrier))
    }

    fn all_gather(
        &mut self,
        now: Timestamp,
        partition: u32,
        epoch: u32,
        message: &str,
    ) -> Vec<BarrierEffect> {
        self.call_as(now, request(partition, epoch, SyncCall::AllGather { message: message.into() }))
    }

    fn kill(&mut self, partition: u32) -> Vec<BarrierEffect> {
        let (partition, attempt) = (PartitionId(partition), attempt_of(partition));
        self.coordinator.handle(at(1), BarrierEvent::TaskKilled { set: SET, partition, attempt })
    }

    fn complete(&mut self) -> Vec<BarrierEffect> {
        self.coordinator.handle(at(1), BarrierEvent::StageCompleted { set: SET })
    }
}

fn attempt_of(partition: u32) -> AttemptId {
    AttemptId(10 + u64::from(partition))
}

fn request(partition: u32, epoch: u32, call: SyncCall) -> SyncRequest {
    SyncRequest { set: SET, partition: PartitionId(partition), attempt: attempt_of(partition), epoch, call }
}

fn reply(partition: u32, reply: SyncReply) -> BarrierEffect {
    BarrierEffect::Reply { set: SET, attempt: attempt_of(partition), reply }
}

fn released(partition: u32) -> BarrierEffect {
    reply(partition, SyncReply::Released)
}

fn failed(partition: u32, failure: SyncFailure) -> BarrierEffect {
    reply(partition, SyncReply::Failed(failure))
}

fn timed_out(epoch: u32, arrived: u32) -> SyncFailure {
    SyncFailure::TimedOut { set: SET, epoch, arrived, tasks: 3, timeout: TIMEOUT }
}

/// Behaviours: BAR-011.
#[test]
fn a_barrier_holds_until_the_last_task_calls() {
    let mut harness = Harness::new();

    assert_eq!(harness.barrier(at(1), 2, 0), []);
    assert_eq!(harness.barrier(at(2), 0, 0), []);
    assert_eq!(harness.coordinator.next_deadline(), Some(at(1) + TIMEOUT));
    assert_eq!(harness.barrier(at(3), 1, 0), [released(0), released(1), released(2)]);

    assert_eq!(harness.coordinator.next_deadline(), None);
}

/// Behaviours: BAR-011.
#[test]
fn all_gather_gives_every_message_in_the_order_of_the_partitions() {
    let mut harness = Harness::new();
    harness.all_gather(at(1), 2, 0, "c");
    harness.all_gather(at(1), 0, 0, "a");

    let effects = harness.all_gather(at(1), 1, 0, "b");

    let messages: Arc<[Arc<str>]> = ["a", "b", "c"].map(Arc::from).into();
    let gathered = |partition| reply(partition, SyncReply::Gathered { messages: Arc::clone(&messages) });
    assert_eq!(effects, [gathered(0), gathered(1), gathered(2)]);
}

/// Behaviours: BAR-011.
#[test]
fn each_sync_of_a_stage_attempt_has_its_own_epoch_and_kind() {
    let mut harness = Harness::new();
    for partition in 0..3 {
        harness.barrier(at(1), partition, 0);
    }

    assert_eq!(harness.all_gather(at(2), 0, 1, "x"), []);
    assert_eq!(harness.all_gather(at(2), 1, 1, "y"), []);
    assert_eq!(harness.all_gather(at(2), 2, 1, "z").len(), 3);
    assert_eq!(harness.barrier(at(3), 0, 2), []);
    assert_eq!(
        harness.coordinator.next_deadline(),
        Some(at(3) + TIMEOUT),
        "the time is counted for each sync"
    );
}

/// Behaviours: BAR-011.
#[test]
fn stage_attempts_do_not_wait_for_each_other() {
    let mut harness = Harness::new();
    let other = StageAttemptId::new(StageId(4), 1);
    harness.coordinator.handle(at(0), BarrierEvent::StageStarted { set: other, tasks: 1 });
    harness.barrier(at(1), 0, 0);

    let effects = harness.call_as(at(1), SyncRequest { set: other, ..request(0, 0, SyncCall::Barrier) });

    let attempt = attempt_of(0);
    assert_eq!(effects, [BarrierEffect::Reply { set: other, attempt, reply: SyncReply::Released }]);
}

/// Behaviours: BAR-012.
#[test]
fn mixed_calls_fail_all_callers_and_every_later_call() {
    let mut harness = Harness::new();
    harness.barrier(at(1), 0, 0);
    harness.barrier(at(1), 2, 0);

    let effects = harness.all_gather(at(2), 1, 0, "b");

    let mixed = SyncFailure::MixedCalls { set: SET, epoch: 0 };
    assert_eq!(effects, [failed(0, mixed.clone()), failed(2, mixed.clone()), failed(1, mixed)]);
    let later = SyncFailure::EarlierSyncFailed { set: SET };
    assert_eq!(harness.barrier(at(3), 0, 0), [failed(0, later.clone())]);
    assert_eq!(harness.all_gather(at(3), 1, 0, "b"), [failed(1, later)]);
    assert_eq!(harness.coordinator.next_deadline(), None);
}

/// Behaviours: BAR-012.
#[test]
fn a_barrier_call_into_an_all_gather_fails_too() {
    let mut harness = Harness::new();
    harness.all_gather(at(1), 0, 0, "a");

    let effects = harness.barrier(at(1), 1, 0);

    let mixed = SyncFailure::MixedCalls { set: SET, epoch: 0 };
    assert_eq!(effects, [failed(0, mixed.clone()), failed(1, mixed)]);
}

/// Behaviours: BAR-013.
#[test]
fn waiters_fail_when_not_all_tasks_arrive_in_time() {
    let mut harness = Harness::new();
    harness.barrier(at(1), 0, 0);
    harness.barrier(at(4), 1, 0);

    assert_eq!(harness.coordinator.handle(at(5), BarrierEvent::Tick), []);
    let effects = harness.coordinator.handle(at(6), BarrierEvent::Tick);

    assert_eq!(effects, [failed(0, timed_out(0, 2)), failed(1, timed_out(0, 2))]);
    assert_eq!(harness.barrier(at(7), 2, 0), [failed(2, SyncFailure::EarlierSyncFailed { set: SET })]);
}

/// Behaviours: BAR-013.
#[test]
fn a_task_that_makes_fewer_calls_ends_the_sync_in_a_timeout() {
    let mut harness = Harness::new();
    for partition in 0..3 {
        harness.barrier(at(1), partition, 0);
    }
    harness.barrier(at(2), 0, 1);
    harness.barrier(at(2), 1, 1);

    let effects = harness.coordinator.handle(at(2) + TIMEOUT, BarrierEvent::Tick);

    assert_eq!(effects, [failed(0, timed_out(1, 2)), failed(1, timed_out(1, 2))]);
}

/// Behaviours: BAR-013.
#[test]
fn a_call_at_the_deadline_is_too_late_even_without_a_tick() {
    let mut harness = Harness::new();
    harness.barrier(at(1), 0, 0);
    harness.barrier(at(1), 1, 0);

    let effects = harness.barrier(at(1) + TIMEOUT, 2, 0);

    let late = SyncFailure::EarlierSyncFailed { set: SET };
    assert_eq!(effects, [failed(0, timed_out(0, 2)), failed(1, timed_out(0, 2)), failed(2, late)]);
}

/// Behaviours: BAR-013.
#[test]
fn a_call_with_an_old_epoch_is_refused_and_spoils_nothing() {
    let mut harness = Harness::new();
    for partition in 0..3 {
        harness.barrier(at(1), partition, 0);
    }
    harness.barrier(at(2), 0, 1);
    harness.barrier(at(2), 1, 1);

    let effects = harness.all_gather(at(2), 2, 0, "stale");

    let wrong = SyncFailure::WrongEpoch { set: SET, asked: 0, current: 1 };
    assert_eq!(effects, [failed(2, wrong)]);
    assert_eq!(harness.barrier(at(2), 2, 1), [released(0), released(1), released(2)]);
}

/// Behaviours: BAR-013.
#[test]
fn tasks_wait_for_a_year_by_default() {
    assert_eq!(BarrierConfig::default().sync_timeout.as_secs(), 365 * 24 * 3600);
}

/// Behaviours: BAR-014.
#[test]
fn a_killed_waiter_is_answered_at_once_and_the_others_wait_on() {
    let mut harness = Harness::new();
    harness.barrier(at(1), 0, 0);
    harness.barrier(at(1), 1, 0);

    assert_eq!(harness.kill(0), [failed(0, SyncFailure::Killed)]);
    assert_eq!(harness.kill(0), [], "it waits no longer");
    assert_eq!(harness.coordinator.next_deadline(), Some(at(1) + TIMEOUT));
    assert_eq!(harness.kill(1), [failed(1, SyncFailure::Killed)]);

    assert_eq!(harness.coordinator.next_deadline(), None, "no task waits");
}

/// Behaviours: BAR-014.
#[test]
fn the_call_of_a_killed_task_that_was_on_its_way_does_not_wait() {
    let mut harness = Harness::new();
    assert_eq!(harness.kill(0), []);

    assert_eq!(harness.barrier(at(2), 0, 0), [failed(0, SyncFailure::Killed)]);

    assert_eq!(harness.coordinator.next_deadline(), None);
}

/// Behaviours: BAR-014.
#[test]
fn a_completed_stage_attempt_is_forgotten_and_nobody_is_left_waiting() {
    let mut harness = Harness::new();
    let gone = SyncFailure::StageNotRunning { set: SET };
    harness.all_gather(at(1), 0, 0, "a");

    assert_eq!(harness.complete(), [failed(0, gone.clone())]);

    assert!(harness.coordinator.is_quiescent());
    let ignored = BarrierEffect::Ignored { set: SET, reason: IgnoredBarrierEvent::StageNotRunning };
    assert_eq!(harness.barrier(at(2), 1, 0), [failed(1, gone)]);
    assert_eq!([harness.kill(1), harness.complete()].concat(), [ignored.clone(), ignored]);
    assert!(harness.coordinator.is_quiescent(), "late events bring nothing back");
}

#[test]
fn a_call_sent_twice_counts_once() {
    let mut harness = Harness::new();
    harness.barrier(at(1), 0, 0);
    harness.barrier(at(1), 1, 0);

    let effects = harness.barrier(at(1), 1, 0);

    assert_eq!(effects, [BarrierEffect::Ignored { set: SET, reason: IgnoredBarrierEvent::AlreadyWaiting }]);
    assert_eq!(harness.barrier(at(1), 2, 0), [released(0), released(1), released(2)]);
}

#[test]
fn calls_that_cannot_belong_to_the_sync_are_refused() {
    let mut harness = Harness::new();
    harness.barrier(at(1), 0, 0);
    let (attempt, partition) = (AttemptId(99), PartitionId(0));

    let second = harness.call_as(at(1), SyncRequest { attempt, ..request(0, 0, SyncCall::Barrier) });
    let outside = harness.barrier(at(1), 3, 0);

    let taken = SyncFailure::PartitionTaken { set: SET, partition, holder: attempt_of(0) };
    assert_eq!(second, [BarrierEffect::Reply { set: SET, attempt, reply: SyncReply::Failed(taken) }]);
    let unknown = SyncFailure::UnknownPartition { set: SET, partition: PartitionId(3) };
    assert_eq!(outside, [failed(3, unknown)]);
}
