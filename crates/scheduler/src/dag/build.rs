//! From a lineage to stages.

use std::{collections::BTreeSet, sync::Arc};

use fixedbitset::FixedBitSet;

use firesteel_types::{
    Dependency, Determinism, JobId, ProfileId, RddId, ShuffleDependency, ShuffleId, StageAttemptId, StageId,
    StageInfo,
};

use super::{
    lineage::{Answers, StageShape},
    scheduler::DagScheduler,
    stage::{MapSide, Stage, StageKind},
};
use crate::{
    effect::JobRejection,
    event::{JobSpec, Partitions},
    shared::Shared,
};

/// Why a job's stages cannot be made.
pub(super) enum BuildError {
    /// It can never run.
    Rejected(JobRejection),
    /// Its barrier stage needs more slots than there are now.
    TooFewSlots { needed: u32, slots: u32 },
}

impl From<JobRejection> for BuildError {
    fn from(rejection: JobRejection) -> Self {
        Self::Rejected(rejection)
    }
}

impl DagScheduler {
    /// Makes the result stage of a job, and before it every map stage it can reach that does not exist yet.
    pub(super) fn build_result_stage(
        &mut self,
        cx: &mut Shared,
        spec: &JobSpec,
        tasks: u32,
    ) -> Result<StageId, BuildError> {
        let (job, rdd) = (spec.job, spec.rdd);
        let shape = self.shape_of(rdd)?;
        if shape.barrier
            && let Partitions::Listed(list) = &spec.partitions
            && list.iter().collect::<BTreeSet<_>>().len() < list.len()
        {
            // Two tasks of one partition cannot both have its place in a sync.
            return Err(JobRejection::BarrierChain { rdd }.into());
        }
        let profile = cx.profiles.resolve(&shape.profiles).map_err(JobRejection::from)?;
        self.check_barrier(cx, &shape, tasks, profile)?;
        let parents = self.build_map_stages(cx, job, &shape.shuffles)?;
        Ok(self.add_stage(job, rdd, StageKind::Result(job), parents, shape, profile, tasks))
    }

    /// The stage of each shuffle, made if need be. Ancestors come first, so that their ids are lower.
    pub(super) fn build_map_stages(
        &mut self,
        cx: &mut Shared,
        job: JobId,
        shuffles: &[ShuffleDependency],
    ) -> Result<Vec<StageId>, BuildError> {
        let mut work: Vec<ShuffleDependency> = shuffles.iter().rev().cloned().collect();
        let mut opened: BTreeSet<ShuffleId> = BTreeSet::new();
        let mut determinism = Answers::default();
        while let Some(dependency) = work.last().cloned() {
            if let Some(stage) = self.map_stages.get(&dependency.shuffle) {
                self.check_same_shuffle(*stage, &dependency)?;
                work.pop();
                continue;
            }
            let shape = self.shape_of(dependency.parent)?;
            if opened.insert(dependency.shuffle) {
                work.extend(shape.shuffles.into_iter().rev());
                continue;
            }
            work.pop();
            let of_lineage = self.lineage.determinism(dependency.parent, &mut determinism);
            let indeterminate =
                of_lineage == Determinism::Indeterminate || self.unrepeatable.contains(&dependency.shuffle);
            self.build_map_stage(cx, job, dependency, shape, indeterminate)?;
        }
        Ok(shuffles.iter().map(|shuffle| self.map_stages[&shuffle.shuffle]).collect())
    }

    /// A shuffle that a stage writes already must be the one that is asked for.
    fn check_same_shuffle(&self, stage: StageId, dependency: &ShuffleDependency) -> Result<(), JobRejection> {
        let written = self.stage(stage).map_side().map(|map_side| &map_side.dependency);
        let is_same = written.is_some_and(|written| {
            (written.parent, written.reducers) == (dependency.parent, dependency.reducers)
        });
        if is_same { Ok(()) } else { Err(JobRejection::ShuffleChanged { shuffle: dependency.shuffle }) }
    }

    /// Makes the stage of one shuffle whose ancestors exist.
    fn build_map_stage(
        &mut self,
        cx: &mut Shared,
        job: JobId,
        dependency: ShuffleDependency,
        shape: StageShape,
        indeterminate: bool,
    ) -> Result<(), BuildError> {
        let (shuffle, rdd) = (dependency.shuffle, dependency.parent);
        let tasks = self.lineage.get(rdd).ok_or(JobRejection::UnknownRdd { rdd })?.partitions;
        let profile = cx.profiles.resolve(&shape.profiles).map_err(JobRejection::from)?;
        self.check_barrier(cx, &shape, tasks, profile)?;
        if !cx.map_outputs.contains(shuffle) {
            cx.map_outputs
                .register_shuffle(shuffle, tasks, dependency.reducers)
                .map_err(|_| JobRejection::ShuffleChanged { shuffle })?;
        } else if cx.map_outputs.shape(shuffle) != Some((tasks, dependency.reducers)) {
            return Err(JobRejection::ShuffleChanged { shuffle }.into());
        }
        let parents = shape.shuffles.iter().map(|up| self.map_stages[&up.shuffle]).collect();
        let map_side = MapSide {
            dependency,
            indeterminate,
            pending: FixedBitSet::with_capacity(tasks as usize),
            map_stage_jobs: BTreeSet::new(),
            last_mismatch: None,
        };
        let id = self.add_stage(job, rdd, StageKind::ShuffleMap(map_side), parents, shape, profile, tasks);
        self.map_stages.insert(shuffle, id);
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a stage")]
    fn add_stage(
        &mut self,
        job: JobId,
        rdd: RddId,
        kind: StageKind,
        parents: Vec<StageId>,
        shape: StageShape,
        profile: ProfileId,
        tasks: u32,
    ) -> StageId {
        let id = StageId(self.next_stage);
        self.next_stage += 1;
        let shuffle = match &kind {
            StageKind::ShuffleMap(map_side) => Some(map_side.dependency.shuffle),
            StageKind::Result(_) => None,
        };
        let latest = Arc::new(StageInfo {
            id: StageAttemptId::new(id, 0),
            name: self.lineage.get(rdd).map_or_else(|| Arc::from(""), |node| node.name.clone()),
            tasks,
            rdds: shape.rdds,
            parents: parents.clone(),
            shuffle,
            profile,
            submitted: None,
            completed: None,
            failure: None,
        });
        let stage = Stage {
            id,
            rdd,
            kind,
            parents,
            first_job: job,
            jobs: BTreeSet::new(),
            profile,
            barrier: shape.barrier,
            next_attempt: 0,
            latest,
            failed_attempts: BTreeSet::new(),
            ignored_up_to: None,
        };
        self.stages.insert(id, stage);
        id
    }

    /// Files a job under every stage it can reach.
    pub(super) fn stages_reachable_from(&self, stage: StageId) -> BTreeSet<StageId> {
        let mut reached = BTreeSet::from([stage]);
        let mut work = vec![stage];
        while let Some(id) = work.pop() {
            work.extend(self.stage(id).parents.iter().filter(|parent| reached.insert(**parent)));
        }
        reached
    }

    /// Undoes the stages that were made for a job which is not to run after all.
    pub(super) fn discard_unused_stages(&mut self) {
        let unused: Vec<_> =
            self.stages.values().filter(|stage| stage.jobs.is_empty()).map(|stage| stage.id).collect();
        for id in unused {
            self.remove_stage(id);
        }
    }

    fn shape_of(&self, rdd: RddId) -> Result<StageShape, JobRejection> {
        self.lineage.stage_of(rdd).map_err(|rdd| JobRejection::UnknownRdd { rdd })
    }

    /// Barrier stages start all tasks at once, which rules out some shapes and needs enough slots.
    fn check_barrier(
        &self,
        cx: &Shared,
        shape: &StageShape,
        tasks: u32,
        profile: ProfileId,
    ) -> Result<(), BuildError> {
        if !shape.barrier {
            return Ok(());
        }
        let mut known = Answers::default();
        for rdd in &shape.rdds {
            let node = self.lineage.get(*rdd).ok_or(JobRejection::UnknownRdd { rdd: *rdd })?;
            let mut barrier_parents = 0;
            for parent in node.dependencies.iter().map(Dependency::parent) {
                barrier_parents += u32::from(self.lineage.is_barrier(parent, &mut known));
            }
            if node.partitions != tasks || barrier_parents > 1 {
                return Err(JobRejection::BarrierChain { rdd: *rdd }.into());
            }
        }
        if cx.config.dynamic_allocation {
            return Err(JobRejection::BarrierWithDynamicAllocation.into());
        }
        let slots = cx.executors.slots_in_all(profile, &cx.profiles);
        if tasks > slots {
            return Err(BuildError::TooFewSlots { needed: tasks, slots });
        }
        Ok(())
    }
}
