//! The task set manager: the state of one stage attempt's tasks.

use std::collections::{BTreeMap, BTreeSet};

use firesteel_types::{AttemptId, ExecutorId, Host, Locality, TaskIndex, TaskInfo, Timestamp};

use super::{
    levels::{Levels, Waiting},
    offer::list_bars,
    pace::Pace,
    pending::{Listed, PendingTasks},
    set::TaskSet,
    speculation::Finished,
};
use crate::{
    config::SchedulerConfig,
    exclusion::TaskSetExcludelist,
    executors::{Executors, HostId},
};

/// A set with fewer tasks is checked after every event, where checks are on.
const CHECKED_ALWAYS: usize = 256;

/// The tasks of one stage attempt: which wait, which run, which are done, and what may go where.
///
/// ```text
///   waiting ──launch──▶ running ──success──▶ done
///      ▲                   │                  │
///      └──failure, kill────┘                  │
///      └──executor lost with the map output───┘
/// ```
///
/// A *zombie* launches nothing more but still takes reports of what runs; it is removed when nothing does.
#[derive(Debug)]
pub(crate) struct TaskSetManager {
    pub(crate) set: TaskSet,
    pub(crate) is_zombie: bool,
    pub(super) tasks: Vec<TaskState>,
    pub(super) pending: PendingTasks,
    pub(crate) waiting: Waiting,
    pub(super) levels: Levels,
    /// Whether no offer was refused because of delay since the timer was last reset.
    pub(super) no_refusals_since_reset: bool,
    /// Attempts under way.
    pub(super) running: BTreeSet<AttemptId>,
    /// Those of them that were sent ahead and have not begun.
    pub(crate) ahead: u32,
    pub(super) pace: Pace,
    pub(super) successful: u32,
    /// The attempts that finished the tasks of a map set, by the executor that has their output.
    pub(super) winners: BTreeMap<ExecutorId, Vec<TaskInfo>>,
    /// Hosts of further attempts of a task, beyond its first.
    pub(super) more_hosts: BTreeMap<TaskIndex, Vec<HostId>>,
    /// Tasks that may get a second copy and have none yet.
    pub(super) speculatable: BTreeSet<TaskIndex>,
    pub(super) pending_copies: PendingTasks,
    pub(super) finished: Finished,
    pub(super) excludelist: Option<TaskSetExcludelist>,
    pub(super) result_bytes: u64,
    pub(super) results_counted: u32,
    pub(super) warned_large: bool,
}

/// One task of the set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TaskState {
    pub(super) copies_running: u16,
    pub(super) failures: u32,
    pub(super) attempts: u32,
    pub(super) first_host: Option<HostId>,
    pub(super) is_done: bool,
    /// Whether it waits for a launch: it is in the lists of waiting tasks and counted there.
    pub(super) is_waiting: bool,
    pub(super) listed: Listed,
}

impl TaskSetManager {
    pub(crate) fn new(
        set: TaskSet,
        now: Timestamp,
        config: &SchedulerConfig,
        executors: &mut Executors,
    ) -> Self {
        let excludelist =
            config.exclusion.as_ref().map(|exclusion| TaskSetExcludelist::new(exclusion, set.id));
        let mut manager = Self {
            is_zombie: false,
            tasks: vec![TaskState::default(); set.tasks.len()],
            pending: PendingTasks::default(),
            waiting: Waiting::default(),
            levels: Levels::new(vec![Locality::Any], now),
            no_refusals_since_reset: true,
            running: BTreeSet::new(),
            ahead: 0,
            pace: Pace::default(),
            successful: 0,
            winners: BTreeMap::new(),
            more_hosts: BTreeMap::new(),
            speculatable: BTreeSet::new(),
            pending_copies: PendingTasks::default(),
            finished: Finished::default(),
            excludelist,
            result_bytes: 0,
            results_counted: 0,
            warned_large: false,
            set,
        };
        // From the highest down, so that the lowest is at the end of each list and goes first.
        for index in (0..manager.set.len()).rev().map(TaskIndex) {
            manager.add_pending(index, executors);
        }
        manager.levels = Levels::new(manager.valid_levels(executors), now);
        manager
    }

    /// Whether an offer could launch something.
    pub(crate) fn is_schedulable(&self) -> bool {
        !self.is_zombie && (self.waiting.all > 0 || !self.speculatable.is_empty())
    }

    /// Whether nothing is left of it but its record.
    pub(crate) fn is_finished(&self) -> bool {
        self.is_zombie && self.running.is_empty()
    }

    pub(crate) fn all_done(&self) -> bool {
        self.successful == self.set.len()
    }

    pub(crate) fn is_waiting(&self, index: TaskIndex) -> bool {
        self.tasks[index.index()].is_waiting
    }

    pub(crate) fn is_done(&self, index: TaskIndex) -> bool {
        self.tasks[index.index()].is_done
    }

    /// The task that any offer would look at first.
    pub(super) fn next_waiting(&mut self) -> Option<TaskIndex> {
        let Self { pending, tasks, .. } = self;
        pending.next(|index| tasks[index.index()].is_waiting)
    }

    pub(crate) fn waiting(&self) -> u32 {
        self.waiting.all
    }

    pub(crate) fn running(&self) -> impl Iterator<Item = AttemptId> {
        self.running.iter().copied()
    }

    pub(crate) fn levels(&self) -> &Levels {
        &self.levels
    }

    /// Whether a task is in the list of an executor.
    pub(crate) fn is_listed_for(&self, executor: ExecutorId, index: TaskIndex) -> bool {
        self.pending.is_listed_for(executor, index)
    }

    /// The levels as they would be once one more executor is alive.
    pub(crate) fn levels_with(&self, executor: ExecutorId, executors: &Executors) -> Levels {
        if executors.is_alive(executor) {
            return self.levels.clone();
        }
        let host = executors.known(executor).host;
        let extra = (executor, host, executors.hosts.rack(host));
        let better = self.pending.levels_with(extra, executors, |index| self.is_waiting(index));
        self.levels.with(better.chain([Locality::Any]).collect())
    }

    pub(crate) fn excludelist(&self) -> Option<&TaskSetExcludelist> {
        self.excludelist.as_ref()
    }

    /// Puts a task (back) into the lists of waiting tasks.
    pub(super) fn add_pending(&mut self, index: TaskIndex, executors: &mut Executors) {
        let listed = self.pending.add(index, self.set.preferred(index), executors);
        let task = &mut self.tasks[index.index()];
        (task.listed, task.is_waiting) = (listed, true);
        self.count_waiting(listed, 1);
    }

    /// A task that may have waited waits no more.
    pub(super) fn stop_waiting(&mut self, index: TaskIndex) {
        let task = &mut self.tasks[index.index()];
        if std::mem::take(&mut task.is_waiting) {
            let listed = task.listed;
            self.count_waiting(listed, -1);
        }
    }

    fn count_waiting(&mut self, listed: Listed, by: i32) {
        let add = |count: &mut u32, is_listed: bool| {
            if is_listed {
                *count =
                    count.checked_add_signed(by).expect("what stops waiting was counted when it began to");
            }
        };
        add(&mut self.waiting.executor, listed.executor);
        add(&mut self.waiting.host, listed.host);
        add(&mut self.waiting.rack, listed.rack);
        add(&mut self.waiting.no_pref, listed.no_pref);
        add(&mut self.waiting.all, true);
    }

    /// Executors came, went or began to drain: the levels worth waiting for may be others now.
    pub(crate) fn recompute_levels(&mut self, executors: &Executors) {
        if !self.is_zombie {
            let valid = self.valid_levels(executors);
            self.levels.recompute(valid);
        }
    }

    /// Racks became known: tasks that wait are put into the lists of their racks.
    pub(crate) fn resolve_racks(&mut self, executors: &mut Executors) {
        for index in (0..self.set.preferred.len() as u32).rev().map(TaskIndex) {
            if !self.is_waiting(index) || self.tasks[index.index()].listed.rack {
                continue;
            }
            let mut racks = BTreeSet::new();
            for place in &self.set.preferred[index.index()] {
                let host = executors.hosts.intern(place.host());
                racks.extend(executors.hosts.rack(host));
            }
            if racks.is_empty() {
                continue;
            }
            self.tasks[index.index()].listed.rack = true;
            self.waiting.rack += 1;
            for rack in racks {
                self.pending.add_rack(index, rack);
            }
        }
        self.recompute_levels(executors);
    }

    /// The levels at which something that waits, a second copy included, could find its place.
    fn valid_levels(&mut self, executors: &Executors) -> Vec<Locality> {
        let Self { tasks, speculatable, pending, pending_copies, waiting, .. } = self;
        let is_waiting = |index: TaskIndex| tasks[index.index()].is_waiting;
        let is_copy = |index: TaskIndex| speculatable.contains(&index);
        let copies = !speculatable.is_empty();
        let mut levels = Vec::with_capacity(Locality::ALL.len());
        if waiting.executor > 0 && pending.wants_alive_executor(executors, is_waiting)
            || copies && pending_copies.wants_alive_executor(executors, is_copy)
        {
            levels.push(Locality::Process);
        }
        if waiting.host > 0 && pending.wants_alive_host(executors, is_waiting)
            || copies && pending_copies.wants_alive_host(executors, is_copy)
        {
            levels.push(Locality::Node);
        }
        if waiting.no_pref > 0 || copies && pending_copies.wants_no_place(is_copy) {
            levels.push(Locality::NoPref);
        }
        if waiting.rack > 0 && pending.wants_alive_rack(executors, is_waiting)
            || copies && pending_copies.wants_alive_rack(executors, is_copy)
        {
            levels.push(Locality::Rack);
        }
        levels.push(Locality::Any);
        levels
    }

    /// Whether the set itself refuses an executor because its tasks failed there.
    pub(crate) fn is_barred(&self, executor: ExecutorId, host: &Host) -> bool {
        self.excludelist
            .as_ref()
            .is_some_and(|list| list.is_executor_excluded(executor) || list.is_node_excluded(host))
    }

    /// Whether one task may not run on an executor because it failed there.
    pub(crate) fn is_task_barred(&self, index: TaskIndex, executor: ExecutorId, host: &Host) -> bool {
        self.excludelist.as_ref().is_some_and(|list| list_bars(list, index, executor, host))
    }

    /// Forgets every exclusion of the set, for tests of what would happen without.
    #[cfg(test)]
    pub(crate) fn forget_exclusions(&mut self, config: &crate::exclusion::ExclusionConfig) {
        self.excludelist = Some(TaskSetExcludelist::new(config, self.set.id));
    }

    /// Cross-checks the counters with the tasks: always in a small set, every now and then in a large one, so that the
    /// checks of a whole set cost no more for each of its tasks than in a small one.
    pub(crate) fn check_invariants(&self) {
        let every = self.tasks.len() / CHECKED_ALWAYS + 1;
        if !(self.successful as usize).is_multiple_of(every) {
            return;
        }
        let done = self.tasks.iter().filter(|task| task.is_done).count();
        assert_eq!(done, self.successful as usize, "{}: done tasks are counted", self.set.id);
        let copies: usize = self.tasks.iter().map(|task| usize::from(task.copies_running)).sum();
        assert_eq!(copies, self.running.len(), "{}: every running copy is an attempt", self.set.id);
        if !self.is_zombie {
            let waiting = self.tasks.iter().filter(|task| task.is_waiting).count();
            assert_eq!(waiting, self.waiting.all as usize, "{}: waiting tasks are counted", self.set.id);
            let is_right = |task: &TaskState| task.is_waiting == (task.copies_running == 0 && !task.is_done);
            assert!(self.tasks.iter().all(is_right), "{}: a task waits, runs or is done", self.set.id);
            assert!(done < self.tasks.len(), "{}: a set whose tasks are all done is a zombie", self.set.id);
        }
    }
}
