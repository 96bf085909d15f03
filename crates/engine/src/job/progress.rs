//! How far an action is.

use firesteel_types::JobId;

use crate::driver::Driver;

/// Whether an action runs, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// One of its jobs runs or waits.
    Running,
    /// All of its jobs succeeded.
    Succeeded,
    /// It could not begin, or one of its jobs failed or was cancelled.
    Failed,
}

/// How far an action is: the tasks that give results, of all its jobs so far. Tasks that shuffle are not counted.
///
/// ```
/// use firesteel::prelude::*;
///
/// let ctx = Context::local(2)?;
/// let handle = ctx.range_into(0..100, 8).count_async();
/// let progress = handle.progress();
/// assert_eq!(progress.tasks, 8);
/// assert!(progress.tasks_done <= 8);
/// # Ok::<(), firesteel::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobProgress {
    /// Jobs submitted so far. An action such as `take` may submit more.
    pub jobs: u32,
    /// The tasks of those jobs that give results.
    pub tasks: u32,
    /// Those of them that are done.
    pub tasks_done: u32,
    /// Stages that run right now.
    pub running_stages: u32,
}

/// A job of an action.
#[derive(Clone, Copy)]
pub(super) struct RunJob {
    pub(super) job: JobId,
    /// How many results it gives.
    pub(super) tasks: u32,
    /// Whether it has given all of them.
    pub(super) succeeded: bool,
}

/// Asks the scheduler about the job that runs.
pub(super) fn progress_of(driver: Option<&Driver>, jobs: &[RunJob]) -> JobProgress {
    let mut progress = JobProgress::default();
    for run in jobs {
        progress.jobs += 1;
        progress.tasks += run.tasks;
        if run.succeeded {
            progress.tasks_done += run.tasks;
        } else if let Some(status) =
            driver.and_then(|driver| driver.query(|scheduler| scheduler.job_status(run.job)))
        {
            progress.tasks_done += status.delivered;
            progress.running_stages += status.running_stages.len() as u32;
        }
    }
    progress
}
