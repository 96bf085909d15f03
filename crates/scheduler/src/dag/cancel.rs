//! Cancellation of jobs: by id, by stage, by group or tag, or all of them.

use firesteel_types::{JobId, Properties, StageId};

use super::scheduler::DagScheduler;
use crate::{
    effect::{Effect, Ignored, JobError},
    event::Cancel,
    shared::Shared,
};

impl DagScheduler {
    pub(crate) fn on_cancel_requested(&mut self, cx: &mut Shared, what: Cancel, reason: Option<String>) {
        let or = |text: String| reason.clone().unwrap_or(text);
        match what {
            Cancel::Job(job) => self.cancel(cx, job, or("cancelled by the user".to_owned())),
            Cancel::Group { group, future } => {
                let reason = or(format!("job group `{group}` was cancelled"));
                self.cancel_group(cx, &group, &reason, future);
            }
            Cancel::Tag(tag) => {
                let reason = or(format!("jobs with tag `{tag}` were cancelled"));
                self.cancel_tag(cx, tag, &reason);
            }
            Cancel::Stage(stage) => self.cancel_stage(cx, stage, &or(format!("{stage} was cancelled"))),
            Cancel::All => self.cancel_all(cx, &or("all jobs were cancelled".to_owned())),
        }
    }

    fn cancel(&mut self, cx: &mut Shared, job: JobId, reason: String) {
        let is_stuck = |active| !cx.config.can_kill_tasks && !self.busy_stages_of(active).is_empty();
        if self.jobs.get(&job).is_some_and(is_stuck) {
            cx.ignore(Ignored::CannotKill);
        } else {
            self.cancel_at_once(cx, job, reason);
        }
    }

    /// Ends a job whether or not its tasks can be ended too.
    fn cancel_at_once(&mut self, cx: &mut Shared, job: JobId, reason: String) {
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
    fn cancel_group(&mut self, cx: &mut Shared, group: &str, reason: &str, future: bool) {
        if future && !self.cancelled_groups.iter().any(|cancelled| cancelled == group) {
            self.cancelled_groups.push_back(group.to_owned());
            while self.cancelled_groups.len() > cx.config.cancelled_groups_max {
                self.cancelled_groups.pop_front();
            }
        }
        for job in self.jobs_with(|properties| properties.job_group() == Some(group)) {
            self.cancel(cx, job, reason.to_owned());
        }
    }

    /// Ends the jobs with a tag, and tells which.
    fn cancel_tag(&mut self, cx: &mut Shared, tag: String, reason: &str) {
        let jobs = self.jobs_with(|properties| properties.has_tag(&tag));
        for job in &jobs {
            self.cancel(cx, *job, reason.to_owned());
        }
        cx.out.push(Effect::TagCancelled { tag, jobs });
    }

    pub(crate) fn cancel_all(&mut self, cx: &mut Shared, reason: &str) {
        for job in self.jobs_with(|_| true) {
            self.cancel(cx, job, reason.to_owned());
        }
    }

    /// Ends every job that uses a stage.
    fn cancel_stage(&mut self, cx: &mut Shared, stage: StageId, reason: &str) {
        let Some(jobs) = self.stages.get(&stage).map(|stage| stage.jobs.clone()) else {
            return cx.ignore(Ignored::UnknownStage { stage });
        };
        for job in jobs {
            self.cancel(cx, job, reason.to_owned());
        }
    }

    /// Nothing runs any more, and nothing will.
    pub(crate) fn stop(&mut self, cx: &mut Shared) {
        for job in self.jobs_with(|_| true) {
            self.cancel_at_once(cx, job, "the context was shut down".to_owned());
        }
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
