//! Stages are given up, jobs end, and no trace of them is left.

use std::collections::BTreeSet;

use firesteel_types::{Dependency, JobId, JobOutcome, ListenerEvent, StageId, TaskFailure};

use super::{
    job::ActiveJob,
    scheduler::{DagScheduler, WillRetry},
};
use crate::{
    effect::{Effect, JobError},
    shared::Shared,
    task::TaskOrder,
};

impl DagScheduler {
    /// A stage cannot be completed: every job that needs it fails.
    pub(super) fn abort_stage(
        &mut self,
        cx: &mut Shared,
        id: StageId,
        reason: &str,
        cause: Option<TaskFailure>,
    ) {
        if !self.stages.contains_key(&id) {
            return; // The stage went with its job; no caller is left to tell.
        }
        let jobs: Vec<_> = self.jobs.keys().copied().filter(|job| self.job_needs(cx, *job, id)).collect();
        for job in jobs {
            let error = JobError::StageFailed { stage: id, reason: reason.to_owned(), cause: cause.clone() };
            self.fail_job(cx, job, error);
        }
        if self.stages.contains_key(&id) {
            self.end_unneeded(cx, id, reason);
        }
    }

    /// A stage was given up that is left to jobs which do not need it: what it gives is read nowhere, or is there
    /// through later stages. It ends, and is submitted again should its outputs be wanted after all.
    fn end_unneeded(&mut self, cx: &mut Shared, id: StageId, reason: &str) {
        self.failed.remove(&id);
        if self.running.contains(&id) {
            self.kill_stage(cx, id, reason);
            self.mark_finished(cx, id, Some(reason), WillRetry::No);
        }
        // A stage that waits for it is not needed either, unless its lineage was cut meanwhile. Then it is submitted
        // with those that failed: what ended this one may go on and take away what others need.
        let mut unneeded = vec![id];
        while let Some(parent) = unneeded.pop() {
            for child in self.take_waiting_children(parent) {
                if self.missing_parents(cx, child).contains(&parent) {
                    unneeded.push(child);
                } else {
                    self.failed.insert(child);
                    self.schedule_resubmit(cx);
                }
            }
        }
    }

    /// Whether a job needs a stage: through stages whose outputs are not all there.
    fn job_needs(&self, cx: &Shared, job: JobId, target: StageId) -> bool {
        let job = &self.jobs[&job];
        if job.final_stage == target {
            return true;
        }
        if !job.stages.contains(&target) {
            return false;
        }
        let target_rdd = self.stage(target).rdd;
        let final_rdd = self.stage(job.final_stage).rdd;
        let mut visited = BTreeSet::from([final_rdd]);
        let mut work = vec![final_rdd];
        while let Some(rdd) = work.pop() {
            if rdd == target_rdd {
                return true;
            }
            let Some(node) = self.lineage.get(rdd) else { continue };
            for dependency in &node.dependencies {
                let needed = match dependency {
                    Dependency::Narrow { .. } => true,
                    Dependency::Shuffle(shuffle) => !cx.map_outputs.is_complete(shuffle.shuffle),
                };
                if needed && visited.insert(dependency.parent()) {
                    work.push(dependency.parent());
                }
            }
        }
        false
    }

    /// A job ends without all of its results. Stages that only it needs end too.
    pub(super) fn fail_job(&mut self, cx: &mut Shared, id: JobId, error: JobError) {
        let text = error.to_string();
        self.cancel_independent_stages(cx, id, &text);
        self.remove_job(cx, id);
        cx.out.push(Effect::JobFailed { job: id, error });
        cx.post(ListenerEvent::JobEnd { job: id, time: cx.now, outcome: JobOutcome::Failed(text) });
    }

    /// Ends the running stages that only this job uses.
    pub(super) fn cancel_independent_stages(&mut self, cx: &mut Shared, id: JobId, reason: &str) {
        let Some(job) = self.jobs.get(&id) else { return };
        let interrupt = job.properties.interrupts_on_cancel();
        for stage in self.busy_stages_of(job) {
            cx.to_tasks.push_back(TaskOrder::KillStage { stage, interrupt, reason: reason.to_owned() });
            // The end of an attempt that failed before was told then.
            if self.running.contains(&stage) {
                self.mark_finished(cx, stage, Some(reason), WillRetry::No);
            }
        }
    }

    /// The stages with tasks under way that only this job uses. One that failed may still have some.
    pub(super) fn busy_stages_of(&self, job: &ActiveJob) -> Vec<StageId> {
        let is_busy = |id: &StageId| {
            let stage = self.stage(*id);
            stage.jobs.len() == 1 && (self.running.contains(id) || !stage.failed_attempts.is_empty())
        };
        job.stages.iter().copied().filter(is_busy).collect()
    }

    /// Forgets a job, and the stages that only it used.
    pub(super) fn remove_job(&mut self, cx: &mut Shared, id: JobId) {
        let Some(job) = self.jobs.remove(&id) else { return };
        for stage_id in job.stages {
            let stage = self.stage_mut(stage_id);
            stage.jobs.remove(&id);
            if let Some(map_side) = stage.map_side_mut() {
                map_side.map_stage_jobs.remove(&id);
            }
            if self.stage(stage_id).jobs.is_empty() {
                self.remove_stage(stage_id);
                cx.commits.on_stage_ended(stage_id);
            }
        }
        self.forget_dropped(cx);
    }

    pub(super) fn remove_stage(&mut self, id: StageId) {
        let Some(stage) = self.stages.remove(&id) else { return };
        if let Some(map_side) = stage.map_side() {
            self.map_stages.remove(&map_side.dependency.shuffle);
        }
        self.stop_waiting(id, &stage.parents);
        self.running.remove(&id);
        self.failed.remove(&id);
        if self.failed.is_empty() {
            self.resubmit_at = None;
        }
    }
}
