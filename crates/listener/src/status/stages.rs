//! Stages of the status store: [`StageRecord`] for each attempt, [`LiveStage`] for what the attempts share.

use firesteel_types::{
    Accumulable, JobId, PartitionId, Properties, StageAttemptId, StageInfo, TaskMetrics, Timestamp,
};
use firesteel_ui::app::{AccumulableData, StageData, StageStatus};
use fixedbitset::FixedBitSet;

use super::state::Ended;

/// The pool of stages whose job names none.
const DEFAULT_POOL: &str = "default";

/// One attempt of a stage.
pub(super) struct StageRecord {
    pub(super) data: StageData,
    /// The jobs that its tasks count for.
    pub(super) jobs: Vec<JobId>,
}

/// A stage that some running job has.
pub(super) struct LiveStage {
    /// The running jobs that have it.
    pub(super) jobs: Vec<JobId>,
    /// The attempt under which jobs know it.
    pub(super) latest: StageAttemptId,
    /// Partitions that some attempt has completed.
    done: FixedBitSet,
}

impl StageRecord {
    pub(super) fn new(
        info: &StageInfo,
        status: StageStatus,
        jobs: Vec<JobId>,
        properties: &Properties,
    ) -> Self {
        let pool = properties.get(Properties::POOL).unwrap_or(DEFAULT_POOL);
        let data = StageData {
            status,
            stage_id: info.id.stage,
            attempt_id: info.id.attempt,
            num_tasks: info.tasks,
            num_active_tasks: 0,
            num_complete_tasks: 0,
            num_failed_tasks: 0,
            num_killed_tasks: 0,
            num_completed_indices: 0,
            submission_time: info.submitted,
            first_task_launched_time: None,
            completion_time: info.completed,
            failure_reason: info.failure.clone(),
            metrics: TaskMetrics::default(),
            name: info.name.clone(),
            description: properties.get(Properties::DESCRIPTION).map(str::to_owned),
            scheduling_pool: pool.to_owned(),
            rdd_ids: info.rdds.clone(),
            accumulator_updates: Vec::new(),
            resource_profile_id: info.profile,
        };
        Self { data, jobs }
    }

    /// The attempt is over. One that was never given any task was skipped, as Spark has it.
    pub(super) fn complete(&mut self, info: &StageInfo) {
        self.data.submission_time = info.submitted;
        self.data.completion_time = info.completed;
        self.data.failure_reason.clone_from(&info.failure);
        self.data.status = match (&info.failure, info.submitted) {
            (Some(_), _) => StageStatus::Failed,
            (None, Some(_)) => StageStatus::Complete,
            (None, None) => StageStatus::Skipped,
        };
    }

    pub(super) fn on_task_started(&mut self, launched: Timestamp) {
        self.data.num_active_tasks += 1;
        self.data.first_task_launched_time.get_or_insert(launched);
    }

    pub(super) fn on_task_ended(&mut self, ended: Ended, metrics: &TaskMetrics) {
        let data = &mut self.data;
        match ended {
            Ended::Completed => data.num_complete_tasks += 1,
            Ended::Failed => data.num_failed_tasks += 1,
            Ended::Killed => data.num_killed_tasks += 1,
            Ended::Undone => {
                data.num_complete_tasks = data.num_complete_tasks.saturating_sub(1);
                data.num_failed_tasks += 1;
                return;
            }
        }
        data.num_active_tasks = data.num_active_tasks.saturating_sub(1);
        add(&mut data.metrics, metrics);
    }

    pub(super) fn note_accumulables(&mut self, added: &[Accumulable]) {
        let seen = &mut self.data.accumulator_updates;
        for Accumulable { id, name, value, .. } in added {
            match seen.binary_search_by_key(id, |other| other.id) {
                Ok(place) => seen[place].value.clone_from(value),
                Err(place) => {
                    let (name, value) = (name.clone(), value.clone());
                    seen.insert(place, AccumulableData { id: *id, name, value });
                }
            }
        }
    }

    /// Whether nothing will change any more.
    pub(super) fn is_settled(&self) -> bool {
        self.data.status.is_over() && self.data.num_active_tasks == 0
    }
}

impl LiveStage {
    pub(super) fn new(latest: StageAttemptId) -> Self {
        Self { jobs: Vec::new(), latest, done: FixedBitSet::new() }
    }

    /// Notes how a task of any attempt ended; returns by how much that changes the number of completed partitions.
    pub(super) fn note(&mut self, partition: PartitionId, ended: Ended) -> i8 {
        let place = partition.index();
        match ended {
            Ended::Completed if !self.done.contains(place) => {
                self.done.grow_and_insert(place);
                1
            }
            Ended::Undone if self.done.contains(place) => {
                self.done.set(place, false);
                -1
            }
            Ended::Completed | Ended::Undone | Ended::Failed | Ended::Killed => 0,
        }
    }
}

fn add(sums: &mut TaskMetrics, one: &TaskMetrics) {
    // Named one by one, so that a new figure is not forgotten.
    let TaskMetrics {
        run_time_us,
        input_records,
        input_bytes,
        shuffle_records_read,
        shuffle_bytes_read,
        shuffle_records_written,
        shuffle_bytes_written,
        peak_memory_bytes,
    } = one;
    sums.run_time_us += run_time_us;
    sums.input_records += input_records;
    sums.input_bytes += input_bytes;
    sums.shuffle_records_read += shuffle_records_read;
    sums.shuffle_bytes_read += shuffle_bytes_read;
    sums.shuffle_records_written += shuffle_records_written;
    sums.shuffle_bytes_written += shuffle_bytes_written;
    sums.peak_memory_bytes = sums.peak_memory_bytes.max(*peak_memory_bytes);
}
