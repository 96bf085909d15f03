//! What can be asked of the scheduler without changing it.

use std::sync::Arc;

use firesteel_types::{
    AttemptId, Cpus, Determinism, ExecutorId, Host, JobId, PartitionId, ProfileId, RddId, RddNode,
    ResourceName, Share, ShuffleId, StageAttemptId, StageId, Timestamp,
};

use crate::{
    dag::{Answers, JobTarget},
    map_output::MapOutputTracker,
    pool::PoolView,
    scheduler::Scheduler,
};

/// How far a job is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobStatus {
    /// The job.
    pub job: JobId,
    /// When it was submitted.
    pub submitted: Timestamp,
    /// Results it wants, if it is not a map-stage job.
    pub results: Option<u32>,
    /// Results handed out so far.
    pub delivered: u32,
    /// Every stage it can reach.
    pub stages: Vec<StageId>,
    /// Those of them that run.
    pub running_stages: Vec<StageId>,
}

/// How far a stage is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageStatus {
    /// Its latest attempt.
    pub attempt: StageAttemptId,
    /// Its last RDD.
    pub rdd: RddId,
    /// Whether it waits for parents.
    pub is_waiting: bool,
    /// Whether it has a task set under way.
    pub is_running: bool,
    /// Whether it is to be submitted again after a failure.
    pub is_failed: bool,
    /// Tasks of the latest attempt that wait.
    pub waiting_tasks: u32,
    /// Attempts of all its task sets that run.
    pub running_tasks: u32,
    /// Attempts of all its task sets that were sent ahead of a free slot and have not begun.
    pub ahead_tasks: u32,
}

/// One executor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutorStatus {
    /// The executor.
    pub executor: ExecutorId,
    /// The host it runs on.
    pub host: Host,
    /// Its cores.
    pub cpus: Cpus,
    /// Cores that are free.
    pub cpus_free: Cpus,
    /// Addresses of its custom resources, each with the share that is free.
    pub addresses: Vec<(ResourceName, Arc<str>, Share)>,
    /// What runs there.
    pub running: Vec<AttemptId>,
    /// What was sent there ahead of a free slot, in the order in which it begins.
    pub ahead: Vec<AttemptId>,
    /// Whether it may be offered.
    pub is_active: bool,
    /// When it was asked for, if it was.
    pub requested: Option<Timestamp>,
}

/// Whether enough executors are there for the first job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Yes, or the wait is over.
    Ready,
    /// Not before this time, unless more executors register.
    WaitUntil(Timestamp),
    /// The context was stopped meanwhile.
    Stopped,
}

impl Scheduler {
    /// How far a job is, if it is active.
    pub fn job_status(&self, job: JobId) -> Option<JobStatus> {
        let active = self.dag.jobs.get(&job)?;
        let (results, delivered) = match &active.target {
            JobTarget::Results(results) => (Some(results.len()), results.len() - results.left()),
            JobTarget::MapStage => (None, 0),
        };
        Some(JobStatus {
            job,
            submitted: active.submitted,
            results,
            delivered,
            stages: active.stages.iter().copied().collect(),
            running_stages: active
                .stages
                .iter()
                .copied()
                .filter(|id| self.dag.running.contains(id))
                .collect(),
        })
    }

    /// The active jobs, oldest first.
    pub fn jobs(&self) -> impl Iterator<Item = JobId> {
        self.dag.jobs.keys().copied()
    }

    /// How far a stage is, if an active job uses it.
    pub fn stage_status(&self, stage: StageId) -> Option<StageStatus> {
        let active = self.dag.stages.get(&stage)?;
        let sets: Vec<_> = self.tasks.sets_of(stage).into_iter().map(|key| self.tasks.set(key)).collect();
        let latest = sets.iter().find(|set| set.set.id == active.latest.id && !set.is_zombie);
        Some(StageStatus {
            attempt: active.latest.id,
            rdd: active.rdd,
            is_waiting: self.dag.waiting.contains(&stage),
            is_running: self.dag.running.contains(&stage),
            is_failed: self.dag.failed.contains(&stage),
            waiting_tasks: latest.map_or(0, |set| set.waiting()),
            running_tasks: sets.iter().map(|set| set.running().count() as u32 - set.ahead).sum(),
            ahead_tasks: sets.iter().map(|set| set.ahead).sum(),
        })
    }

    /// One executor, if it is registered.
    pub fn executor_status(&self, executor: ExecutorId) -> Option<ExecutorStatus> {
        let known = self.cx.executors.get(executor)?;
        Some(ExecutorStatus {
            executor,
            host: self.cx.executors.hosts.name(known.host).clone(),
            cpus: known.resources.cpus_total(),
            cpus_free: if known.launched { known.resources.cpus_free() } else { Cpus::ZERO },
            addresses: known
                .resources
                .addresses()
                .map(|(resource, address, free)| (resource.clone(), address.clone(), free))
                .collect(),
            running: known.running.clone(),
            ahead: known.ahead.iter().map(|sent| sent.attempt).collect(),
            is_active: known.is_active(),
            requested: known.requested,
        })
    }

    /// The registered executors, in the order of their ids.
    pub fn executors(&self) -> Vec<ExecutorId> {
        let mut ids: Vec<_> = self.cx.executors.iter().map(|(id, _)| id).collect();
        ids.sort_unstable();
        ids
    }

    /// The pools, with what runs in them.
    pub fn pools(&self) -> impl Iterator<Item = PoolView<'_>> {
        self.tasks.pools.pools()
    }

    /// What a second run of a registered RDD may give.
    pub fn determinism(&self, rdd: RddId) -> Option<Determinism> {
        let lineage = &self.dag.lineage;
        lineage.get(rdd).map(|_| lineage.determinism(rdd, &mut Answers::default()))
    }

    /// Where map outputs are.
    pub fn map_outputs(&self) -> &MapOutputTracker {
        &self.cx.map_outputs
    }

    /// Whether the map side of a shuffle is complete.
    pub fn is_shuffle_complete(&self, shuffle: ShuffleId) -> bool {
        self.cx.map_outputs.is_complete(shuffle)
    }

    /// Executors that hold a cached partition.
    pub fn cached_at(&self, rdd: RddId, partition: PartitionId) -> &[ExecutorId] {
        self.cx.blocks.holders(rdd, partition)
    }

    /// The generation under which partitions of an RDD are stored and looked up.
    pub fn generation(&self, rdd: RddId) -> u32 {
        self.cx.blocks.generation(rdd)
    }

    /// The RDDs of which partitions are cached, in the order of ids, with the executors that hold each partition; what
    /// is beyond the end of a list is held by no executor.
    pub fn cached_rdds(&self) -> impl Iterator<Item = (&RddNode, &[Vec<ExecutorId>])> {
        let rdds = self.cx.blocks.rdds().into_iter();
        rdds.filter_map(|(id, holders)| Some((self.dag.lineage.get(id)?, holders)))
    }

    /// Tasks of a profile that could run at once on all active executors, busy or free.
    pub fn max_concurrent_tasks(&self, profile: ProfileId) -> u32 {
        self.cx.executors.slots_in_all(profile, &self.cx.profiles)
    }

    /// How many partitions an RDD gets by default.
    pub fn default_parallelism(&self) -> u32 {
        let cores = self.cx.executors.total_cpus().whole();
        let least = if self.cx.config.local { 1 } else { 2 };
        self.cx.config.executors.default_parallelism.unwrap_or_else(|| cores.max(least))
    }

    /// The highest executor id ever registered.
    pub fn highest_executor_id(&self) -> Option<ExecutorId> {
        self.cx.backend.highest_id()
    }

    /// Whether the first job may start, for a context that was started at `started`.
    pub fn readiness(&self, now: Timestamp, started: Timestamp) -> Readiness {
        if self.is_stopped {
            return Readiness::Stopped;
        }
        let config = &self.cx.config.executors;
        let expected = Cpus::cores(config.cores_max.unwrap_or(0)).as_nanos();
        let registered = self.cx.executors.total_cpus().as_nanos();
        let enough = u128::from(registered) * 1000
            >= u128::from(expected) * u128::from(config.registered_ratio_permille);
        let until = started + config.registered_wait;
        if enough || now >= until { Readiness::Ready } else { Readiness::WaitUntil(until) }
    }
}
