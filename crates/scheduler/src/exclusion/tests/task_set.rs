//! Facts about the exclusion list of one task set.

use firesteel_types::{
    ExclusionScope, ExecutorId, FetchFailure, Host, ListenerEvent, PartitionId, ShuffleId, StageAttemptId,
    StageId, TaskFailure, TaskIndex, Timestamp,
};

use crate::exclusion::{ExclusionConfig, TaskSetExcludelist};

const SET: StageAttemptId = StageAttemptId::new(StageId(3), 1);
const SCOPE: ExclusionScope = ExclusionScope::Stage(SET);
const T5: Timestamp = Timestamp::from_secs(5);

struct Harness {
    list: TaskSetExcludelist,
}

impl Harness {
    fn new(config: &ExclusionConfig) -> Self {
        Self { list: TaskSetExcludelist::new(config, SET) }
    }

    fn fail_as(
        &mut self,
        executor: u32,
        host: &str,
        index: u32,
        failure: &TaskFailure,
    ) -> Vec<ListenerEvent> {
        let mut out = Vec::new();
        self.list.on_task_failed(T5, ExecutorId(executor), &host.into(), TaskIndex(index), failure, &mut out);
        out
    }

    fn fail(&mut self, executor: u32, host: &str, index: u32) -> Vec<ListenerEvent> {
        self.fail_as(executor, host, index, &TaskFailure::panicked("boom"))
    }

    /// The (executor, task) pairs among executors 0 to 3 and tasks 0 to 3 that are excluded.
    fn excluded_pairs(&self) -> Vec<(u32, u32)> {
        let all = (0..4).flat_map(|executor| (0..4).map(move |index| (executor, index)));
        all.filter(|&(executor, index)| {
            self.list.is_executor_excluded_for_task(ExecutorId(executor), TaskIndex(index))
        })
        .collect()
    }

    fn excluded_executors(&self) -> Vec<u32> {
        (0..4).filter(|&executor| self.list.is_executor_excluded(ExecutorId(executor))).collect()
    }

    fn is_node_excluded_for_task(&self, host: &str, index: u32) -> bool {
        self.list.is_node_excluded_for_task(&host.into(), TaskIndex(index))
    }

    fn is_node_excluded(&self, host: &str) -> bool {
        self.list.is_node_excluded(&host.into())
    }
}

fn executor_excluded(executor: u32, failures: u32) -> ListenerEvent {
    ListenerEvent::ExecutorExcluded { executor: ExecutorId(executor), time: T5, scope: SCOPE, failures }
}

fn node_excluded(host: &str, failures: u32) -> ListenerEvent {
    ListenerEvent::NodeExcluded { host: host.into(), time: T5, scope: SCOPE, failures }
}

/// Behaviours: EXCL-002.
#[test]
fn task_avoids_the_executor_where_it_failed_once() {
    let mut harness = Harness::new(&ExclusionConfig::enabled());

    let events = harness.fail(1, "a", 0);

    assert_eq!(events, []);
    assert_eq!(harness.excluded_pairs(), [(1, 0)]);
    assert!(!harness.is_node_excluded_for_task("a", 0));
    assert_eq!(harness.excluded_executors(), Vec::<u32>::new());
}

/// Behaviours: EXCL-002.
#[test]
fn task_avoids_the_node_where_two_attempts_failed_on_any_executors() {
    let mut harness = Harness::new(&ExclusionConfig::enabled());
    harness.fail(1, "a", 0);
    harness.fail(3, "b", 0);
    assert!(!harness.is_node_excluded_for_task("a", 0), "the other attempt failed on another node");

    harness.fail(2, "a", 0);

    assert!(harness.is_node_excluded_for_task("a", 0));
    assert!(!harness.is_node_excluded_for_task("a", 1));
    assert!(!harness.is_node_excluded_for_task("b", 0));
    assert!(!harness.is_node_excluded("a"));
}

/// Behaviours: EXCL-002.
#[test]
fn two_attempts_on_one_executor_exclude_the_node_for_the_task() {
    let config = ExclusionConfig { task_attempts_per_executor: 2, ..ExclusionConfig::enabled() };
    let mut harness = Harness::new(&config);
    harness.fail(1, "a", 0);
    assert_eq!(harness.excluded_pairs(), []);

    harness.fail(1, "a", 0);

    assert_eq!(harness.excluded_pairs(), [(1, 0)]);
    assert!(harness.is_node_excluded_for_task("a", 0));
}

/// Behaviours: EXCL-003, EXCL-014.
#[test]
fn two_failed_tasks_exclude_the_executor_and_two_such_executors_the_node() {
    let mut harness = Harness::new(&ExclusionConfig::enabled());

    assert_eq!(harness.fail(1, "a", 0), []);
    assert_eq!(harness.fail(1, "a", 1), [executor_excluded(1, 2)]);
    assert_eq!(harness.fail(1, "a", 2), [], "an excluded executor is announced once");
    assert!(!harness.is_node_excluded("a"));
    assert_eq!(harness.fail(2, "a", 2), []);
    assert_eq!(harness.fail(2, "a", 3), [executor_excluded(2, 2), node_excluded("a", 2)]);
    assert_eq!(harness.fail(3, "a", 0), []);
    assert_eq!(harness.fail(3, "a", 1), [executor_excluded(3, 2)], "so is an excluded node");

    assert_eq!(harness.excluded_executors(), [1, 2, 3]);
    assert!(harness.is_node_excluded("a"));
    assert!(!harness.is_node_excluded("b"));
}

/// Behaviours: EXCL-003.
#[test]
fn repeated_failures_of_one_task_count_once() {
    let mut harness = Harness::new(&ExclusionConfig::enabled());

    let events: Vec<_> = (0..5).flat_map(|_| harness.fail(1, "a", 0)).collect();

    assert_eq!(events, []);
    assert_eq!(harness.excluded_executors(), Vec::<u32>::new());
}

/// Behaviours: EXCL-004.
#[test]
fn excluded_executors_of_different_hosts_do_not_add_up() {
    let mut harness = Harness::new(&ExclusionConfig::enabled());

    for (executor, host) in [(1, "a"), (2, "b"), (3, "c")] {
        harness.fail(executor, host, 0);
        assert_eq!(harness.fail(executor, host, 1), [executor_excluded(executor, 2)]);
    }

    assert_eq!(["a", "b", "c"].map(|host| harness.is_node_excluded(host)), [false; 3]);
    assert_eq!(["a", "b", "c"].map(|host| harness.is_node_excluded_for_task(host, 0)), [false; 3]);
}

/// Behaviours: EXCL-006.
#[test]
fn failures_that_are_nobodys_fault_leave_the_list_untouched() {
    let fetch = FetchFailure {
        shuffle: ShuffleId(0),
        location: Some((ExecutorId(2), Host::from("b"))),
        map_partition: Some(PartitionId(0)),
        map_attempt: None,
        reduce_partition: PartitionId(0),
        message: "connection closed".into(),
    };
    let lost = |caused_by_app| TaskFailure::ExecutorLost {
        executor: ExecutorId(1),
        caused_by_app,
        reason: "preempted".into(),
    };
    let mut harness = Harness::new(&ExclusionConfig::enabled());
    let untouched = harness.list.clone();

    for failure in [
        TaskFailure::FetchFailed(fetch),
        TaskFailure::killed("another attempt succeeded"),
        TaskFailure::CommitDenied,
        TaskFailure::ExecutorShuttingDown,
        lost(false),
    ] {
        assert_eq!(harness.fail_as(1, "a", 0, &failure), []);
    }

    assert_eq!(harness.list, untouched);
    harness.fail_as(1, "a", 0, &lost(true));
    assert_eq!(harness.excluded_pairs(), [(1, 0)], "a loss by the application's fault does count");
}

#[test]
fn latest_failure_is_the_last_one_counted() {
    let mut harness = Harness::new(&ExclusionConfig::enabled());
    assert_eq!(harness.list.latest_failure(), None);

    harness.fail_as(1, "a", 0, &TaskFailure::panicked("first"));
    harness.fail_as(1, "a", 1, &TaskFailure::panicked("second"));
    harness.fail_as(1, "a", 2, &TaskFailure::CommitDenied);

    assert_eq!(harness.list.latest_failure(), Some("second"));
}

/// Behaviours: EXCL-001.
#[test]
fn nothing_is_excluded_or_gathered_while_exclusion_is_off() {
    let mut harness = Harness::new(&ExclusionConfig::default());
    let untouched = harness.list.clone();

    let events: Vec<_> = (0..4).flat_map(|index| harness.fail(1, "a", index)).collect();

    assert_eq!(events, []);
    assert_eq!(harness.list, untouched);
}

#[test]
fn failures_are_gathered_without_excluding_when_only_the_application_level_is_on() {
    let config = ExclusionConfig { task_and_stage: false, ..ExclusionConfig::enabled() };
    let mut harness = Harness::new(&config);

    let events: Vec<_> = (0..4).flat_map(|index| harness.fail(1, "a", index)).collect();

    assert_eq!(events, []);
    assert_eq!(harness.excluded_pairs(), []);
    assert_eq!(harness.excluded_executors(), Vec::<u32>::new());
    let gathered = &harness.list.failures_by_executor()[&ExecutorId(1)];
    assert_eq!(gathered.host(), &Host::from("a"));
    assert_eq!(gathered.tasks().collect::<Vec<_>>(), [0, 1, 2, 3].map(|index| (TaskIndex(index), T5)));
}

/// Behaviours: EXCL-004.
#[test]
fn an_executor_that_comes_back_on_another_host_keeps_its_record() {
    let mut list = TaskSetExcludelist::new(&ExclusionConfig::enabled(), StageAttemptId::new(StageId(0), 0));
    let mut posted = Vec::new();
    let failure = TaskFailure::panicked("boom");

    list.on_task_failed(Timestamp::ZERO, ExecutorId(1), &"h1".into(), TaskIndex(0), &failure, &mut posted);
    list.on_task_failed(Timestamp::ZERO, ExecutorId(1), &"h2".into(), TaskIndex(1), &failure, &mut posted);

    assert!(list.is_executor_excluded(ExecutorId(1)), "two of its tasks failed");
    assert_eq!(posted.len(), 1, "one executor on h2 does not exclude the host: {posted:?}");
    assert_eq!(list.failures_by_executor()[&ExecutorId(1)].host(), &"h2".into());
}
