//! Jobs: each ends once, and a successful one has delivered everything once.

use std::{
    collections::{BTreeSet, btree_map::Entry},
    sync::Arc,
};

use firesteel_scheduler::{JobError, JobRejection, JobSpec, Partitions, StageTaskKind};
use firesteel_types::{AttemptId, Dependency, JobId, JobOutcome, PartitionId, ShuffleId, StageInfo};

use super::Judge;

/// One job.
#[derive(Debug)]
pub struct Job {
    target: Target,
    delivered: BTreeSet<u32>,
    /// Positions whose accumulator updates were merged.
    pub(super) merged: BTreeSet<u32>,
    is_started: bool,
    /// How it ended, as its caller was told.
    told: Option<End>,
    /// How it ended, as the listeners were told.
    posted: Option<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Succeeded,
    Failed,
}

#[derive(Debug)]
enum Target {
    Results { partitions: Vec<PartitionId> },
    MapStage { reducers: Option<u32>, has_statistics: bool },
}

impl Job {
    fn new(target: Target) -> Self {
        Self {
            target,
            delivered: BTreeSet::new(),
            merged: BTreeSet::new(),
            is_started: false,
            told: None,
            posted: None,
        }
    }

    pub fn is_over(&self) -> bool {
        self.told.is_some()
    }

    pub(super) fn partition(&self, position: u32) -> PartitionId {
        match &self.target {
            Target::Results { partitions } => partitions[position as usize],
            Target::MapStage { .. } => panic!("a map-stage job has no positions"),
        }
    }
}

impl Judge {
    pub(super) fn hear_job(&mut self, spec: &JobSpec) {
        let partitions = match &spec.partitions {
            Partitions::All => {
                let count = self.rdds.get(&spec.rdd).map_or(0, |node| node.partitions);
                (0..count).map(PartitionId).collect()
            }
            Partitions::Listed(list) => list.to_vec(),
        };
        self.add_job(spec.job, Target::Results { partitions });
    }

    pub(super) fn hear_map_stage_job(&mut self, job: JobId, shuffle: ShuffleId) {
        let mut dependencies = self.rdds.values().flat_map(|node| &node.dependencies);
        let reducers = dependencies.find_map(|dependency| match dependency {
            Dependency::Shuffle(found) if found.shuffle == shuffle => Some(found.reducers),
            Dependency::Shuffle(_) | Dependency::Narrow { .. } => None,
        });
        self.add_job(job, Target::MapStage { reducers, has_statistics: false });
    }

    fn add_job(&mut self, id: JobId, target: Target) {
        match self.jobs.entry(id) {
            Entry::Occupied(_) => self.batch.duplicates.push(id),
            Entry::Vacant(free) => drop(free.insert(Job::new(target))),
        }
    }

    /// The positions of a job that have no result.
    pub(super) fn open_positions(&self, job: JobId) -> Vec<u32> {
        let job = &self.jobs[&job];
        let Target::Results { partitions } = &job.target else { panic!("result stages are of result jobs") };
        (0..partitions.len() as u32).filter(|position| !job.delivered.contains(position)).collect()
    }

    fn live_job(&mut self, id: JobId) -> &mut Job {
        let job = self.jobs.get_mut(&id).unwrap_or_else(|| panic!("{id} was submitted"));
        assert!(!job.is_over(), "{id} is not over yet");
        job
    }

    pub(super) fn see_job_start(&mut self, id: JobId, stages: &[Arc<StageInfo>]) {
        let job = self.live_job(id);
        assert!(!std::mem::replace(&mut job.is_started, true), "{id} starts once");
        for stage in stages {
            self.stage_jobs.entry(stage.id.stage).or_default().insert(id);
        }
    }

    pub(super) fn see_result(&mut self, id: JobId, position: u32, attempt: AttemptId) {
        let job = self.live_job(id);
        assert!(job.delivered.insert(position), "{id} gets position {position} once");
        assert!(self.batch.succeeded.contains(&attempt), "{attempt} has just finished");
        let task = &self.attempts[&attempt].task;
        let set = &self.sets[&task.set];
        assert_eq!(set.launch.kind, StageTaskKind::Result(id), "{attempt} works for {id}");
        assert_eq!(set.positions[task.index.index()], position, "{attempt} computes position {position}");
    }

    pub(super) fn see_statistics(&mut self, id: JobId, bytes: &[u64]) {
        let job = self.live_job(id);
        let Target::MapStage { reducers, has_statistics } = &mut job.target else {
            panic!("{id} is no map-stage job")
        };
        assert!(!std::mem::replace(has_statistics, true), "{id} gets its statistics once");
        assert_eq!(Some(bytes.len() as u32), *reducers, "{id} hears of every reducer");
    }

    pub(super) fn see_success(&mut self, id: JobId) {
        let job = self.live_job(id);
        match &job.target {
            Target::Results { partitions } => {
                assert_eq!(job.delivered.len(), partitions.len(), "{id} has every result");
            }
            Target::MapStage { has_statistics, .. } => assert!(has_statistics, "{id} has its statistics"),
        }
        job.told = Some(End::Succeeded);
    }

    pub(super) fn see_failure(&mut self, id: JobId, error: &JobError) {
        let duplicates = &mut self.batch.duplicates;
        if let Some(at) = duplicates.iter().position(|duplicate| *duplicate == id)
            && !matches!(error, JobError::StageFailed { .. })
        {
            // The answer to the second submission. The first goes on.
            duplicates.swap_remove(at);
            return;
        }
        let is_duplicate = matches!(error, JobError::Rejected(JobRejection::DuplicateJob { .. }));
        assert!(!is_duplicate, "{id} was submitted once");
        self.live_job(id).told = Some(End::Failed);
    }

    pub(super) fn see_job_end(&mut self, id: JobId, outcome: &JobOutcome) {
        let job = self.jobs.get_mut(&id).unwrap_or_else(|| panic!("{id} was submitted"));
        assert!(job.is_started, "{id} starts before it ends");
        assert_eq!(job.posted, None, "the listeners hear once that {id} ended");
        job.posted = Some(match outcome {
            JobOutcome::Succeeded => End::Succeeded,
            JobOutcome::Failed(_) => End::Failed,
        });
    }

    /// Callers and listeners are told the same, and in the same call.
    pub(super) fn check_jobs_told(&self) {
        for (id, job) in &self.jobs {
            if job.is_started {
                assert_eq!(job.told, job.posted, "{id} ended the same way for its caller and the listeners");
            }
        }
        assert!(self.batch.duplicates.is_empty(), "{:?} was answered", self.batch.duplicates);
    }
}
