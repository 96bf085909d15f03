//! The scheduler as one machine.

use std::collections::VecDeque;

use firesteel_types::Timestamp;

use crate::{
    barrier_sync::{BarrierCoordinator, BarrierEvent},
    commit::OutputCommitCoordinator,
    config::{ConfigError, SchedulerConfig},
    dag::DagScheduler,
    effect::Effect,
    event::Event,
    executors::{Backend, BlockLocations, Executors},
    heartbeat::HeartbeatReceiver,
    map_output::MapOutputTracker,
    resources::{ProfileManager, ProfileSupport},
    shared::Shared,
    task::TaskScheduler,
};

/// Every scheduling decision of one application.
///
/// Give it each event with its time, and perform the effects that it returns:
///
/// ```
/// use firesteel_scheduler::{Effect, Event, ExecutorSpec, JobSpec, Partitions, Scheduler, SchedulerConfig};
/// use firesteel_types::{Cpus, ExecutorId, JobId, ProfileId, Properties, RddId, RddNode, Timestamp};
///
/// let mut scheduler = Scheduler::new(SchedulerConfig::default())?;
/// let now = Timestamp::ZERO;
/// let executor = ExecutorId(0);
/// scheduler.handle(now, Event::ExecutorRegistered(ExecutorSpec {
///     executor,
///     host: "h1".into(),
///     address: "h1:7337".into(),
///     cpus: Cpus::cores(2),
///     resources: Default::default(),
///     profile: ProfileId::DEFAULT,
/// }));
/// scheduler.handle(now, Event::ExecutorLaunched { executor });
/// scheduler.handle(now, Event::RddsRegistered(vec![RddNode::source(RddId(0), 3)]));
/// let effects = scheduler.handle(now, Event::JobSubmitted(JobSpec {
///     job: JobId(0),
///     rdd: RddId(0),
///     partitions: Partitions::All,
///     properties: Properties::default(),
///     rows_seen: None,
/// }));
/// let launches = effects.iter().filter(|effect| matches!(effect, Effect::LaunchTask(_))).count();
/// assert_eq!(launches, 2, "two cores run two of the three tasks");
/// # Ok::<(), firesteel_scheduler::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct Scheduler {
    pub(crate) cx: Shared,
    pub(crate) dag: DagScheduler,
    pub(crate) tasks: TaskScheduler,
    pub(super) heartbeats: HeartbeatReceiver,
    pub(super) barriers: BarrierCoordinator,
    pub(super) is_stopped: bool,
    /// Steps that a debug build may spend on the next check of the invariants.
    check_credit: usize,
}

impl Scheduler {
    /// A scheduler that knows no executor and no job yet.
    pub fn new(config: SchedulerConfig) -> Result<Self, ConfigError> {
        config.heartbeat.validate()?;
        let support = ProfileSupport {
            local: config.local,
            dynamic_allocation: config.dynamic_allocation,
            merge_conflicts: config.merge_profiles,
        };
        let profiles =
            ProfileManager::new(config.default_profile.clone(), support).map_err(ConfigError::Profile)?;
        let tasks = TaskScheduler::new(&config)?;
        let mut heartbeats = HeartbeatReceiver::new(&config.heartbeat, Timestamp::ZERO);
        heartbeats.on_scheduler_ready();
        let barriers = BarrierCoordinator::new(crate::barrier_sync::BarrierConfig {
            sync_timeout: config.barrier.sync_timeout,
        });
        let cx = Shared {
            now: Timestamp::ZERO,
            out: Vec::new(),
            to_dag: VecDeque::new(),
            to_tasks: VecDeque::new(),
            executors: Executors::default(),
            backend: Backend::default(),
            blocks: BlockLocations::default(),
            map_outputs: MapOutputTracker::new(config.map_outputs)?,
            profiles,
            commits: OutputCommitCoordinator::default(),
            config,
        };
        Ok(Self {
            cx,
            dag: DagScheduler::default(),
            tasks,
            heartbeats,
            barriers,
            is_stopped: false,
            check_credit: 0,
        })
    }

    /// Takes one event and returns what follows from it, offers included.
    pub fn handle(&mut self, now: Timestamp, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.handle_all(now, [event], &mut effects);
        effects
    }

    /// Takes several events that arrived together, and makes offers once for all of them.
    ///
    /// This is how a driver drains its inbox: ten status updates from one executor lead to one look at the pools.
    /// The effects are appended to `out`.
    pub fn handle_all(
        &mut self,
        now: Timestamp,
        events: impl IntoIterator<Item = Event>,
        out: &mut Vec<Effect>,
    ) {
        // A clock that goes backwards must not make a wait longer than it is.
        self.cx.now = self.cx.now.max(now);
        std::mem::swap(&mut self.cx.out, out);
        for event in events {
            self.dispatch(event);
            self.settle();
        }
        while self.tasks.make_offers(&mut self.cx) {
            self.settle();
        }
        self.tasks.take_back_closed(&mut self.cx);
        self.tasks.arm_timers(&self.cx);
        std::mem::swap(&mut self.cx.out, out);
        if cfg!(debug_assertions) {
            self.check_when_affordable();
        }
    }

    /// Checks the invariants after every turn while that is cheap, and less often the more there is to look at, so
    /// that a hundred thousand tasks are no trouble in a debug build either.
    fn check_when_affordable(&mut self) {
        const STEPS_PER_TURN: usize = 1 << 14;
        self.check_credit += STEPS_PER_TURN;
        if self.check_credit >= self.tasks.size() + self.cx.executors.len() + self.dag.stages.len() {
            self.check_credit = 0;
            self.check_invariants();
        }
    }

    /// Carries orders and reports between the halves until there are none.
    pub(super) fn settle(&mut self) {
        loop {
            if let Some(order) = self.cx.to_tasks.pop_front() {
                self.watch_barrier(&order);
                self.tasks.perform(&mut self.cx, order);
            } else if let Some(event) = self.cx.to_dag.pop_front() {
                self.dag.on_event(&mut self.cx, event);
            } else if let Some(effect) = self.tasks.to_backend.pop_front() {
                self.perform_health(effect);
            } else if let Some((set, partition, attempt)) = self.tasks.killed_barrier_tasks.pop_front() {
                self.tell_barrier(BarrierEvent::TaskKilled { set, partition, attempt });
            } else if let Some(set) = self.tasks.ended_barriers.pop() {
                self.tell_barrier(BarrierEvent::StageCompleted { set });
            } else {
                break;
            }
        }
    }

    /// When the scheduler wants a [`Event::Tick`], if nothing else happens before.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        [
            self.dag.next_deadline(),
            self.tasks.next_deadline(),
            self.heartbeats.next_check(),
            self.barriers.next_deadline(),
            self.next_forced_kill(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Whether nothing runs and no trace of any job is left.
    pub fn is_quiescent(&self) -> bool {
        self.dag.is_quiescent()
            && self.tasks.is_quiescent()
            && self.cx.commits.is_quiescent()
            && self.barriers.is_quiescent()
    }

    /// Cross-checks everything that is stored twice.
    ///
    /// # Panics
    /// When something contradicts something else: that is a bug of the scheduler.
    pub fn check_invariants(&self) {
        self.dag.check_invariants();
        self.tasks.check_invariants();
        self.cx.executors.check_invariants();
        for (attempt, running) in &self.tasks.running {
            let executor = self.cx.executors.get(running.info.executor);
            let holds = executor.is_some_and(|executor| executor.running.contains(attempt));
            let runs = !running.has_ended() && !running.is_ahead();
            assert_eq!(holds, runs, "{attempt} holds resources exactly while it runs");
            let waits = executor.is_some_and(|e| e.ahead.iter().any(|sent| sent.attempt == *attempt));
            assert_eq!(waits, running.is_ahead(), "{attempt} waits on its executor until it begins");
        }
        for stage in &self.dag.running {
            let has_set = !self.tasks.sets_of(*stage).is_empty();
            assert!(has_set, "{stage} runs, so it has a task set");
        }
    }
}
