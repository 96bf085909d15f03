//! Which executors and nodes the whole application avoids, and until when.
//!
//! [`HealthTracker`] takes the failures of task sets that succeeded, and fetch failures where that is asked for. It
//! does not see single task failures, and it does not end executors: its effects name those that must end.

use std::collections::{BTreeMap, BTreeSet};

use firesteel_types::{
    ExclusionScope, ExecutorId, Host, ListenerEvent, StageAttemptId, TaskIndex, Timestamp,
};
use serde::{Deserialize, Serialize};

use super::{ExclusionConfig, ExecutorFailures};

/// What must be done about an exclusion.
///
/// Every kill is by force (running tasks do not prevent it), leaves the wanted number of executors as it is,
/// so that a replacement comes, and is not counted as a failure of the executor. A decommission leaves the
/// wanted number as it is, too. Where executors cannot be ended, as in local mode, these orders mean nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum HealthEffect {
    /// Tell the listeners.
    Post(ListenerEvent),
    /// End the executor.
    KillExecutor { executor: ExecutorId, cause: ExclusionKillCause },
    /// Let the executor drain and leave.
    DecommissionExecutor { executor: ExecutorId, cause: ExclusionKillCause },
    /// End every executor on the host, which is on the excluded list already.
    KillExecutorsOnHost(Host),
    /// Let every executor on the host drain and leave; the host is on the excluded list already.
    DecommissionExecutorsOnHost(Host),
}

/// Why an executor is ended because of exclusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExclusionKillCause {
    /// The application avoids it, and such executors are to be ended.
    Excluded,
    /// It is idle, a task may not run on it or on any other, and a new executor may take its place.
    IdleAndUnschedulable,
}

/// The executors and nodes that the application avoids.
///
/// ```text
///   healthy ── enough failures in successful task sets, or one fetch failure ──▶ excluded
///      ◀───────────────────── strictly after the timeout ──────────────────────────┘
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthTracker {
    config: ExclusionConfig,
    /// Failures that still count, with the time until which they do.
    failures: BTreeMap<ExecutorId, BTreeMap<(StageAttemptId, TaskIndex), Timestamp>>,
    /// When to look at an executor's failures, so that those of executors long gone do not pile up.
    failure_expiries: BTreeSet<(Timestamp, ExecutorId)>,
    executors: BTreeMap<ExecutorId, ExcludedExecutor>,
    nodes: BTreeMap<Host, Timestamp>,
    /// The excluded executors of each node. Those that are gone stay in it until their time is over, so that one
    /// executor failing after the other on the same node is noticed.
    executors_by_node: BTreeMap<Host, BTreeSet<ExecutorId>>,
    expiries: BTreeSet<(Timestamp, Excluded)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ExcludedExecutor {
    host: Host,
    until: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Excluded {
    Executor(ExecutorId),
    Node(Host),
}

impl HealthTracker {
    /// A tracker that avoids nothing yet; with the application level off it never will.
    pub const fn new(config: ExclusionConfig) -> Self {
        Self {
            config,
            failures: BTreeMap::new(),
            failure_expiries: BTreeSet::new(),
            executors: BTreeMap::new(),
            nodes: BTreeMap::new(),
            executors_by_node: BTreeMap::new(),
            expiries: BTreeSet::new(),
        }
    }

    /// Takes the failures that happened in the task set `set` before it succeeded.
    ///
    /// Failures of a set that did not succeed must not be given: they tell more about the job than about the
    /// executors. An executor or a node that is excluded already keeps its time.
    pub fn on_task_set_succeeded(
        &mut self,
        now: Timestamp,
        set: StageAttemptId,
        failures_by_executor: &BTreeMap<ExecutorId, ExecutorFailures>,
        out: &mut Vec<HealthEffect>,
    ) {
        if !self.config.application || failures_by_executor.is_empty() {
            return;
        }
        for (&executor, in_set) in failures_by_executor {
            let total = self.count_failures(now, executor, set, in_set);
            if total >= self.config.app_failed_tasks_per_executor as usize
                && !self.executors.contains_key(&executor)
            {
                self.failures.remove(&executor);
                self.exclude_executor(now, executor, in_set.host(), total as u32, out);
                // Before the kills: the cluster manager, which replaces the executors, must find the node on the list.
                let node = self.exclude_node_of_failed_executors(now, in_set.host(), out);
                self.kill_excluded_executor(executor, out);
                if node == NodeVerdict::ExcludedNow {
                    self.kill_executors_on(in_set.host(), out);
                }
            }
        }
        self.check_in_debug();
    }

    /// Takes a fetch failure: `executor` on `host` did not serve a map output.
    ///
    /// One is enough when fetch-failure exclusion is on, because the stage is retried at once and there may be
    /// no second one to count. With `shuffle_service` it is the host's service that failed, so every executor
    /// there is hit. As in Spark, executors excluded this way make their node excluded only when a further one
    /// follows them by its failed tasks.
    pub fn on_fetch_failure(
        &mut self,
        now: Timestamp,
        executor: ExecutorId,
        host: &Host,
        shuffle_service: bool,
        out: &mut Vec<HealthEffect>,
    ) {
        if !self.config.application || !self.config.fetch_failure {
            return;
        }
        if shuffle_service {
            if !self.nodes.contains_key(host) {
                self.exclude_node(now, host, 1, out);
                self.kill_executors_on(host, out);
            }
        } else if !self.executors.contains_key(&executor) {
            self.exclude_executor(now, executor, host, 1, out);
            self.kill_excluded_executor(executor, out);
        }
        self.check_in_debug();
    }

    /// Ends the exclusions whose time is over. Costs nothing while none is; to be called in each round of offers.
    pub fn apply_timeouts(&mut self, now: Timestamp, out: &mut Vec<HealthEffect>) {
        self.forget_old_failures(now);
        let mut changed = false;
        while self.expiries.first().is_some_and(|(until, _)| *until < now) {
            let (_, excluded) = self.expiries.pop_first().expect("the loop's condition saw a first one");
            changed = true;
            match excluded {
                Excluded::Executor(executor) => self.readmit_executor(now, executor, out),
                Excluded::Node(host) => {
                    self.nodes.remove(&host);
                    out.push(HealthEffect::Post(ListenerEvent::NodeUnexcluded { host, time: now }));
                }
            }
        }
        if changed {
            self.check_in_debug();
        }
    }

    /// The first moment at which [`Self::apply_timeouts`] will end an exclusion.
    ///
    /// Exclusions end strictly after their time, so this is one step of the clock later.
    pub fn next_expiry(&self) -> Option<Timestamp> {
        self.expiries.first().map(|(until, _)| Timestamp(until.0.saturating_add(1)))
    }

    /// Whether the application avoids `executor` itself; its node is another question.
    pub fn is_executor_excluded(&self, executor: ExecutorId) -> bool {
        self.executors.contains_key(&executor)
    }

    /// Whether the application avoids `host`.
    pub fn is_node_excluded(&self, host: &Host) -> bool {
        self.nodes.contains_key(host)
    }

    /// Every node that the application avoids, where no new executor should be started.
    pub fn excluded_nodes(&self) -> impl Iterator<Item = &Host> {
        self.nodes.keys()
    }

    /// Until when an executor is excluded, for its own sake or its node's, if it is.
    pub fn excluded_until(&self, executor: ExecutorId, host: &Host) -> Option<Timestamp> {
        let own = self.executors.get(&executor).map(|excluded| excluded.until);
        own.max(self.nodes.get(host).copied())
    }

    /// Forgets the failures of an executor that is gone; an exclusion keeps its time and counts for its node.
    pub fn on_executor_removed(&mut self, executor: ExecutorId) {
        self.failures.remove(&executor);
    }

    /// Orders the end of an idle executor because a task is excluded everywhere, whether or not excluded
    /// executors are ended otherwise.
    pub fn kill_idle_excluded(&self, executor: ExecutorId, out: &mut Vec<HealthEffect>) {
        out.push(self.kill_order(executor, ExclusionKillCause::IdleAndUnschedulable));
    }

    /// Whether nothing is excluded and no failure is remembered.
    pub fn is_quiescent(&self) -> bool {
        self.failures.is_empty() && self.executors.is_empty() && self.nodes.is_empty()
    }

    /// Adds the failures of one set, drops those whose time is over and returns how many count.
    fn count_failures(
        &mut self,
        now: Timestamp,
        executor: ExecutorId,
        set: StageAttemptId,
        in_set: &ExecutorFailures,
    ) -> usize {
        let known = self.failures.entry(executor).or_default();
        for (index, failed) in in_set.tasks() {
            let until = failed + self.config.timeout;
            known.insert((set, index), until);
            self.failure_expiries.insert((until, executor));
        }
        known.retain(|_, until| *until >= now);
        known.len()
    }

    fn forget_old_failures(&mut self, now: Timestamp) {
        while self.failure_expiries.first().is_some_and(|(until, _)| *until < now) {
            let (_, executor) =
                self.failure_expiries.pop_first().expect("the loop's condition saw a first one");
            if let Some(known) = self.failures.get_mut(&executor) {
                known.retain(|_, until| *until >= now);
                if known.is_empty() {
                    self.failures.remove(&executor);
                }
            }
        }
    }

    fn exclude_executor(
        &mut self,
        now: Timestamp,
        executor: ExecutorId,
        host: &Host,
        failures: u32,
        out: &mut Vec<HealthEffect>,
    ) {
        let until = now + self.config.timeout;
        self.executors.insert(executor, ExcludedExecutor { host: host.clone(), until });
        self.executors_by_node.entry(host.clone()).or_default().insert(executor);
        self.expiries.insert((until, Excluded::Executor(executor)));
        let scope = ExclusionScope::Application;
        out.push(HealthEffect::Post(ListenerEvent::ExecutorExcluded {
            executor,
            time: now,
            scope,
            failures,
        }));
    }

    fn exclude_node_of_failed_executors(
        &mut self,
        now: Timestamp,
        host: &Host,
        out: &mut Vec<HealthEffect>,
    ) -> NodeVerdict {
        let excluded = self.executors_by_node.get(host).map_or(0, BTreeSet::len);
        if excluded < self.config.app_failed_executors_per_node as usize || self.nodes.contains_key(host) {
            return NodeVerdict::AsBefore;
        }
        self.exclude_node(now, host, excluded as u32, out);
        NodeVerdict::ExcludedNow
    }

    fn exclude_node(&mut self, now: Timestamp, host: &Host, failures: u32, out: &mut Vec<HealthEffect>) {
        let until = now + self.config.timeout;
        self.nodes.insert(host.clone(), until);
        self.expiries.insert((until, Excluded::Node(host.clone())));
        let (host, scope) = (host.clone(), ExclusionScope::Application);
        out.push(HealthEffect::Post(ListenerEvent::NodeExcluded { host, time: now, scope, failures }));
    }

    fn readmit_executor(&mut self, now: Timestamp, executor: ExecutorId, out: &mut Vec<HealthEffect>) {
        let status = self.executors.remove(&executor).expect("an expiry belongs to an excluded executor");
        let on_node = self.executors_by_node.get_mut(&status.host).expect("it counts for its node until now");
        on_node.remove(&executor);
        if on_node.is_empty() {
            self.executors_by_node.remove(&status.host);
        }
        out.push(HealthEffect::Post(ListenerEvent::ExecutorUnexcluded { executor, time: now }));
    }

    fn kill_excluded_executor(&self, executor: ExecutorId, out: &mut Vec<HealthEffect>) {
        if self.config.kill {
            out.push(self.kill_order(executor, ExclusionKillCause::Excluded));
        }
    }

    fn kill_executors_on(&self, host: &Host, out: &mut Vec<HealthEffect>) {
        match (self.config.kill, self.config.decommission) {
            (true, false) => out.push(HealthEffect::KillExecutorsOnHost(host.clone())),
            (true, true) => out.push(HealthEffect::DecommissionExecutorsOnHost(host.clone())),
            (false, _) => {}
        }
    }

    const fn kill_order(&self, executor: ExecutorId, cause: ExclusionKillCause) -> HealthEffect {
        if self.config.decommission {
            HealthEffect::DecommissionExecutor { executor, cause }
        } else {
            HealthEffect::KillExecutor { executor, cause }
        }
    }

    fn check_in_debug(&self) {
        if cfg!(debug_assertions) {
            self.check_invariants();
        }
    }

    fn check_invariants(&self) {
        assert_eq!(
            self.expiries.len(),
            self.executors.len() + self.nodes.len(),
            "each exclusion has its end"
        );
        for (executor, status) in &self.executors {
            assert!(self.expiries.contains(&(status.until, Excluded::Executor(*executor))));
            assert!(
                self.executors_by_node[&status.host].contains(executor),
                "{executor} counts for its node"
            );
        }
        for (host, until) in &self.nodes {
            assert!(self.expiries.contains(&(*until, Excluded::Node(host.clone()))), "{host} has its end");
        }
        let counted: usize = self.executors_by_node.values().map(BTreeSet::len).sum();
        assert_eq!(counted, self.executors.len(), "nodes count excluded executors only");
    }
}

/// Whether an event put a node on the list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NodeVerdict {
    ExcludedNow,
    AsBefore,
}
