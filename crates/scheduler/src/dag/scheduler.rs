//! The DAG scheduler's state.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use firesteel_types::{ExecutorId, JobId, ListenerEvent, RddId, ShuffleId, StageId, Timestamp};

use super::{
    event::DagEvent,
    job::ActiveJob,
    lineage::Lineage,
    stage::{Stage, StageKind},
};
use crate::{event::JobSpec, shared::Shared};

/// Jobs, stages and what is known of lost executors.
#[derive(Debug, Default)]
pub(crate) struct DagScheduler {
    pub(crate) lineage: Lineage,
    pub(crate) jobs: BTreeMap<JobId, ActiveJob>,
    pub(crate) stages: BTreeMap<StageId, Stage>,
    /// The stage that writes each shuffle, while a job uses it.
    pub(super) map_stages: BTreeMap<ShuffleId, StageId>,
    /// Stages whose parents are not complete.
    pub(crate) waiting: BTreeSet<StageId>,
    /// Each parent of a waiting stage, and that stage: who is to be woken is found without a look at all that wait.
    pub(super) waiting_for: BTreeSet<(StageId, StageId)>,
    /// Stages with a task set under way.
    pub(crate) running: BTreeSet<StageId>,
    /// Stages to be submitted again after a failure.
    pub(crate) failed: BTreeSet<StageId>,
    /// When the failed stages are submitted again.
    pub(crate) resubmit_at: Option<Timestamp>,
    pub(super) next_stage: u32,
    /// Jobs whose barrier stage does not fit yet.
    pub(super) deferred: BTreeMap<JobId, DeferredJob>,
    /// Groups whose future jobs are cancelled too, oldest first.
    pub(super) cancelled_groups: VecDeque<String>,
    /// The epoch at which each lost executor was written off.
    pub(super) lost_epoch: BTreeMap<ExecutorId, u64>,
    /// The epoch at which the shuffle files of each lost executor were written off.
    pub(super) files_lost_epoch: BTreeMap<ExecutorId, u64>,
    /// Shuffles whose outputs may be of a run that gives other rows when it is repeated. Kept across jobs: a checkpoint
    /// makes the next run repeatable, but not the one that its outputs come from.
    pub(super) unrepeatable: BTreeSet<ShuffleId>,
    /// RDDs to be forgotten when no job is active.
    pub(super) dropped_rdds: Vec<RddId>,
    pub(super) is_stopped: bool,
}

/// A job that waits for enough slots for its barrier stage.
#[derive(Debug)]
pub(crate) struct DeferredJob {
    pub(crate) spec: JobSpec,
    pub(crate) failures: u32,
    pub(crate) retry_at: Timestamp,
}

impl DagScheduler {
    pub(crate) fn on_event(&mut self, cx: &mut Shared, event: DagEvent) {
        match event {
            DagEvent::TaskEnded(ended) => self.on_task_ended(cx, ended),
            DagEvent::TaskSetFailed { set, reason, cause } => self.abort_stage(cx, set.stage, &reason, cause),
            DagEvent::ExecutorAdded { executor } => self.on_executor_added(executor),
            DagEvent::ExecutorLost { executor, worker_host } => {
                self.on_executor_lost(cx, executor, worker_host.as_ref());
            }
        }
    }

    pub(crate) fn on_tick(&mut self, cx: &mut Shared) {
        if self.resubmit_at.take_if(|at| *at <= cx.now).is_some() {
            self.resubmit_failed_stages(cx);
        }
        self.retry_deferred(cx);
    }

    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let deferred = self.deferred.values().map(|job| job.retry_at).min();
        self.resubmit_at.into_iter().chain(deferred).min()
    }

    pub(super) fn stage(&self, id: StageId) -> &Stage {
        &self.stages[&id]
    }

    pub(super) fn stage_mut(&mut self, id: StageId) -> &mut Stage {
        self.stages.get_mut(&id).expect("the caller holds the id of an active stage")
    }

    /// Whether everything a stage is to give is there.
    pub(crate) fn is_available(&self, cx: &Shared, stage: StageId) -> bool {
        match &self.stage(stage).kind {
            StageKind::ShuffleMap(map_side) => cx.map_outputs.is_complete(map_side.dependency.shuffle),
            StageKind::Result(_) => false,
        }
    }

    /// Ends the latest attempt of a stage, for good or ill.
    pub(super) fn mark_finished(
        &mut self,
        cx: &mut Shared,
        id: StageId,
        failure: Option<&str>,
        will_retry: WillRetry,
    ) {
        let stage = self.stage_mut(id);
        stage.end_attempt(cx.now, failure);
        let info = stage.latest.clone();
        if will_retry == WillRetry::No {
            cx.commits.on_stage_ended(id);
        }
        cx.post(ListenerEvent::StageCompleted { info });
        self.running.remove(&id);
    }

    /// No job is active any more: what was dropped meanwhile can go.
    pub(super) fn forget_dropped(&mut self, cx: &mut Shared) {
        if self.jobs.is_empty() && self.deferred.is_empty() {
            for rdd in std::mem::take(&mut self.dropped_rdds) {
                self.lineage.remove(rdd);
                cx.blocks.remove_rdd(rdd);
            }
        }
    }

    pub(crate) fn drop_rdds(&mut self, cx: &mut Shared, rdds: Vec<RddId>) {
        self.dropped_rdds.extend(rdds);
        self.forget_dropped(cx);
    }

    /// Whether no trace of any job is left.
    pub(crate) fn is_quiescent(&self) -> bool {
        self.jobs.is_empty()
            && self.stages.is_empty()
            && self.map_stages.is_empty()
            && self.waiting.is_empty()
            && self.waiting_for.is_empty()
            && self.running.is_empty()
            && self.failed.is_empty()
            && self.deferred.is_empty()
    }

    /// Cross-checks jobs and stages.
    pub(crate) fn check_invariants(&self) {
        for (id, stage) in &self.stages {
            assert!(!stage.jobs.is_empty(), "{id} is used by a job");
            assert!(stage.jobs.iter().all(|job| self.jobs.contains_key(job)), "the jobs of {id} are active");
            assert!(stage.parents.iter().all(|parent| parent < id), "the parents of {id} are older");
            if let StageKind::ShuffleMap(map_side) = &stage.kind {
                assert_eq!(
                    self.map_stages.get(&map_side.dependency.shuffle),
                    Some(id),
                    "{id} is filed by shuffle"
                );
            }
        }
        for (id, job) in &self.jobs {
            assert!(self.stages.contains_key(&job.final_stage), "{id} has its final stage");
            assert!(
                job.stages.iter().all(|stage| self.stages[stage].jobs.contains(id)),
                "{id} is known to its stages"
            );
        }
        for id in self.waiting.iter().chain(&self.running).chain(&self.failed) {
            assert!(self.stages.contains_key(id), "{id} is active");
        }
        assert!(self.waiting.is_disjoint(&self.running), "no stage waits and runs");
        let parents =
            |id: &StageId| self.stages[id].parents.iter().map(|parent| (*parent, *id)).collect::<Vec<_>>();
        assert!(self.waiting_for.iter().all(|(_, id)| self.waiting.contains(id)), "who is to be woken waits");
        assert!(
            self.waiting.iter().flat_map(parents).all(|pair| self.waiting_for.contains(&pair)),
            "who waits is found by each parent"
        );
        assert!(self.failed.is_empty() || self.resubmit_at.is_some(), "failed stages are submitted again");
    }
}

/// Whether another attempt follows the one that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WillRetry {
    Yes,
    No,
}
