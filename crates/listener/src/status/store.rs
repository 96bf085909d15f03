//! The status store as others see it: [`StatusStore`].

use std::{fmt, sync::Arc};

use firesteel_types::{ExecutorId, JobId, ListenerEvent, StageAttemptId, StageId};
use firesteel_ui::app::{ExecutorData, JobData, JobStatus, StageData, StageStatus};
use parking_lot::Mutex;

use super::state::State;
use crate::Listener;

/// How many things that are over the status store keeps; what is under way is always kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Jobs that ended.
    pub jobs: usize,
    /// Attempts of stages that are over.
    pub stages: usize,
    /// Executors that went away.
    pub removed_executors: usize,
}

impl Default for Retention {
    /// Spark's: 1000 jobs, 1000 stages, 100 executors.
    fn default() -> Self {
        Self { jobs: 1_000, stages: 1_000, removed_executors: 100 }
    }
}

/// Knows what runs and what ran, from the events that it hears.
///
/// A cheap handle: clone it, give one to the [`ListenerBus`](crate::ListenerBus), and ask the other. It
/// knows what its queue has delivered, which is a little behind the scheduler; to see the events of a job that just
/// ended, flush the bus first. Answers are copies in the order of ids; what was forgotten, or never heard of, is
/// absent.
///
/// ```
/// use firesteel::{JobId, ListenerEvent, Properties, Timestamp, listener::{JobStatus, ListenerBus, StatusStore, Wait}};
///
/// let store = StatusStore::default();
/// let bus = ListenerBus::new();
/// bus.add(ListenerBus::APP_STATUS, store.clone())?;
/// bus.start()?;
///
/// let properties = Properties::default().with(Properties::JOB_GROUP, "nightly");
/// let time = Timestamp::from_secs(1);
/// bus.post(vec![ListenerEvent::JobStart { job: JobId(0), time, stages: Vec::new(), properties }]);
/// bus.flush(Wait::Forever)?;
///
/// assert_eq!(store.job_ids_for_group(Some("nightly")), [JobId(0)]);
/// assert_eq!(store.job(JobId(0)).map(|job| job.status), Some(JobStatus::Running));
/// # Ok::<(), firesteel::listener::BusError>(())
/// ```
#[derive(Clone)]
pub struct StatusStore {
    state: Arc<Mutex<State>>,
}

impl StatusStore {
    /// A store that has heard nothing.
    ///
    /// ```
    /// # use firesteel::listener::{Retention, StatusStore};
    /// let store = StatusStore::new(Retention { jobs: 10, ..Retention::default() });
    /// assert!(store.jobs().is_empty());
    /// ```
    pub fn new(retention: Retention) -> Self {
        Self { state: Arc::new(Mutex::new(State::new(retention))) }
    }

    /// A job.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let count = ctx.range(0..9).count_async();
    /// let id = count.job_ids()[0];
    /// count.wait()?;
    /// assert_eq!(ctx.status()?.job(id).unwrap().num_completed_tasks, 2);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn job(&self, id: JobId) -> Option<JobData> {
        self.state.lock().jobs.get(&id).map(|job| job.data.clone())
    }

    /// All jobs.
    ///
    /// ```
    /// # use firesteel::{listener::JobStatus, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// ctx.range(0..9).count()?;
    /// ctx.range(0..9).for_each(|x| assert!(x < 5)).unwrap_err();
    /// let status: Vec<_> = ctx.status()?.jobs().into_iter().map(|job| job.status).collect();
    /// assert_eq!(status, [JobStatus::Succeeded, JobStatus::Failed]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn jobs(&self) -> Vec<JobData> {
        self.jobs_where(|_| true, JobData::clone, |job| job.job_id)
    }

    /// The jobs that are not over.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let endless = ctx.range(0..1).flat_map(|_| std::iter::repeat(1)).count_async();
    /// assert_eq!(ctx.status()?.active_job_ids(), endless.job_ids());
    /// endless.cancel();
    /// assert!(endless.wait().is_err());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn active_job_ids(&self) -> Vec<JobId> {
        self.job_ids_where(|job| job.status == JobStatus::Running)
    }

    /// The jobs of a group, over or not; those of no group for `None`.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.range(0..9).count()?;
    /// ctx.set_job_group("nightly", "", false);
    /// ctx.range(0..9).count()?;
    /// let status = ctx.status()?;
    /// assert!(status.job_ids_for_group(None) < status.job_ids_for_group(Some("nightly")));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn job_ids_for_group(&self, group: Option<&str>) -> Vec<JobId> {
        self.job_ids_where(|job| job.job_group.as_deref() == group)
    }

    /// The jobs that carry a tag, over or not.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.add_job_tag("etl")?;
    /// let count = ctx.range(0..9).count_async();
    /// assert_eq!(ctx.status()?.job_ids_for_tag("etl"), count.job_ids());
    /// assert_eq!(count.wait()?, 9);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn job_ids_for_tag(&self, tag: &str) -> Vec<JobId> {
        self.job_ids_where(|job| job.job_tags.iter().any(|one| one == tag))
    }

    /// The latest attempt of a stage.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.range_into(0..9, 3).count()?;
    /// let status = ctx.status()?;
    /// let stage = status.jobs()[0].stage_ids[0];
    /// assert_eq!(status.stage(stage).unwrap().num_complete_tasks, 3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn stage(&self, id: StageId) -> Option<StageData> {
        let state = self.state.lock();
        let attempts = state.stages.values().map(|stage| &stage.data).filter(|stage| stage.stage_id == id);
        attempts.max_by_key(|stage| stage.attempt_id).cloned()
    }

    /// An attempt of a stage.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.range(0..9).count()?;
    /// let status = ctx.status()?;
    /// let stage = &status.stages()[0];
    /// assert_eq!(status.stage_attempt(stage.id()).as_ref(), Some(stage));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn stage_attempt(&self, id: StageAttemptId) -> Option<StageData> {
        self.state.lock().stages.get(&id).map(|stage| stage.data.clone())
    }

    /// All attempts of all stages, those not submitted yet included.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.range_into(0..9, 3).map(|x| (x % 2, x)).reduce_by_key(|a, b| a + b).count()?;
    /// let tasks: Vec<_> = ctx.status()?.stages().into_iter().map(|stage| stage.num_complete_tasks).collect();
    /// assert_eq!(tasks, [3, 3]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn stages(&self) -> Vec<StageData> {
        self.stages_where(|_| true)
    }

    /// The attempts that were submitted and are not over.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.range(0..9).count()?;
    /// assert!(ctx.status()?.active_stages().is_empty());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn active_stages(&self) -> Vec<StageData> {
        self.stages_where(|stage| stage.status == StageStatus::Active)
    }

    /// An executor.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let status = ctx.status()?;
    /// let first = &status.executors()[0];
    /// assert!(status.executor(first.id).unwrap().is_active);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn executor(&self, id: ExecutorId) -> Option<ExecutorData> {
        self.state.lock().executors.all.get(&id).cloned()
    }

    /// All executors, those that went away included.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let executors = ctx.status()?.executors();
    /// assert_eq!((executors.len(), executors[0].total_cores.whole()), (1, 2));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn executors(&self) -> Vec<ExecutorData> {
        let mut executors: Vec<ExecutorData> = self.state.lock().executors.all.values().cloned().collect();
        executors.sort_unstable_by_key(|executor| executor.id);
        executors
    }

    fn job_ids_where(&self, is_wanted: impl Fn(&JobData) -> bool) -> Vec<JobId> {
        self.jobs_where(is_wanted, |job| job.job_id, |id| *id)
    }

    fn jobs_where<T>(
        &self,
        is_wanted: impl Fn(&JobData) -> bool,
        answer: impl Fn(&JobData) -> T,
        key: impl Fn(&T) -> JobId,
    ) -> Vec<T> {
        let state = self.state.lock();
        let jobs = state.jobs.values().map(|job| &job.data).filter(|job| is_wanted(job));
        let mut answers: Vec<T> = jobs.map(answer).collect();
        drop(state);
        answers.sort_unstable_by_key(key);
        answers
    }

    fn stages_where(&self, is_wanted: impl Fn(&StageData) -> bool) -> Vec<StageData> {
        let state = self.state.lock();
        let stages = state.stages.values().map(|stage| &stage.data).filter(|stage| is_wanted(stage));
        let mut stages: Vec<StageData> = stages.cloned().collect();
        drop(state);
        stages.sort_unstable_by_key(StageData::id);
        stages
    }
}

impl Default for StatusStore {
    fn default() -> Self {
        Self::new(Retention::default())
    }
}

impl Listener for StatusStore {
    fn on_event(&mut self, event: &ListenerEvent) {
        self.state.lock().on_event(event);
    }
}

impl fmt::Debug for StatusStore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        out.debug_struct("StatusStore")
            .field("jobs", &state.jobs.len())
            .field("stages", &state.stages.len())
            .field("executors", &state.executors.all.len())
            .finish_non_exhaustive()
    }
}
