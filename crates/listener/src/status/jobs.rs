//! One job of the status store: [`JobRecord`].

use std::sync::Arc;

use firesteel_types::{JobId, JobOutcome, Properties, StageId, StageInfo, Timestamp};
use firesteel_ui::app::{JobData, JobStatus, StageStatus};

use super::state::Ended;

/// What is told of a job, and what its stages mean to it.
pub(super) struct JobRecord {
    pub(super) data: JobData,
    /// In the order of `data.stage_ids`.
    stages: Vec<JobStage>,
}

/// One stage, seen from one job.
struct JobStage {
    /// How many tasks of it are in the job's total.
    counted_tasks: u32,
    standing: Standing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Not submitted since the job began.
    Pending,
    Active,
    Completed,
    Failed,
    Skipped,
    /// It runs on for other jobs, and this one is over.
    Left,
}

impl JobRecord {
    pub(super) fn new(
        job_id: JobId,
        submission_time: Timestamp,
        infos: &[Arc<StageInfo>],
        properties: &Properties,
    ) -> Self {
        let mut infos: Vec<&StageInfo> = infos.iter().map(Arc::as_ref).collect();
        infos.sort_unstable_by_key(|info| info.id);
        let stages: Vec<JobStage> = infos.iter().map(|info| JobStage::new(info)).collect();
        let tags = properties.get(Properties::TAGS).unwrap_or_default();
        let data = JobData {
            job_id,
            name: infos.last().map_or_else(|| Arc::from(""), |last| last.name.clone()),
            description: properties.get(Properties::DESCRIPTION).map(str::to_owned),
            submission_time,
            completion_time: None,
            stage_ids: infos.iter().map(|info| info.id.stage).collect(),
            job_group: properties.job_group().map(str::to_owned),
            job_tags: tags.split(',').filter(|tag| !tag.is_empty()).map(str::to_owned).collect(),
            status: JobStatus::Running,
            failure_reason: None,
            num_tasks: stages.iter().map(|stage| stage.counted_tasks).sum(),
            num_active_tasks: 0,
            num_completed_tasks: 0,
            num_skipped_tasks: 0,
            num_failed_tasks: 0,
            num_killed_tasks: 0,
            num_completed_indices: 0,
            num_active_stages: 0,
            num_completed_stages: 0,
            num_skipped_stages: 0,
            num_failed_stages: 0,
        };
        Self { data, stages }
    }

    /// A stage of the job begins an attempt, or was at one already when the job began, with tasks running.
    pub(super) fn on_stage_active(&mut self, id: StageId, active_tasks: u32) {
        let Some((data, stage)) = self.stage_mut(id) else { return };
        match stage.standing {
            Standing::Active => return,
            Standing::Completed => data.num_completed_stages -= 1,
            Standing::Skipped => {
                data.num_skipped_stages -= 1;
                data.num_skipped_tasks -= stage.counted_tasks;
            }
            Standing::Pending | Standing::Failed | Standing::Left => (),
        }
        stage.standing = Standing::Active;
        data.num_active_stages += 1;
        data.num_active_tasks += active_tasks;
    }

    /// An attempt of a stage of the job is over.
    pub(super) fn on_stage_over(&mut self, id: StageId, status: StageStatus) {
        let Some((data, stage)) = self.stage_mut(id) else { return };
        if stage.standing != Standing::Active {
            return;
        }
        match status {
            StageStatus::Pending | StageStatus::Active => return,
            StageStatus::Complete => {
                data.num_completed_stages += 1;
                stage.standing = Standing::Completed;
            }
            StageStatus::Failed => {
                data.num_failed_stages += 1;
                stage.standing = Standing::Failed;
            }
            StageStatus::Skipped => stage.skip(data),
        }
        data.num_active_stages -= 1;
    }

    /// The job is over. As in Spark, a stage that was never submitted counts as skipped, also when the job failed
    /// before it came to it.
    pub(super) fn end(&mut self, time: Timestamp, outcome: &JobOutcome) {
        self.data.completion_time = Some(time);
        match outcome {
            JobOutcome::Succeeded => self.data.status = JobStatus::Succeeded,
            JobOutcome::Failed(reason) => {
                self.data.status = JobStatus::Failed;
                self.data.failure_reason = Some(reason.clone());
            }
        }
        for stage in self.stages.iter_mut().filter(|stage| stage.standing == Standing::Pending) {
            stage.skip(&mut self.data);
        }
    }

    /// The job is over, and a stage goes on for others, with tasks running that are theirs now.
    pub(super) fn leave(&mut self, id: StageId, active_tasks: u32) {
        let Some((data, stage)) = self.stage_mut(id) else { return };
        if stage.standing == Standing::Active {
            stage.standing = Standing::Left;
            data.num_active_stages -= 1;
            data.num_active_tasks = data.num_active_tasks.saturating_sub(active_tasks);
        }
    }

    pub(super) fn on_task_ended(&mut self, ended: Ended) {
        let data = &mut self.data;
        match ended {
            Ended::Completed => data.num_completed_tasks += 1,
            Ended::Failed => data.num_failed_tasks += 1,
            Ended::Killed => data.num_killed_tasks += 1,
            Ended::Undone => {
                // The job may have begun after the success.
                data.num_completed_tasks = data.num_completed_tasks.saturating_sub(1);
                data.num_failed_tasks += 1;
                return;
            }
        }
        data.num_active_tasks = data.num_active_tasks.saturating_sub(1);
    }

    fn stage_mut(&mut self, id: StageId) -> Option<(&mut JobData, &mut JobStage)> {
        let place = self.data.stage_ids.binary_search(&id).ok()?;
        Some((&mut self.data, &mut self.stages[place]))
    }
}

impl JobStage {
    fn new(info: &StageInfo) -> Self {
        let is_missing = info.completed.is_none() || info.failure.is_some();
        Self { counted_tasks: if is_missing { info.tasks } else { 0 }, standing: Standing::Pending }
    }

    fn skip(&mut self, data: &mut JobData) {
        self.standing = Standing::Skipped;
        data.num_skipped_stages += 1;
        data.num_skipped_tasks += self.counted_tasks;
    }
}
