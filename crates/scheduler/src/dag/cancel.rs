//! Somebody wants jobs to end.

use firesteel_types::{JobId, Properties, StageId};

use super::scheduler::DagScheduler;
use crate::{
    effect::{Effect, Ignored, JobError},
    shared::Shared,
};

impl DagScheduler {
    pub(crate) fn cancel_job(&mut self, cx: &mut Shared, job: JobId, reason: Option<String>) {
        self.cancel(cx, job, reason.unwrap_or_else(|| "cancelled by the user".to_owned()));
    }

    fn cancel(&mut self, cx: &mut Shared, job: JobId, reason: String) {
        let error = JobError::Cancelled { job, reason };
        if self.deferred.remove(&job).is_some() {
            cx.out.push(Effect::JobFailed { job, error });
            self.forget_dropped(cx);
        } else if self.jobs.contains_key(&job) {
            self.fail_job(cx, job, error);
        } else {
            cx.ignore(Ignored::UnknownJob { job });
        }
    }

    /// Ends the jobs of a group, and those to come if `future`.
    pub(crate) fn cancel_group(&mut self, cx: &mut Shared, group: &str, reason: Option<String>, future: bool) {
        if future && !self.cancelled_groups.iter().any(|cancelled| cancelled == group) {
            self.cancelled_groups.push_back(group.to_owned());
            while self.cancelled_groups.len() > cx.config.cancelled_groups_max {
                self.cancelled_groups.pop_front();
            }
        }
        let reason = reason.unwrap_or_else(|| format!("job group `{group}` was cancelled"));
        for job in self.jobs_with(|properties| properties.job_group() == Some(group)) {
            self.cancel(cx, job, reason.clone());
        }
    }

    /// Ends the jobs with a tag, and tells which.
    pub(crate) fn cancel_tag(&mut self, cx: &mut Shared, tag: String, reason: Option<String>) {
        let reason = reason.unwrap_or_else(|| format!("jobs with tag `{tag}` were cancelled"));
        let jobs = self.jobs_with(|properties| properties.has_tag(&tag));
        for job in &jobs {
            self.cancel(cx, *job, reason.clone());
        }
        cx.out.push(Effect::TagCancelled { tag, jobs });
    }

    pub(crate) fn cancel_all(&mut self, cx: &mut Shared, reason: &str) {
        for job in self.jobs_with(|_| true) {
            self.cancel(cx, job, reason.to_owned());
        }
    }

    /// Ends every job that uses a stage.
    pub(crate) fn cancel_stage(&mut self, cx: &mut Shared, stage: StageId, reason: Option<String>) {
        let Some(jobs) = self.stages.get(&stage).map(|stage| stage.jobs.clone()) else {
            return cx.ignore(Ignored::UnknownStage { stage });
        };
        let reason = reason.unwrap_or_else(|| format!("{stage} was cancelled"));
        for job in jobs {
            self.cancel(cx, job, reason.clone());
        }
    }

    /// Nothing runs any more, and nothing will.
    pub(crate) fn stop(&mut self, cx: &mut Shared) {
        self.cancel_all(cx, "the context was shut down");
        self.is_stopped = true;
    }

    /// The caller's code for a result failed: so does the job.
    pub(crate) fn on_result_handler_failed(&mut self, cx: &mut Shared, job: JobId, message: String) {
        if self.jobs.contains_key(&job) {
            self.fail_job(cx, job, JobError::ResultHandler { message });
        } else {
            cx.ignore(Ignored::UnknownJob { job });
        }
    }

    /// Active jobs and those that wait for slots, by their properties.
    fn jobs_with(&self, matches: impl Fn(&Properties) -> bool) -> Vec<JobId> {
        let active = self.jobs.values().map(|job| (job.id, &job.properties));
        let deferred = self.deferred.values().map(|job| (job.spec.job, &job.spec.properties));
        active.chain(deferred).filter(|(_, properties)| matches(properties)).map(|(id, _)| id).collect()
    }
}
