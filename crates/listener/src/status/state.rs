//! What the status store knows, and what each event changes of it: [`State`].
//!
//! The costs of an event do not depend on how many tasks, stages or jobs there were: a task's start or end is a look
//! into three hash tables.

use std::sync::Arc;

use firesteel_types::{
    ExclusionScope, JobId, JobOutcome, ListenerEvent, Properties, StageAttemptId, StageId, StageInfo,
    TaskEndReason, TaskFailure, TaskInfo, TaskMetrics, Timestamp,
};
use firesteel_ui::app::{JobStatus, StageStatus};
use hashbrown::HashMap;

use super::{
    executors::Executors,
    jobs::JobRecord,
    retained::Retained,
    stages::{LiveStage, StageRecord},
    store::Retention,
};

/// How the end of a task is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Completed,
    Failed,
    Killed,
    /// It had succeeded, and its output is lost.
    Undone,
}

impl From<&TaskEndReason> for Ended {
    fn from(reason: &TaskEndReason) -> Self {
        match reason {
            TaskEndReason::Success => Self::Completed,
            TaskEndReason::Resubmitted => Self::Undone,
            TaskEndReason::Failed(TaskFailure::Killed { .. } | TaskFailure::CommitDenied) => Self::Killed,
            TaskEndReason::Failed(_) => Self::Failed,
        }
    }
}

/// Jobs, stages and executors.
pub(super) struct State {
    pub(super) jobs: HashMap<JobId, JobRecord>,
    pub(super) stages: HashMap<StageAttemptId, StageRecord>,
    pub(super) executors: Executors,
    live: HashMap<StageId, LiveStage>,
    ended_jobs: Retained<JobId>,
    settled_stages: Retained<StageAttemptId>,
}

impl State {
    pub(super) fn new(retention: Retention) -> Self {
        Self {
            jobs: HashMap::new(),
            stages: HashMap::new(),
            executors: Executors::new(retention.removed_executors),
            live: HashMap::new(),
            ended_jobs: Retained::new(retention.jobs),
            settled_stages: Retained::new(retention.stages),
        }
    }

    pub(super) fn on_event(&mut self, event: &ListenerEvent) {
        match event {
            ListenerEvent::JobStart { job, time, stages, properties } => {
                self.on_job_start(*job, *time, stages, properties);
            }
            ListenerEvent::JobEnd { job, time, outcome } => self.on_job_end(*job, *time, outcome),
            ListenerEvent::StageSubmitted { info, properties } => self.on_stage_submitted(info, properties),
            ListenerEvent::StageCompleted { info } => self.on_stage_completed(info),
            ListenerEvent::TaskStart { set, task } => self.on_task_start(*set, task),
            ListenerEvent::AccumulatorsUpdated { set, accumulables, .. } => {
                if let Some(stage) = self.stages.get_mut(set) {
                    stage.note_accumulables(accumulables);
                }
            }
            ListenerEvent::TaskEnd { set, task, time, reason, metrics } => {
                self.on_task_end(*set, task, *time, reason.into(), metrics);
            }
            ListenerEvent::ExecutorAdded { executor, host, cpus, profile, time } => {
                self.executors.on_added(*executor, host.clone(), *cpus, *profile, *time);
            }
            ListenerEvent::ExecutorRemoved { executor, time, reason } => {
                self.executors.on_removed(*executor, *time, reason);
            }
            ListenerEvent::ExecutorExcluded { executor, scope: ExclusionScope::Application, .. } => {
                self.executors.set_excluded(*executor, true);
            }
            ListenerEvent::ExecutorUnexcluded { executor, .. } => {
                self.executors.set_excluded(*executor, false);
            }
            ListenerEvent::NodeExcluded { host, scope: ExclusionScope::Application, .. } => {
                self.executors.set_node_excluded(host, true);
            }
            ListenerEvent::NodeUnexcluded { host, .. } => self.executors.set_node_excluded(host, false),
            ListenerEvent::ExecutorExcluded { scope: ExclusionScope::Stage(_), .. }
            | ListenerEvent::NodeExcluded { scope: ExclusionScope::Stage(_), .. }
            | ListenerEvent::TaskGettingResult { .. }
            | ListenerEvent::SpeculativeTaskSubmitted { .. }
            | ListenerEvent::UnschedulableTaskSetAdded { .. }
            | ListenerEvent::UnschedulableTaskSetRemoved { .. } => (),
        }
    }

    fn on_job_start(
        &mut self,
        id: JobId,
        time: Timestamp,
        infos: &[Arc<StageInfo>],
        properties: &Properties,
    ) {
        let mut job = JobRecord::new(id, time, infos, properties);
        for info in infos {
            let live = self.live.entry(info.id.stage).or_insert_with(|| LiveStage::new(info.id));
            live.jobs.push(id);
            match self.stages.get_mut(&info.id) {
                Some(stage) if stage.data.status == StageStatus::Active => {
                    stage.jobs.push(id);
                    job.on_stage_active(info.id.stage, stage.data.num_active_tasks);
                }
                None if info.completed.is_none() => {
                    let stage = StageRecord::new(info, StageStatus::Pending, Vec::new(), properties);
                    self.stages.insert(info.id, stage);
                }
                // Pending for another job already, or over, and perhaps not retained any more.
                Some(_) | None => (),
            }
        }
        self.jobs.insert(id, job);
    }

    fn on_job_end(&mut self, id: JobId, time: Timestamp, outcome: &JobOutcome) {
        let Some(job) = self.jobs.get_mut(&id).filter(|job| job.data.status == JobStatus::Running) else {
            return;
        };
        job.end(time, outcome);
        let mut skipped = Vec::new();
        for stage in job.data.stage_ids.clone() {
            let Some(live) = self.live.get_mut(&stage) else { continue };
            live.jobs.retain(|other| *other != id);
            let latest = live.latest;
            let record = self.stages.get_mut(&latest);
            if live.jobs.is_empty() {
                self.live.remove(&stage);
                skipped.push(stage);
            } else if let Some(record) = record.filter(|record| record.data.status == StageStatus::Active) {
                record.jobs.retain(|other| *other != id);
                job.leave(stage, record.data.num_active_tasks);
            }
        }
        for stage in skipped {
            self.skip_if_pending(stage);
        }
        if let Some(oldest) = self.ended_jobs.push(id) {
            self.jobs.remove(&oldest);
        }
    }

    /// No job can submit the stage any more.
    fn skip_if_pending(&mut self, stage: StageId) {
        // Only a stage that was never submitted is pending, so it is its first attempt.
        let id = StageAttemptId::new(stage, 0);
        let Some(record) = self.stages.get_mut(&id) else { return };
        if record.data.status == StageStatus::Pending {
            record.data.status = StageStatus::Skipped;
            self.settle(id);
        }
    }

    fn on_stage_submitted(&mut self, info: &StageInfo, properties: &Properties) {
        let jobs = match self.live.get_mut(&info.id.stage) {
            Some(live) => {
                live.latest = info.id;
                live.jobs.clone()
            }
            None => Vec::new(),
        };
        for job in &jobs {
            if let Some(job) = self.jobs.get_mut(job) {
                job.on_stage_active(info.id.stage, 0);
            }
        }
        let stage = StageRecord::new(info, StageStatus::Active, jobs, properties);
        self.stages.insert(info.id, stage);
    }

    fn on_stage_completed(&mut self, info: &StageInfo) {
        let Some(stage) = self.stages.get_mut(&info.id) else { return };
        stage.complete(info);
        for job in &stage.jobs {
            if let Some(job) = self.jobs.get_mut(job) {
                job.on_stage_over(info.id.stage, stage.data.status);
            }
        }
        if stage.is_settled() {
            self.settle(info.id);
        }
    }

    fn on_task_start(&mut self, set: StageAttemptId, task: &TaskInfo) {
        self.executors.on_task_started(task.executor);
        let Some(stage) = self.stages.get_mut(&set) else { return };
        stage.on_task_started(task.launched);
        for job in &stage.jobs {
            if let Some(job) = self.jobs.get_mut(job) {
                job.data.num_active_tasks += 1;
            }
        }
    }

    fn on_task_end(
        &mut self,
        set: StageAttemptId,
        task: &TaskInfo,
        time: Timestamp,
        ended: Ended,
        metrics: &TaskMetrics,
    ) {
        self.executors.on_task_ended(task, time, ended, metrics);
        let Some(stage) = self.stages.get_mut(&set) else { return };
        let change = self.live.get_mut(&set.stage).map_or(0, |live| live.note(task.partition, ended));
        let indices = |count: u32| count.saturating_add_signed(change.into());
        stage.on_task_ended(ended, metrics);
        stage.data.num_completed_indices = indices(stage.data.num_completed_indices);
        for job in &stage.jobs {
            if let Some(job) = self.jobs.get_mut(job) {
                job.on_task_ended(ended);
                job.data.num_completed_indices = indices(job.data.num_completed_indices);
            }
        }
        if stage.is_settled() {
            self.settle(set);
        }
    }

    /// Nothing more will happen to the attempt; the oldest such one may have to go.
    fn settle(&mut self, id: StageAttemptId) {
        if let Some(oldest) = self.settled_stages.push(id) {
            self.stages.remove(&oldest);
        }
    }
}
