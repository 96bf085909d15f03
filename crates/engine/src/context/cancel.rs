//! Ending jobs, stages and attempts.

use firesteel_scheduler::Cancel;
use firesteel_types::{AttemptId, JobId, StageId};

use super::Context;

impl Context {
    /// Cancels one job. A job that is over or unknown is left alone.
    pub fn cancel_job(&self, job: JobId, reason: Option<&str>) {
        self.driver().cancel(Cancel::Job(job), reason.map(str::to_owned));
    }

    /// Cancels the active jobs of a group.
    ///
    /// ```
    /// use firesteel::prelude::*;
    ///
    /// let ctx = Context::local(2)?;
    /// ctx.set_job_group("slow", "runs for ever", false);
    /// let endless = ctx.range(0..1_u64).flat_map(|_| std::iter::repeat(1)).count_async();
    /// ctx.cancel_job_group("slow", Some("not wanted any more"));
    /// assert!(endless.wait().unwrap_err().to_string().contains("not wanted any more"));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn cancel_job_group(&self, group: &str, reason: Option<&str>) {
        self.driver()
            .cancel(Cancel::Group { group: group.to_owned(), future: false }, reason.map(str::to_owned));
    }

    /// Cancels the active jobs of a group, and those that it submits later.
    pub fn cancel_job_group_and_future_jobs(&self, group: &str, reason: Option<&str>) {
        self.driver()
            .cancel(Cancel::Group { group: group.to_owned(), future: true }, reason.map(str::to_owned));
    }

    /// Cancels the active jobs that carry a tag; gives their ids.
    pub fn cancel_jobs_with_tag(&self, tag: &str, reason: Option<&str>) -> Vec<JobId> {
        self.driver().cancel_tag(tag, reason.map(str::to_owned))
    }

    /// Cancels every job that uses a stage.
    pub fn cancel_stage(&self, stage: StageId, reason: Option<&str>) {
        self.driver().cancel(Cancel::Stage(stage), reason.map(str::to_owned));
    }

    /// Cancels every job, running or waiting.
    pub fn cancel_all_jobs(&self, reason: Option<&str>) {
        self.driver().cancel(Cancel::All, reason.map(str::to_owned));
    }

    /// Ends one attempt of a task, which is then tried again; gives whether the attempt was running.
    pub fn kill_task_attempt(&self, attempt: AttemptId, reason: &str) -> bool {
        self.driver().kill_attempt(attempt, reason)
    }
}
