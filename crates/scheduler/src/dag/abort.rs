//! Stages are given up, jobs end, and no trace of them is left.

use std::collections::BTreeSet;

use firesteel_types::{Dependency, JobId, JobOutcome, ListenerEvent, StageId, TaskFailure};

use super::scheduler::{DagScheduler, WillRetry};
use crate::{
    effect::{Effect, Ignored, JobError},
    shared::Shared,
    task::TaskOrder,
};

impl DagScheduler {
    /// A stage cannot be completed: every job that needs it fails.
    pub(super) fn abort_stage(&mut self, cx: &mut Shared, id: StageId, reason: &str, cause: Option<TaskFailure>) {
        if !self.stages.contains_key(&id) {
            return; // The stage went with its job; there is nobody to tell.
        }
        let jobs: Vec<_> = self.jobs.keys().copied().filter(|job| self.job_needs(cx, *job, id)).collect();
        for job in jobs {
            let error = JobError::StageFailed { stage: id, reason: reason.to_owned(), cause: cause.clone() };
            self.fail_job(cx, job, error);
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
        if !self.cancel_independent_stages(cx, id, &text) {
            return cx.ignore(Ignored::CannotKill);
        }
        self.remove_job(cx, id);
        cx.out.push(Effect::JobFailed { job: id, error });
        cx.post(ListenerEvent::JobEnd { job: id, time: cx.now, outcome: JobOutcome::Failed(text) });
    }

    /// Ends the running stages that only this job uses. Whether the backend could.
    pub(super) fn cancel_independent_stages(&mut self, cx: &mut Shared, id: JobId, reason: &str) -> bool {
        let Some(job) = self.jobs.get(&id) else { return true };
        let interrupt = job.properties.interrupts_on_cancel();
        let is_busy = |stage: &StageId| {
            let of_job_only = self.stage(*stage).jobs.len() == 1;
            // A stage that failed may still have tasks running.
            of_job_only && (self.running.contains(stage) || !self.stage(*stage).failed_attempts.is_empty())
        };
        let busy: Vec<_> = job.stages.iter().copied().filter(is_busy).collect();
        if !busy.is_empty() && !cx.config.can_kill_tasks {
            return false;
        }
        for stage in busy {
            cx.to_tasks.push_back(TaskOrder::KillStage { stage, interrupt, reason: reason.to_owned() });
            self.mark_finished(cx, stage, Some(reason), WillRetry::No);
        }
        true
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
        self.waiting.remove(&id);
        self.running.remove(&id);
        self.failed.remove(&id);
        if self.failed.is_empty() {
            self.resubmit_at = None;
        }
    }
}
