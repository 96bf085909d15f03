//! Facts about the application's health tracker.

use std::time::Duration;

use firesteel_types::{
    ExclusionScope, ExecutorId, Host, ListenerEvent, StageAttemptId, StageId, TaskFailure, TaskIndex,
    Timestamp,
};

use crate::exclusion::{
    ExclusionConfig, ExclusionKillCause, HealthEffect, HealthTracker, TaskSetExcludelist,
};

const HOUR: Duration = Duration::from_hours(1);
const T0: Timestamp = Timestamp::ZERO;
const JUST_AFTER: Duration = Duration::from_micros(1);

struct Harness {
    config: ExclusionConfig,
    health: HealthTracker,
    next_stage: u32,
}

impl Harness {
    fn new(config: ExclusionConfig) -> Self {
        Self { health: HealthTracker::new(config.clone()), config, next_stage: 0 }
    }

    /// A new stage in which tasks failed as (time, executor, host, index).
    fn failed_tasks(&mut self, failures: &[(Timestamp, u32, &str, u32)]) -> TaskSetExcludelist {
        let set = StageAttemptId::new(StageId(self.next_stage), 0);
        self.next_stage += 1;
        let mut list = TaskSetExcludelist::new(&self.config, set);
        for &(now, executor, host, index) in failures {
            let failure = TaskFailure::panicked("boom");
            let executor = ExecutorId(executor);
            list.on_task_failed(now, executor, &host.into(), TaskIndex(index), &failure, &mut Vec::new());
        }
        list
    }

    fn succeed(&mut self, now: Timestamp, list: &TaskSetExcludelist) -> Vec<HealthEffect> {
        let set = StageAttemptId::new(StageId(self.next_stage), 0);
        let mut out = Vec::new();
        self.health.on_task_set_succeeded(now, set, list.failures_by_executor(), &mut out);
        out
    }

    /// Runs a stage to its success in which the tasks of `indexes` failed on `executor`.
    fn stage(&mut self, now: Timestamp, executor: u32, host: &str, indexes: &[u32]) -> Vec<HealthEffect> {
        let failures: Vec<_> = indexes.iter().map(|&index| (now, executor, host, index)).collect();
        let list = self.failed_tasks(&failures);
        self.succeed(now, &list)
    }

    fn timeouts(&mut self, now: Timestamp) -> Vec<HealthEffect> {
        let mut out = Vec::new();
        self.health.apply_timeouts(now, &mut out);
        out
    }

    fn fetch_failure(
        &mut self,
        now: Timestamp,
        executor: u32,
        host: &str,
        service: bool,
    ) -> Vec<HealthEffect> {
        let mut out = Vec::new();
        self.health.on_fetch_failure(now, ExecutorId(executor), &host.into(), service, &mut out);
        out
    }

    fn is_excluded(&self, executor: u32) -> bool {
        self.health.is_executor_excluded(ExecutorId(executor))
    }

    fn excluded_nodes(&self) -> Vec<Host> {
        self.health.excluded_nodes().cloned().collect()
    }
}

fn executor_excluded(time: Timestamp, executor: u32, failures: u32) -> HealthEffect {
    let (executor, scope) = (ExecutorId(executor), ExclusionScope::Application);
    HealthEffect::Post(ListenerEvent::ExecutorExcluded { executor, time, scope, failures })
}

fn node_excluded(time: Timestamp, host: &str, failures: u32) -> HealthEffect {
    let (host, scope) = (host.into(), ExclusionScope::Application);
    HealthEffect::Post(ListenerEvent::NodeExcluded { host, time, scope, failures })
}

fn executor_readmitted(time: Timestamp, executor: u32) -> HealthEffect {
    HealthEffect::Post(ListenerEvent::ExecutorUnexcluded { executor: ExecutorId(executor), time })
}

fn node_readmitted(time: Timestamp, host: &str) -> HealthEffect {
    HealthEffect::Post(ListenerEvent::NodeUnexcluded { host: host.into(), time })
}

fn kill(executor: u32) -> HealthEffect {
    HealthEffect::KillExecutor { executor: ExecutorId(executor), cause: ExclusionKillCause::Excluded }
}

fn decommission(executor: u32) -> HealthEffect {
    HealthEffect::DecommissionExecutor { executor: ExecutorId(executor), cause: ExclusionKillCause::Excluded }
}

/// Behaviours: EXCL-007, EXCL-008, EXCL-014.
#[test]
fn a_failure_in_each_of_two_successful_stages_excludes_the_executor() {
    let mut harness = Harness::new(ExclusionConfig::enabled());

    assert_eq!(harness.stage(T0, 1, "a", &[0]), []);
    assert_eq!(harness.stage(T0, 2, "a", &[]), []);
    assert_eq!(harness.stage(T0, 1, "a", &[0]), [executor_excluded(T0, 1, 2)]);

    assert!(harness.is_excluded(1) && !harness.is_excluded(2));
    assert!(!harness.health.is_node_excluded(&"a".into()));
}

/// Behaviours: EXCL-007.
#[test]
fn failures_of_aborted_task_sets_are_never_counted() {
    let mut harness = Harness::new(ExclusionConfig::enabled());

    for _ in 0..20 {
        let _aborted = harness.failed_tasks(&[(T0, 1, "a", 0), (T0, 1, "a", 1)]);
    }

    assert_eq!(harness.stage(T0, 1, "a", &[0]), []);
    assert!(!harness.is_excluded(1));
}

/// Behaviours: EXCL-007.
#[test]
fn a_task_counts_once_for_its_executor_however_often_it_failed_or_was_reported() {
    let mut harness = Harness::new(ExclusionConfig::enabled());
    let list = harness.failed_tasks(&[(T0, 1, "a", 0), (T0, 1, "a", 0)]);

    assert_eq!(harness.succeed(T0, &list), []);
    assert_eq!(harness.succeed(T0, &list), []);

    assert!(!harness.is_excluded(1));
}

/// Behaviours: EXCL-008, EXCL-014.
#[test]
fn two_excluded_executors_exclude_their_node() {
    let mut harness = Harness::new(ExclusionConfig::enabled());
    let later = T0 + HOUR / 2;
    harness.stage(T0, 1, "a", &[0, 1, 2]);

    let effects = harness.stage(later, 2, "a", &[0, 1, 2, 3]);

    assert_eq!(effects, [executor_excluded(later, 2, 4), node_excluded(later, "a", 2)]);
    assert_eq!(harness.excluded_nodes(), [Host::from("a")]);
    assert!(harness.health.is_node_excluded(&"a".into()));
    assert_eq!(
        harness.stage(later, 3, "a", &[0, 1]),
        [executor_excluded(later, 3, 2)],
        "the node keeps its time"
    );
}

/// Behaviours: EXCL-004.
#[test]
fn excluded_executors_of_different_hosts_do_not_exclude_a_node() {
    let mut harness = Harness::new(ExclusionConfig::enabled());

    for (executor, host) in [(1, "a"), (2, "b"), (3, "c")] {
        assert_eq!(harness.stage(T0, executor, host, &[0, 1]), [executor_excluded(T0, executor, 2)]);
    }

    assert_eq!(harness.excluded_nodes(), []);
    assert_eq!(harness.stage(T0, 4, "b", &[0, 1]), [executor_excluded(T0, 4, 2), node_excluded(T0, "b", 2)]);
}

/// Behaviours: EXCL-008.
#[test]
fn exclusion_restarts_the_failure_list_and_failures_expire_one_by_one() {
    let mut harness = Harness::new(ExclusionConfig::enabled());
    let too_late = T0 + HOUR + JUST_AFTER;
    harness.stage(T0, 1, "a", &[0]);
    assert_eq!(harness.stage(too_late, 1, "a", &[0]), [], "the first failure counts no longer");
    assert_eq!(harness.stage(too_late, 1, "a", &[0]), [executor_excluded(too_late, 1, 2)]);
    let over = too_late + HOUR + JUST_AFTER;
    assert_eq!(harness.timeouts(over), [executor_readmitted(over, 1)]);

    assert_eq!(harness.stage(over, 1, "a", &[0]), [], "the failures before the exclusion are spent");
    assert_eq!(harness.stage(over, 1, "a", &[0]), [executor_excluded(over, 1, 2)]);
}

/// Behaviours: EXCL-008.
#[test]
fn failures_of_a_long_task_set_count_from_when_they_happened() {
    let mut harness = Harness::new(ExclusionConfig::enabled());
    let end = T0 + HOUR + JUST_AFTER;
    let list = harness.failed_tasks(&[(T0, 1, "a", 0), (T0, 1, "a", 1), (end, 2, "a", 2), (end, 2, "a", 3)]);

    let effects = harness.succeed(end, &list);

    assert_eq!(effects, [executor_excluded(end, 2, 2)]);
}

/// Behaviours: EXCL-009, EXCL-014.
#[test]
fn exclusions_end_strictly_after_their_time() {
    let mut harness = Harness::new(ExclusionConfig::enabled());
    harness.stage(T0, 1, "a", &[0, 1]);
    let later = T0 + HOUR / 2;
    harness.stage(later, 2, "a", &[0, 1]);
    let (first_end, second_end) = (T0 + HOUR + JUST_AFTER, later + HOUR + JUST_AFTER);

    assert_eq!(harness.timeouts(T0 + HOUR), []);
    assert_eq!(harness.health.next_expiry(), Some(first_end));
    assert_eq!(harness.timeouts(first_end), [executor_readmitted(first_end, 1)]);
    assert!(harness.health.is_node_excluded(&"a".into()), "the node has its own time");
    assert_eq!(harness.health.next_expiry(), Some(second_end));
    assert_eq!(
        harness.timeouts(second_end),
        [executor_readmitted(second_end, 2), node_readmitted(second_end, "a")]
    );
    assert_eq!(harness.health.next_expiry(), None);
    assert!(harness.health.is_quiescent());
}

/// Behaviours: EXCL-009.
#[test]
fn a_readmitted_executor_no_longer_counts_for_its_node() {
    let mut harness = Harness::new(ExclusionConfig::enabled());
    harness.stage(T0, 1, "a", &[0, 1]);
    let end = T0 + HOUR + JUST_AFTER;
    harness.timeouts(end);

    let effects = harness.stage(end, 2, "a", &[0, 1]);

    assert_eq!(effects, [executor_excluded(end, 2, 2)]);
}

/// Behaviours: EXCL-009.
#[test]
fn the_end_of_a_nodes_exclusion_does_not_touch_its_executors() {
    let config = ExclusionConfig { fetch_failure: true, ..ExclusionConfig::enabled() };
    let mut harness = Harness::new(config);
    harness.fetch_failure(T0, 9, "a", true);
    let later = T0 + HOUR / 2;
    harness.stage(later, 1, "a", &[0, 1]);
    let node_end = T0 + HOUR + JUST_AFTER;

    assert_eq!(harness.timeouts(node_end), [node_readmitted(node_end, "a")]);

    assert!(harness.is_excluded(1));
}

/// Behaviours: EXCL-008.
#[test]
fn removed_executors_keep_their_exclusion_and_count_for_their_node() {
    let mut harness = Harness::new(ExclusionConfig::enabled());
    harness.stage(T0, 1, "a", &[0]);
    let list = harness.failed_tasks(&[(T0, 1, "a", 0), (T0, 1, "a", 1)]);
    harness.health.on_executor_removed(ExecutorId(1));
    assert_eq!(harness.succeed(T0, &list), [executor_excluded(T0, 1, 2)], "earlier failures went with it");
    harness.health.on_executor_removed(ExecutorId(1));

    let effects = harness.stage(T0, 2, "a", &[0, 1]);

    assert!(harness.is_excluded(1));
    assert_eq!(effects, [executor_excluded(T0, 2, 2), node_excluded(T0, "a", 2)]);
}

#[test]
fn failures_of_executors_long_gone_are_forgotten() {
    let mut harness = Harness::new(ExclusionConfig::enabled());
    harness.stage(T0, 1, "a", &[0]);

    harness.timeouts(T0 + HOUR);
    assert!(!harness.health.is_quiescent());
    harness.timeouts(T0 + HOUR + JUST_AFTER);

    assert!(harness.health.is_quiescent());
}

/// Behaviours: EXCL-010.
#[test]
fn excluded_executors_and_nodes_are_killed_after_they_are_listed() {
    let mut harness = Harness::new(ExclusionConfig { kill: true, ..ExclusionConfig::enabled() });

    let first = harness.stage(T0, 1, "a", &[0, 1]);
    let second = harness.stage(T0, 2, "a", &[0, 1]);

    assert_eq!(first, [executor_excluded(T0, 1, 2), kill(1)]);
    assert_eq!(
        second,
        [
            executor_excluded(T0, 2, 2),
            node_excluded(T0, "a", 2),
            kill(2),
            HealthEffect::KillExecutorsOnHost("a".into()),
        ]
    );
}

/// Behaviours: EXCL-011.
#[test]
fn decommissioning_takes_the_place_of_killing() {
    let config = ExclusionConfig { kill: true, decommission: true, ..ExclusionConfig::enabled() };
    let mut harness = Harness::new(config);

    let first = harness.stage(T0, 1, "a", &[0, 1]);
    let second = harness.stage(T0, 2, "a", &[0, 1]);

    assert_eq!(first, [executor_excluded(T0, 1, 2), decommission(1)]);
    assert_eq!(
        second,
        [
            executor_excluded(T0, 2, 2),
            node_excluded(T0, "a", 2),
            decommission(2),
            HealthEffect::DecommissionExecutorsOnHost("a".into()),
        ]
    );
}

/// Behaviours: EXCL-011.
#[test]
fn decommissioning_alone_ends_nobody() {
    let mut harness = Harness::new(ExclusionConfig { decommission: true, ..ExclusionConfig::enabled() });

    assert_eq!(harness.stage(T0, 1, "a", &[0, 1]), [executor_excluded(T0, 1, 2)]);
}

/// Behaviours: EXCL-012, EXCL-014.
#[test]
fn one_fetch_failure_excludes_the_serving_executor() {
    let config = ExclusionConfig { fetch_failure: true, kill: true, ..ExclusionConfig::enabled() };
    let mut harness = Harness::new(config);

    assert_eq!(harness.fetch_failure(T0, 1, "a", false), [executor_excluded(T0, 1, 1), kill(1)]);
    assert_eq!(harness.fetch_failure(T0, 1, "a", false), [], "it is excluded already");

    assert!(harness.is_excluded(1));
    assert_eq!(harness.excluded_nodes(), []);
    let end = T0 + HOUR + JUST_AFTER;
    assert_eq!(harness.timeouts(end), [executor_readmitted(end, 1)]);
}

/// Behaviours: EXCL-012, EXCL-014.
#[test]
fn one_fetch_failure_of_a_shuffle_service_excludes_its_node() {
    let config = ExclusionConfig { fetch_failure: true, kill: true, ..ExclusionConfig::enabled() };
    let mut harness = Harness::new(config);

    let effects = harness.fetch_failure(T0, 1, "a", true);

    assert_eq!(effects, [node_excluded(T0, "a", 1), HealthEffect::KillExecutorsOnHost("a".into())]);
    assert_eq!(harness.fetch_failure(T0, 2, "a", true), [], "it is excluded already");
    assert!(!harness.is_excluded(1));
}

/// Behaviours: EXCL-012.
#[test]
fn fetch_failures_exclude_nobody_by_default() {
    let mut harness = Harness::new(ExclusionConfig::enabled());

    assert_eq!(harness.fetch_failure(T0, 1, "a", false), []);
    assert_eq!(harness.fetch_failure(T0, 1, "a", true), []);

    assert!(harness.health.is_quiescent());
}

/// Behaviours: EXCL-001.
#[test]
fn nothing_is_excluded_while_the_application_level_is_off() {
    let config = ExclusionConfig { application: false, fetch_failure: true, ..ExclusionConfig::enabled() };
    let mut harness = Harness::new(config);

    assert_eq!(harness.stage(T0, 1, "a", &[0, 1, 2]), []);
    assert_eq!(harness.fetch_failure(T0, 1, "a", false), []);

    assert!(harness.health.is_quiescent());
}

#[test]
fn an_idle_executor_is_ended_for_an_unschedulable_task_even_without_killing() {
    let (executor, cause) = (ExecutorId(1), ExclusionKillCause::IdleAndUnschedulable);
    let mut out = Vec::new();

    Harness::new(ExclusionConfig::enabled()).health.kill_idle_excluded(executor, &mut out);
    let draining = ExclusionConfig { decommission: true, ..ExclusionConfig::enabled() };
    Harness::new(draining).health.kill_idle_excluded(executor, &mut out);

    assert_eq!(
        out,
        [
            HealthEffect::KillExecutor { executor, cause },
            HealthEffect::DecommissionExecutor { executor, cause }
        ]
    );
}
