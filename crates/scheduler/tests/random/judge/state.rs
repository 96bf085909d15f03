//! The judge's state, and how events and effects reach it.

use std::collections::{BTreeMap, BTreeSet};

use firesteel_scheduler::{Effect, Event, Scaling, Scheduler, SchedulerConfig, StageLaunch};
use firesteel_types::{
    AttemptId, ExecutorId, Host, JobId, ListenerEvent, PartitionId, RddId, RddNode, ShuffleId,
    StageAttemptId, StageId,
};

use super::{
    ahead::AheadCounts,
    commits::Holder,
    executors::{Exclusions, Executor},
    jobs::Job,
    stored::Stored,
    tasks::Attempt,
};

/// The model of one scheduler.
#[derive(Debug)]
pub struct Judge {
    pub(super) config: SchedulerConfig,
    pub rdds: BTreeMap<RddId, RddNode>,
    pub executors: BTreeMap<ExecutorId, Executor>,
    /// Executors that were registered and are not any more.
    pub gone: BTreeSet<ExecutorId>,
    /// Executors that were told to drain, perhaps before they came.
    pub(super) asked_to_leave: BTreeSet<ExecutorId>,
    /// Executors that a report wrongly named as the place of a map output.
    pub(super) slandered: BTreeSet<ExecutorId>,
    pub(super) exclusions: Exclusions,
    pub attempts: BTreeMap<AttemptId, Attempt>,
    pub sets: BTreeMap<StageAttemptId, Set>,
    pub jobs: BTreeMap<JobId, Job>,
    /// The jobs that use each stage.
    pub(super) stage_jobs: BTreeMap<StageId, BTreeSet<JobId>>,
    /// Stage attempts that were announced and not ended.
    pub(super) open_stages: BTreeSet<StageAttemptId>,
    /// Stages whose tasks start all at once or not at all.
    pub(super) barrier_stages: BTreeSet<StageId>,
    pub(super) commits: BTreeMap<(StageId, PartitionId), Holder>,
    /// Shuffles whose outputs may be of several runs, since all of these gave the same rows.
    pub(super) repairable: BTreeSet<ShuffleId>,
    pub(super) stored: Stored,
    pub(super) batch: Batch,
    pub ahead_counts: AheadCounts,
    pub is_stopped: bool,
    /// Whether the scheduler wants the context to be stopped.
    pub wants_stop: bool,
}

/// One task set.
#[derive(Debug)]
pub struct Set {
    pub launch: StageLaunch,
    /// For a result stage, the position of each task's result.
    pub positions: Vec<u32>,
    pub(super) is_forgotten: bool,
    pub(super) is_ended: bool,
}

impl Set {
    /// Whether its tasks may be launched.
    pub(super) fn is_open(&self) -> bool {
        !self.is_forgotten && !self.is_ended
    }
}

/// What one call of the scheduler brought.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) events: usize,
    pub(super) registering: Vec<firesteel_scheduler::ExecutorSpec>,
    pub(super) kill_requested: Option<AttemptId>,
    pub(super) duplicates: Vec<JobId>,
    pub(super) reported: Vec<AttemptId>,
    pub(super) succeeded: BTreeSet<AttemptId>,
    pub(super) prepared: Vec<StageAttemptId>,
    pub(super) ended_stages: Vec<StageAttemptId>,
    pub(super) launched: Vec<AttemptId>,
    /// Attempts that were sent ahead and have begun.
    pub(super) begun: Vec<AttemptId>,
    pub(super) last_started: Option<AttemptId>,
}

impl Judge {
    pub fn new(config: SchedulerConfig) -> Self {
        Self {
            config,
            rdds: BTreeMap::new(),
            executors: BTreeMap::new(),
            gone: BTreeSet::new(),
            asked_to_leave: BTreeSet::new(),
            slandered: BTreeSet::new(),
            exclusions: Exclusions::default(),
            attempts: BTreeMap::new(),
            sets: BTreeMap::new(),
            jobs: BTreeMap::new(),
            stage_jobs: BTreeMap::new(),
            open_stages: BTreeSet::new(),
            barrier_stages: BTreeSet::new(),
            commits: BTreeMap::new(),
            repairable: BTreeSet::new(),
            stored: Stored::default(),
            batch: Batch::default(),
            ahead_counts: AheadCounts::default(),
            is_stopped: false,
            wants_stop: false,
        }
    }

    pub fn config(&self) -> &SchedulerConfig {
        &self.config
    }

    /// Takes an event that the scheduler is about to be given.
    pub fn hear(&mut self, event: &Event) {
        self.batch.events += 1;
        match event {
            Event::ExecutorRegistered(spec) => self.batch.registering.push(spec.clone()),
            Event::ExecutorLaunched { executor } => {
                if let Some(known) = self.executors.get_mut(executor) {
                    known.is_launched = true;
                }
            }
            Event::ExecutorDisconnected { executor } => self.disconnects(*executor),
            Event::ExecutorLost { executor, .. } => self.remove_executor(*executor),
            Event::ScalingRequested(Scaling::Decommission { executors, .. }) => {
                for executor in executors {
                    self.leaves(*executor);
                }
                self.asked_to_leave.extend(executors);
            }
            Event::StatusUpdate { executor, attempt, status } => {
                self.hear_status(*executor, *attempt, status)
            }
            Event::TasksReturned { executor, attempts } => self.hear_returned(*executor, attempts),
            Event::ResultFetched { attempt, outcome } => self.hear_fetched(*attempt, outcome),
            Event::TaskNotSent { attempt, .. } => self.hear_not_sent(*attempt),
            Event::TaskKillRequested { attempt, .. } => self.batch.kill_requested = Some(*attempt),
            Event::JobSubmitted(spec) => self.hear_job(spec),
            Event::MapStageSubmitted { job, shuffle, .. } => self.hear_map_stage_job(*job, *shuffle),
            Event::RddsRegistered(nodes) => {
                // The runs register valid nodes only.
                self.rdds.extend(nodes.iter().map(|node| (node.id, node.clone())));
            }
            Event::MapOutputMoved { executor, .. } => {
                self.slandered.insert(*executor);
            }
            Event::ContextStopped => self.is_stopped = true,
            Event::BlocksUpdated { executor, blocks } => self.stored.hear_blocks(*executor, blocks),
            Event::RddsDropped(rdds) => self.stored.hear_dropped(rdds),
            Event::ShuffleDropped { shuffle } => {
                // One that comes back, which none does, has no run before.
                self.repairable.insert(*shuffle);
            }
            Event::ProfileRegistered { .. }
            | Event::CancelRequested { .. }
            | Event::ResultHandlerFailed { .. }
            | Event::LoopFailed { .. }
            | Event::StageNotSerializable { .. }
            | Event::LargeTaskSent { .. }
            | Event::RacksResolved(_)
            | Event::Heartbeat { .. }
            | Event::WorkerRemoved { .. }
            | Event::ScalingRequested(_)
            | Event::ClusterFailed { .. }
            | Event::CommitRequested { .. }
            | Event::BarrierRequested(_)
            | Event::Tick => (),
        }
    }

    /// Takes all effects of a call before they are seen one by one. What an executor ran may be said to have ended
    /// before it is said that the executor was given up.
    pub fn foresee(&mut self, effects: &[Effect]) {
        for effect in effects {
            if let Effect::Post(ListenerEvent::ExecutorRemoved { executor, .. }) = effect {
                self.remove_executor(*executor);
            }
        }
    }

    /// Takes one effect.
    pub fn see(&mut self, effect: &Effect) {
        match effect {
            Effect::Post(event) => self.see_post(event),
            Effect::PrepareStage(launch) => self.see_prepared(launch),
            Effect::LaunchTask(task) => self.see_launch(task),
            Effect::KillTask { executor, attempt, .. } => self.see_kill(*executor, *attempt),
            Effect::TakeBackTasks { executor, attempts } => self.see_take_back(*executor, attempts),
            Effect::ForgetStage { set } => self.see_forgotten(*set),
            Effect::FetchResult { attempt } => self.see_fetch(*attempt),
            Effect::DropResultBlock { attempt } => {
                assert!(self.attempts.contains_key(attempt), "{attempt} has a result block");
            }
            Effect::DeliverResult { job, position, attempt } => self.see_result(*job, *position, *attempt),
            Effect::DeliverStatistics { job, bytes_by_reducer } => {
                self.see_statistics(*job, bytes_by_reducer);
            }
            Effect::JobSucceeded { job, .. } => self.see_success(*job),
            Effect::JobFailed { job, error } => self.see_failure(*job, error),
            Effect::MergeAccumulators { attempt, which } => self.see_merge(*attempt, *which),
            Effect::AnswerCommit { set, partition, number, decision } => {
                self.see_commit_answer(*set, *partition, *number, *decision);
            }
            Effect::AnswerRegistration { executor, answer } => {
                self.see_registration(*executor, answer.is_ok());
            }
            Effect::KillExecutors { executors, .. } | Effect::DecommissionExecutors { executors } => {
                for executor in executors {
                    self.leaves(*executor);
                }
            }
            Effect::StopContext { .. } => self.wants_stop = true,
            Effect::AnswerBarrier { .. }
            | Effect::AnswerHeartbeat { .. }
            | Effect::ProfileAnswer(_)
            | Effect::RequestExecutors { .. }
            | Effect::RemoveBlockManager { .. }
            | Effect::RemoveStaleBlocks { .. }
            | Effect::ResolveRacks { .. }
            | Effect::TagCancelled { .. }
            | Effect::TaskKillAnswer { .. }
            | Effect::StopExecutors
            | Effect::Warn(_)
            | Effect::Ignored(_) => (),
        }
    }

    fn see_post(&mut self, event: &ListenerEvent) {
        match event {
            ListenerEvent::JobStart { job, stages, .. } => self.see_job_start(*job, stages),
            ListenerEvent::JobEnd { job, outcome, .. } => self.see_job_end(*job, outcome),
            ListenerEvent::StageSubmitted { info, .. } => {
                let is_new = self.open_stages.insert(info.id);
                assert!(is_new, "{} is announced once", info.id);
                if info.rdds.iter().any(|rdd| self.rdds[rdd].barrier) {
                    self.barrier_stages.insert(info.id.stage);
                }
            }
            ListenerEvent::StageCompleted { info } => self.see_stage_end(info),
            ListenerEvent::TaskStart { task, .. } => self.see_task_start(task.attempt),
            ListenerEvent::TaskEnd { set, task, reason, .. } => self.see_task_end(*set, task, reason),
            ListenerEvent::ExecutorAdded { executor, .. } => {
                assert!(!self.executors.contains_key(executor), "{executor} is added once");
            }
            ListenerEvent::ExecutorRemoved { executor, .. } => {
                assert!(!self.executors.contains_key(executor), "{executor} was foreseen to go");
            }
            ListenerEvent::ExecutorExcluded { .. }
            | ListenerEvent::ExecutorUnexcluded { .. }
            | ListenerEvent::NodeExcluded { .. }
            | ListenerEvent::NodeUnexcluded { .. } => self.exclusions.see(event),
            ListenerEvent::TaskGettingResult { .. }
            | ListenerEvent::AccumulatorsUpdated { .. }
            | ListenerEvent::SpeculativeTaskSubmitted { .. }
            | ListenerEvent::UnschedulableTaskSetAdded { .. }
            | ListenerEvent::UnschedulableTaskSetRemoved { .. } => (),
        }
    }

    /// The effects of a call are complete: what had to be among them is there.
    pub fn close(&mut self, scheduler: &Scheduler) {
        self.check_reports_taken();
        self.check_beginnings_told();
        self.check_barrier_launches();
        self.check_prompt_start();
        self.check_inputs(scheduler);
        self.check_output_places(scheduler);
        self.check_runs(scheduler);
        self.check_stored(scheduler);
        self.check_jobs_told();
        if self.is_stopped {
            assert!(self.jobs.values().all(Job::is_over), "no job outlives the context");
        }
        self.batch = Batch::default();
    }

    /// Everything is over, and every beginning has its end.
    pub fn check_ended(&self) {
        for (id, job) in &self.jobs {
            assert!(job.is_over(), "{id} ended");
        }
        for (id, attempt) in &self.attempts {
            assert!(attempt.phase.is_over(), "{id} ended");
        }
        for (id, set) in &self.sets {
            assert!(set.is_forgotten, "{id} is forgotten");
        }
        assert_eq!(self.open_stages, BTreeSet::new(), "every stage attempt that began has ended");
        for (id, executor) in &self.executors {
            assert!(executor.is_idle(), "{id} has everything back");
        }
    }

    /// Attempts that are not over, as far as effects have told.
    pub fn live_attempts(&self) -> impl Iterator<Item = (AttemptId, &Attempt)> {
        self.attempts
            .iter()
            .filter(move |(_, attempt)| attempt.phase.is_live())
            .map(|(id, attempt)| (*id, attempt))
    }

    pub fn has_live_job(&self) -> bool {
        self.jobs.values().any(|job| !job.is_over())
    }

    pub(super) fn host_of(&self, executor: ExecutorId) -> Option<&Host> {
        self.executors.get(&executor).map(|known| &known.spec.host)
    }
}
