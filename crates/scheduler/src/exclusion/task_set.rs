//! Where the tasks of one task set may not run again.
//!
//! [`TaskSetExcludelist`] counts the failures of one task set by executor and by node. It knows nothing of
//! other task sets; what it gathered goes to the application's health tracker when the set succeeds.

use std::collections::{BTreeMap, BTreeSet};

use firesteel_types::{
    ExclusionScope, ExecutorId, Host, ListenerEvent, StageAttemptId, TaskFailure, TaskIndex, Timestamp,
};
use serde::{Deserialize, Serialize};

use super::ExclusionConfig;

/// The executors and nodes that one task set, or single tasks of it, must avoid.
///
/// Nothing here expires: the list lives as long as its task set (Spark's class of the same name).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSetExcludelist {
    set: StageAttemptId,
    mode: Mode,
    limits: Limits,
    executors: BTreeMap<ExecutorId, ExecutorFailures>,
    nodes: BTreeMap<Host, NodeFailures>,
    excluded_executors: BTreeSet<ExecutorId>,
    excluded_nodes: BTreeSet<Host>,
    latest_failure: Option<String>,
}

/// How much of the work is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Mode {
    /// Exclusion is off at every level.
    Off,
    /// Only the application level is on: failures are gathered for it, and no task is kept away.
    GatherOnly,
    /// Tasks are kept away.
    Exclude,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Limits {
    attempts_per_executor: u32,
    attempts_per_node: u32,
    failed_tasks_per_executor: usize,
    failed_executors_per_node: u32,
}

/// The failures of a task set on one executor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorFailures {
    host: Host,
    tasks: BTreeMap<TaskIndex, FailedTask>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FailedTask {
    attempts: u32,
    last: Timestamp,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct NodeFailures {
    attempts: BTreeMap<TaskIndex, u32>,
    excluded_executors: u32,
}

impl ExecutorFailures {
    /// Where the executor runs, or ran when a task last failed on it.
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// Each task that failed on the executor, with the time of its last failure there.
    pub fn tasks(&self) -> impl Iterator<Item = (TaskIndex, Timestamp)> {
        self.tasks.iter().map(|(&index, task)| (index, task.last))
    }
}

impl TaskSetExcludelist {
    /// An empty list for the task set `set`.
    pub fn new(config: &ExclusionConfig, set: StageAttemptId) -> Self {
        let mode = match (config.task_and_stage, config.application) {
            (true, _) => Mode::Exclude,
            (false, true) => Mode::GatherOnly,
            (false, false) => Mode::Off,
        };
        let limits = Limits {
            attempts_per_executor: config.task_attempts_per_executor,
            attempts_per_node: config.task_attempts_per_node,
            failed_tasks_per_executor: config.stage_failed_tasks_per_executor as usize,
            failed_executors_per_node: config.stage_failed_executors_per_node,
        };
        Self {
            set,
            mode,
            limits,
            executors: BTreeMap::new(),
            nodes: BTreeMap::new(),
            excluded_executors: BTreeSet::new(),
            excluded_nodes: BTreeSet::new(),
            latest_failure: None,
        }
    }

    /// Takes the failure of an attempt of task `index` on `executor`, and posts what it excludes for the stage.
    ///
    /// To be called before the task is put back in the queue. A failure that is not charged to the task (a fetch
    /// failure, a kill, a denied commit, a loss that is not the application's fault) does not count against the
    /// executor and leaves the list as it is.
    pub fn on_task_failed(
        &mut self,
        now: Timestamp,
        executor: ExecutorId,
        host: &Host,
        index: TaskIndex,
        failure: &TaskFailure,
        out: &mut Vec<ListenerEvent>,
    ) {
        if self.mode == Mode::Off || !failure.counts_towards_limit() {
            return;
        }
        self.latest_failure = Some(failure.to_string());

        let on_executor = self
            .executors
            .entry(executor)
            .or_insert_with(|| ExecutorFailures { host: host.clone(), tasks: BTreeMap::new() });
        // Executors do not move, but the cluster manager may use an id again.
        on_executor.host.clone_from(host);
        let task = on_executor.tasks.entry(index).or_insert(FailedTask { attempts: 0, last: now });
        task.attempts += 1;
        task.last = task.last.max(now);
        let failed_tasks = on_executor.tasks.len();

        // Attempts are counted, not executors: a job is aborted by its number of attempts, so this is the count
        // that makes sure another node is tried before.
        let on_node = self.nodes.entry(host.clone()).or_default();
        *on_node.attempts.entry(index).or_insert(0) += 1;

        if self.mode == Mode::Exclude && failed_tasks >= self.limits.failed_tasks_per_executor {
            self.exclude_executor(now, executor, host, failed_tasks, out);
        }
        if cfg!(debug_assertions) {
            self.check_invariants();
        }
    }

    /// Whether task `index` may not run on `executor`. Other tasks of the set may.
    pub fn is_executor_excluded_for_task(&self, executor: ExecutorId, index: TaskIndex) -> bool {
        self.mode == Mode::Exclude
            && self
                .executors
                .get(&executor)
                .and_then(|failures| failures.tasks.get(&index))
                .is_some_and(|task| task.attempts >= self.limits.attempts_per_executor)
    }

    /// Whether task `index` may not run on `host`. Other tasks of the set may.
    pub fn is_node_excluded_for_task(&self, host: &Host, index: TaskIndex) -> bool {
        self.mode == Mode::Exclude
            && self
                .nodes
                .get(host)
                .and_then(|failures| failures.attempts.get(&index))
                .is_some_and(|&attempts| attempts >= self.limits.attempts_per_node)
    }

    /// Whether no task of the set may run on `executor`.
    pub fn is_executor_excluded(&self, executor: ExecutorId) -> bool {
        self.excluded_executors.contains(&executor)
    }

    /// Whether no task of the set may run on `host`.
    pub fn is_node_excluded(&self, host: &Host) -> bool {
        self.excluded_nodes.contains(host)
    }

    /// Every failure so far, for the application's health tracker once the set has succeeded.
    pub const fn failures_by_executor(&self) -> &BTreeMap<ExecutorId, ExecutorFailures> {
        &self.executors
    }

    /// What the last counted failure said.
    pub fn latest_failure(&self) -> Option<&str> {
        self.latest_failure.as_deref()
    }

    fn exclude_executor(
        &mut self,
        now: Timestamp,
        executor: ExecutorId,
        host: &Host,
        failed_tasks: usize,
        out: &mut Vec<ListenerEvent>,
    ) {
        if !self.excluded_executors.insert(executor) {
            return;
        }
        let scope = ExclusionScope::Stage(self.set);
        out.push(ListenerEvent::ExecutorExcluded {
            executor,
            time: now,
            scope,
            failures: failed_tasks as u32,
        });
        let on_node = self.nodes.get_mut(host).expect("the failure was counted for the node just before");
        on_node.excluded_executors += 1;
        let failures = on_node.excluded_executors;
        if failures >= self.limits.failed_executors_per_node && self.excluded_nodes.insert(host.clone()) {
            out.push(ListenerEvent::NodeExcluded { host: host.clone(), time: now, scope, failures });
        }
    }

    fn check_invariants(&self) {
        for executor in &self.excluded_executors {
            let failures = &self.executors[executor];
            assert!(failures.tasks.len() >= self.limits.failed_tasks_per_executor);
        }
        let on_nodes: u32 = self.nodes.values().map(|node| node.excluded_executors).sum();
        assert_eq!(on_nodes as usize, self.excluded_executors.len(), "each excluded executor has one node");
        for host in &self.excluded_nodes {
            assert!(self.nodes[host].excluded_executors >= self.limits.failed_executors_per_node);
        }
    }
}
