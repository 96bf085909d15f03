//! The task scheduler's state, and what the DAG scheduler orders of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use firesteel_types::{
    AttemptId, ExecutorId, PartitionId, Properties, Rng, StageAttemptId, StageId, TaskFailure, Timestamp,
};

use super::{
    manager::TaskSetManager,
    running::Running,
    set::{TaskOrder, TaskSet},
    unschedulable::Unschedulable,
};
use crate::{
    config::{ConfigError, SchedulerConfig},
    dag::DagEvent,
    effect::{Effect, StageLaunch},
    exclusion::{HealthEffect, HealthTracker},
    pool::{PoolTree, SetKey},
    shared::Shared,
};

/// Everything about task sets and running attempts.
#[derive(Debug)]
pub(crate) struct TaskScheduler {
    pub(super) sets: Vec<Option<TaskSetManager>>,
    free_keys: Vec<SetKey>,
    pub(crate) by_id: BTreeMap<StageAttemptId, SetKey>,
    pub(crate) pools: PoolTree,
    pub(crate) running: IndexMap<AttemptId, Running, FxBuildHasher>,
    /// Attempts that have ended and whose results are on their way, with the executor that has them.
    pub(super) fetching: BTreeSet<(ExecutorId, AttemptId)>,
    /// Attempts that were sent ahead and have not begun.
    pub(super) ahead: u32,
    /// Sets that were closed while such attempts of theirs wait somewhere.
    pub(super) closed_ahead: Vec<SetKey>,
    pub(super) next_attempt: u64,
    pub(super) rng: Rng,
    pub(crate) health: Option<HealthTracker>,
    /// Executors that the health tracker wants gone.
    pub(crate) to_backend: VecDeque<HealthEffect>,
    /// Attempts of barrier sets that were told to end.
    pub(crate) killed_barrier_tasks: VecDeque<(StageAttemptId, PartitionId, AttemptId)>,
    /// Barrier sets that are over.
    pub(crate) ended_barriers: Vec<StageAttemptId>,
    pub(super) unschedulable: BTreeMap<StageAttemptId, Unschedulable>,
    /// Whether everything free is to be offered.
    pub(crate) revive: bool,
    /// Executors to be offered because something changed there.
    pub(crate) dirty: Vec<ExecutorId>,
    pub(super) offers: Vec<ExecutorId>,
    pub(super) has_launched: bool,
    pub(super) timers: Timers,
}

/// When the task scheduler wants to be woken.
#[derive(Debug, Default)]
pub(super) struct Timers {
    /// When everything free is offered again.
    pub(super) revive: Option<Timestamp>,
    /// When the next wait for a better place ends.
    pub(super) locality: Option<Timestamp>,
    /// When running tasks are looked at.
    pub(super) speculation: Option<Timestamp>,
    /// When the user is told that nothing was ever launched.
    pub(super) starvation: Option<Timestamp>,
    /// When tasks that were sent ahead are looked at.
    pub(super) ahead: Option<Timestamp>,
}

impl TaskScheduler {
    pub(crate) fn new(config: &SchedulerConfig) -> Result<Self, ConfigError> {
        let health = config.exclusion.as_ref().map(|exclusion| {
            exclusion.validate(config.tasks.failures_max)?;
            Ok::<_, ConfigError>(HealthTracker::new(exclusion.clone()))
        });
        Ok(Self {
            sets: Vec::new(),
            free_keys: Vec::new(),
            by_id: BTreeMap::new(),
            pools: PoolTree::new(config.pools.mode, &config.pools.pools)?,
            running: IndexMap::default(),
            fetching: BTreeSet::new(),
            ahead: 0,
            closed_ahead: Vec::new(),
            next_attempt: 0,
            rng: Rng::new(config.seed),
            health: health.transpose()?,
            to_backend: VecDeque::new(),
            killed_barrier_tasks: VecDeque::new(),
            ended_barriers: Vec::new(),
            unschedulable: BTreeMap::new(),
            revive: false,
            dirty: Vec::new(),
            offers: Vec::new(),
            has_launched: false,
            timers: Timers::default(),
        })
    }

    pub(crate) fn set(&self, key: SetKey) -> &TaskSetManager {
        self.sets[key.0 as usize].as_ref().expect("keys are of active sets")
    }

    pub(crate) fn set_mut(&mut self, key: SetKey) -> &mut TaskSetManager {
        self.sets[key.0 as usize].as_mut().expect("keys are of active sets")
    }

    /// The sets of a stage that are not removed yet, oldest first.
    pub(crate) fn sets_of(&self, stage: StageId) -> Vec<SetKey> {
        let all = StageAttemptId::new(stage, 0)..=StageAttemptId::new(stage, u32::MAX);
        self.by_id.range(all).map(|(_, key)| *key).collect()
    }

    pub(crate) fn perform(&mut self, cx: &mut Shared, order: TaskOrder) {
        match order {
            TaskOrder::Submit(set) => self.submit(cx, *set),
            TaskOrder::KillStage { stage, interrupt, reason } => {
                self.kill_stage(cx, stage, interrupt, &reason)
            }
            TaskOrder::OutputCompleted { stage, output } => {
                for key in self.sets_of(stage) {
                    self.on_output_completed(cx, key, output);
                }
            }
        }
    }

    /// Takes in a new task set. Earlier attempts of its stage launch nothing more from now on.
    fn submit(&mut self, cx: &mut Shared, set: TaskSet) {
        for key in self.sets_of(set.id.stage) {
            self.set_mut(key).is_zombie = true;
            self.refresh_schedulable(key);
            self.remove_if_finished(cx, key);
        }
        let key = self.free_keys.pop().unwrap_or_else(|| {
            self.sets.push(None);
            SetKey(self.sets.len() as u32 - 1)
        });
        cx.out.push(Effect::PrepareStage(Box::new(StageLaunch {
            set: set.id,
            rdd: set.rdd,
            kind: set.kind,
            tasks: set.len(),
            partitions: set.partitions,
            profile: set.profile,
            properties: set.properties.clone(),
            generations: set.generations.clone(),
        })));
        self.pools.add_set(key, set.id, set.priority, set.properties.get(Properties::POOL));
        self.by_id.insert(set.id, key);
        let manager = TaskSetManager::new(set, cx.now, &cx.config, &mut cx.executors);
        if cx.config.locality.racks {
            // Each host once and all in one go.
            let hosts = &mut cx.executors.hosts;
            let preferred: Vec<_> =
                manager.set.preferred.iter().flatten().map(|place| hosts.intern(place.host())).collect();
            cx.ask_racks(preferred);
        }
        self.sets[key.0 as usize] = Some(manager);
        self.refresh_schedulable(key);
        self.revive = true;
        if !cx.config.local && !self.has_launched && self.timers.starvation.is_none() {
            self.timers.starvation = Some(cx.now + cx.config.executors.starvation_interval);
        }
    }

    /// Ends every attempt of a stage, and launches no more of it.
    fn kill_stage(&mut self, cx: &mut Shared, stage: StageId, interrupt: bool, reason: &str) {
        for key in self.sets_of(stage) {
            self.kill_attempts(cx, key, interrupt, reason);
            self.set_mut(key).is_zombie = true;
            self.refresh_schedulable(key);
            self.remove_if_finished(cx, key);
        }
    }

    fn kill_attempts(&mut self, cx: &mut Shared, key: SetKey, interrupt: bool, reason: &str) {
        let attempts: Vec<_> = self.set(key).running().collect();
        for attempt in attempts {
            self.kill_attempt(cx, attempt, interrupt, reason);
        }
    }

    /// Tells an attempt to end, and its barrier, where it may be waiting. One that has ended, or that the backend
    /// cannot reach, is left alone.
    pub(super) fn kill_attempt(
        &mut self,
        cx: &mut Shared,
        attempt: AttemptId,
        interrupt: bool,
        reason: &str,
    ) {
        let running = &mut self.running[&attempt];
        if !cx.config.can_kill_tasks || running.has_ended() {
            return;
        }
        running.recalled = true;
        let Running { set: key, info, .. } = &self.running[&attempt];
        let (executor, set) = (info.executor, &self.set(*key).set);
        if set.barrier {
            let told = (set.id, info.partition, attempt);
            self.killed_barrier_tasks.push_back(told);
        }
        cx.out.push(Effect::KillTask { executor, attempt, interrupt, reason: reason.to_owned() });
    }

    /// Gives up a task set: the DAG scheduler fails what depends on it, and what still runs is left to end.
    pub(super) fn give_up(
        &mut self,
        cx: &mut Shared,
        key: SetKey,
        reason: String,
        cause: Option<TaskFailure>,
    ) {
        let set = self.set_mut(key);
        set.is_zombie = true;
        cx.to_dag.push_back(DagEvent::TaskSetFailed { set: set.set.id, reason, cause });
        self.refresh_schedulable(key);
    }

    /// Gives up a task set, and removes it if none of its attempts runs.
    pub(super) fn abort(&mut self, cx: &mut Shared, key: SetKey, reason: String, cause: Option<TaskFailure>) {
        self.give_up(cx, key, reason, cause);
        self.remove_if_finished(cx, key);
    }

    /// Gives up every active set: the cluster cannot go on. Whether there was one.
    pub(crate) fn abort_all(&mut self, cx: &mut Shared, reason: &str) -> bool {
        let active: Vec<_> = self.by_id.values().copied().filter(|key| !self.set(*key).is_zombie).collect();
        for key in &active {
            self.abort(cx, *key, reason.to_owned(), None);
        }
        !active.is_empty()
    }

    /// Brings the pools up to date after a set's tasks changed.
    pub(super) fn refresh_schedulable(&mut self, key: SetKey) {
        let set = self.set(key);
        let is_schedulable = set.is_schedulable();
        if set.is_zombie && set.ahead > 0 {
            self.closed_ahead.push(key);
        }
        self.pools.set_schedulable(key, is_schedulable);
    }

    /// Removes a zombie whose last attempt has ended.
    pub(super) fn remove_if_finished(&mut self, cx: &mut Shared, key: SetKey) {
        if !self.set(key).is_finished() {
            return;
        }
        let manager = self.sets[key.0 as usize].take().expect("keys are of active sets");
        let id = manager.set.id;
        self.pools.remove_set(key);
        self.free_keys.push(key);
        self.by_id.remove(&id);
        self.withdraw_unschedulable(cx, id);
        cx.out.push(Effect::ForgetStage { set: id });
        if manager.set.barrier {
            self.ended_barriers.push(id);
        }
        if manager.all_done()
            && let (Some(health), Some(list)) = (&mut self.health, manager.excludelist())
        {
            let mut effects = Vec::new();
            health.on_task_set_succeeded(cx.now, id, list.failures_by_executor(), &mut effects);
            self.perform_health(cx, effects);
        }
    }

    /// How many tasks the active sets have: an estimate of what a walk over all of them costs.
    pub(crate) fn size(&self) -> usize {
        self.by_id.values().map(|key| self.set(*key).set.tasks.len()).sum()
    }

    pub(crate) fn is_quiescent(&self) -> bool {
        self.by_id.is_empty() && self.running.is_empty() && self.unschedulable.is_empty()
    }

    /// Cross-checks sets, pools and running attempts.
    pub(crate) fn check_invariants(&self) {
        for (id, key) in &self.by_id {
            let set = self.set(*key);
            assert_eq!(set.set.id, *id, "sets are filed under their own id");
            set.check_invariants();
            let ahead = set.running().filter(|attempt| self.running[attempt].is_ahead()).count();
            assert_eq!(ahead, set.ahead as usize, "{id}: attempts that have not begun are counted");
            assert_eq!(
                self.pools.running(*key) as usize,
                set.running.len() - ahead,
                "{id}: the pool counts what runs"
            );
            assert!(!set.is_finished(), "{id}: a finished zombie is removed at once");
        }
        for (attempt, running) in &self.running {
            let listed = self.fetching.contains(&(running.info.executor, *attempt));
            assert_eq!(listed, running.has_ended(), "{attempt} is listed while its result is on the way");
        }
        let ahead = self.running.values().filter(|running| running.is_ahead()).count();
        assert_eq!(ahead, self.ahead as usize, "attempts that have not begun are counted");
        let in_sets: usize = self.by_id.values().map(|key| self.set(*key).running.len()).sum();
        assert_eq!(in_sets, self.running.len(), "every running attempt belongs to a set");
        let mut active_stages: Vec<_> =
            self.by_id.iter().filter(|(_, key)| !self.set(**key).is_zombie).map(|(id, _)| id.stage).collect();
        let before = active_stages.len();
        active_stages.dedup();
        assert_eq!(active_stages.len(), before, "at most one attempt of a stage launches tasks");
        self.pools.check_invariants();
    }
}
