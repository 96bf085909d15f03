//! Stages and their attempts.

use std::{collections::BTreeSet, sync::Arc};

use fixedbitset::FixedBitSet;

use firesteel_types::{
    JobId, ProfileId, RddId, ShuffleDependency, StageAttemptId, StageId, StageInfo, Timestamp,
};

/// A run of RDDs joined by narrow dependencies, computed by one kind of task.
///
/// ```text
///            ┌────────── parents missing ──────────▶ waiting
///  submit ───┤                                          │ last parent complete
///            └─ none missing ─▶ running ◀───────────────┘
///                                │    │
///             all outputs there ─┘    └─ fetch failure ─▶ failed ─(200 ms)─▶ submit
/// ```
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) id: StageId,
    /// Its last RDD.
    pub(crate) rdd: RddId,
    pub(crate) kind: StageKind,
    pub(crate) parents: Vec<StageId>,
    /// The job that made it.
    pub(crate) first_job: JobId,
    /// The active jobs that use it.
    pub(crate) jobs: BTreeSet<JobId>,
    pub(crate) profile: ProfileId,
    pub(crate) barrier: bool,
    /// The number of its next attempt.
    pub(crate) next_attempt: u32,
    /// Its latest attempt, as listeners see it.
    pub(crate) latest: Arc<StageInfo>,
    /// Attempts that failed since the stage last completed.
    pub(crate) failed_attempts: BTreeSet<u32>,
    /// Results of attempts up to this one are worthless: the stage was rolled back.
    pub(crate) ignored_up_to: Option<u32>,
}

/// What a stage's tasks do.
#[derive(Debug)]
pub(crate) enum StageKind {
    /// They write a shuffle.
    ShuffleMap(MapSide),
    /// They give a job its results.
    Result(JobId),
}

/// The map side of a shuffle.
#[derive(Debug)]
pub(crate) struct MapSide {
    pub(crate) dependency: ShuffleDependency,
    /// Whether a second run may give other rows.
    pub(crate) indeterminate: bool,
    /// Partitions whose task has not ended yet in the current attempt, or an older one of which it still counts.
    pub(crate) pending: FixedBitSet,
    /// Jobs that want just this map stage.
    pub(crate) map_stage_jobs: BTreeSet<JobId>,
    /// The last attempt whose changed content rolled back what was read from the old one.
    pub(crate) last_mismatch: Option<u32>,
}

impl Stage {
    /// The latest attempt's number; 0 before the first submission.
    pub(crate) fn latest_attempt(&self) -> u32 {
        self.latest.id.attempt
    }

    /// Begins the next attempt, with `tasks` tasks to run.
    pub(crate) fn begin_attempt(&mut self, tasks: u32) -> StageAttemptId {
        let id = StageAttemptId::new(self.id, self.next_attempt);
        self.next_attempt += 1;
        let latest = Arc::make_mut(&mut self.latest);
        latest.id = id;
        latest.tasks = tasks;
        (latest.submitted, latest.completed, latest.failure) = (None, None, None);
        id
    }

    /// A stage whose outputs exist is passed over for the first time: should it run after all, that is a retry.
    pub(crate) fn skip(&mut self) {
        self.next_attempt = self.next_attempt.max(1);
    }

    /// Ends the latest attempt.
    pub(crate) fn end_attempt(&mut self, now: Timestamp, failure: Option<&str>) {
        let latest = Arc::make_mut(&mut self.latest);
        latest.completed = Some(now);
        latest.failure = failure.map(str::to_owned);
        if failure.is_none() {
            self.failed_attempts.clear();
        }
    }

    /// Results of the attempts so far do not count any more.
    pub(crate) fn ignore_attempts_so_far(&mut self) {
        if self.next_attempt > 0 {
            self.ignored_up_to = Some(self.latest_attempt());
        }
    }

    pub(crate) fn ignores(&self, attempt: u32) -> bool {
        self.ignored_up_to.is_some_and(|ignored| attempt <= ignored)
    }

    /// Whether a rerun of some partitions makes the others worthless, and that is known beforehand. Where content
    /// is compared, only a difference that was seen counts.
    pub(crate) fn reruns_as_a_whole(&self) -> bool {
        self.map_side().is_some_and(|side| side.indeterminate && !side.dependency.roll_back_on_mismatch)
    }

    pub(crate) fn map_side(&self) -> Option<&MapSide> {
        match &self.kind {
            StageKind::ShuffleMap(map_side) => Some(map_side),
            StageKind::Result(_) => None,
        }
    }

    pub(crate) fn map_side_mut(&mut self) -> Option<&mut MapSide> {
        match &mut self.kind {
            StageKind::ShuffleMap(map_side) => Some(map_side),
            StageKind::Result(_) => None,
        }
    }
}
