//! Ending jobs, stages and attempts.

use firesteel_scheduler::Cancel;
use firesteel_types::{AttemptId, JobId, StageId};

use super::Context;

impl Context {
    /// Cancels one job. A job that is over or unknown is left alone.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let endless = ctx.range(0..1).flat_map(|_| std::iter::repeat(1)).count_async();
    /// ctx.cancel_job(endless.job_ids()[0], Some("too slow"));
    /// assert!(endless.wait().unwrap_err().to_string().contains("too slow"));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
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
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.set_job_group("doomed", "", false);
    /// ctx.cancel_job_group_and_future_jobs("doomed", None);
    /// assert!(ctx.range(0..9).count().is_err());
    /// ctx.clear_job_group();
    /// assert_eq!(ctx.range(0..9).count()?, 9);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn cancel_job_group_and_future_jobs(&self, group: &str, reason: Option<&str>) {
        self.driver()
            .cancel(Cancel::Group { group: group.to_owned(), future: true }, reason.map(str::to_owned));
    }

    /// Cancels the active jobs that carry a tag; gives their ids.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.add_job_tag("slow")?;
    /// let endless = ctx.range(0..1).flat_map(|_| std::iter::repeat(1)).count_async();
    /// assert_eq!(ctx.cancel_jobs_with_tag("slow", None), endless.job_ids());
    /// assert!(endless.wait().is_err());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn cancel_jobs_with_tag(&self, tag: &str, reason: Option<&str>) -> Vec<JobId> {
        self.driver().cancel_tag(tag, reason.map(str::to_owned))
    }

    /// Cancels every job that uses a stage.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let endless = ctx.range(0..1).flat_map(|_| std::iter::repeat(1)).count_async();
    /// let stage = ctx.status()?.jobs()[0].stage_ids[0];
    /// ctx.cancel_stage(stage, Some("wrong stage"));
    /// assert!(endless.wait().unwrap_err().to_string().contains("wrong stage"));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn cancel_stage(&self, stage: StageId, reason: Option<&str>) {
        self.driver().cancel(Cancel::Stage(stage), reason.map(str::to_owned));
    }

    /// Cancels every job, running or waiting.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let endless = ctx.range(0..1).flat_map(|_| std::iter::repeat(1)).count_async();
    /// ctx.cancel_all_jobs(Some("time to go"));
    /// assert!(endless.wait().unwrap_err().to_string().contains("time to go"));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn cancel_all_jobs(&self, reason: Option<&str>) {
        self.driver().cancel(Cancel::All, reason.map(str::to_owned));
    }

    /// Ends one attempt of a task, which is then tried again; gives whether the attempt was running.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::sync::OnceLock;
    /// # use firesteel::AttemptId;
    /// # let ctx = Context::local(2)?;
    /// static FIRST: OnceLock<AttemptId> = OnceLock::new();
    /// let job = ctx.range_into(0..1, 1).for_each_async(|_| {
    ///     let task = TaskContext::current().unwrap();
    ///     while *FIRST.get_or_init(|| task.attempt_id()) == task.attempt_id() {
    ///         task.check();
    ///     }
    /// });
    /// assert!(ctx.kill_task_attempt(*FIRST.wait(), "start over"));
    /// assert!(job.wait().is_ok(), "the second attempt does not wait");
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn kill_task_attempt(&self, attempt: AttemptId, reason: &str) -> bool {
        self.driver().kill_attempt(attempt, reason)
    }
}
