//! Jobs come in, and stages go out when everything they read is there.

use std::sync::Arc;

use firesteel_types::{
    Dependency, JobId, JobOutcome, ListenerEvent, PartitionId, Properties, RddId, ShuffleId, StageAttemptId,
    StageId,
};

use super::{
    build::BuildError,
    job::{ActiveJob, JobTarget, Results},
    scheduler::{DagScheduler, DeferredJob, WillRetry},
    stage::StageKind,
};
use crate::{
    effect::{Effect, Ignored, JobError, JobRejection, StageTaskKind, Warning},
    event::{JobSpec, Partitions, RowsSeen},
    shared::Shared,
    task::{Task, TaskOrder, TaskSet},
};

impl DagScheduler {
    pub(crate) fn on_job_submitted(&mut self, cx: &mut Shared, spec: JobSpec) {
        match self.check_job(&spec) {
            Ok(0) => self.run_empty_job(cx, spec),
            Ok(_) => self.start_job(cx, spec, 0),
            Err(error) => cx.out.push(Effect::JobFailed { job: spec.job, error }),
        }
    }

    /// Whether the job makes sense, and how many results it has.
    fn check_job(&self, spec: &JobSpec) -> Result<u32, JobError> {
        self.check_job_id(spec.job, &spec.properties)?;
        let rdd = spec.rdd;
        let node = self.lineage.get(rdd).ok_or(JobRejection::UnknownRdd { rdd })?;
        match &spec.partitions {
            Partitions::All => Ok(node.partitions),
            Partitions::Listed(list) => match list.iter().find(|partition| partition.0 >= node.partitions) {
                Some(&partition) => {
                    Err(JobRejection::NoSuchPartition { rdd, partition, partitions: node.partitions }.into())
                }
                None => Ok(list.len() as u32),
            },
        }
    }

    fn check_job_id(&self, job: JobId, properties: &Properties) -> Result<(), JobError> {
        if self.is_stopped {
            return Err(JobRejection::Stopped.into());
        }
        if self.jobs.contains_key(&job) || self.deferred.contains_key(&job) {
            return Err(JobRejection::DuplicateJob { job }.into());
        }
        match properties.job_group() {
            Some(group) if self.cancelled_groups.iter().any(|cancelled| cancelled == group) => {
                Err(JobError::GroupCancelled { job, group: group.to_owned() })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// A job over no partitions is over at once, but it is a job.
    fn run_empty_job(&self, cx: &mut Shared, JobSpec { job, rdd, properties, .. }: JobSpec) {
        let time = cx.now;
        cx.post(ListenerEvent::JobStart { job, time, stages: Vec::new(), properties });
        cx.post(ListenerEvent::JobEnd { job, time, outcome: JobOutcome::Succeeded });
        cx.out.push(Effect::JobSucceeded { job, generation: cx.blocks.generation(rdd) });
    }

    fn start_job(&mut self, cx: &mut Shared, spec: JobSpec, failed_checks: u32) {
        let is_other_run = |seen: &RowsSeen| cx.blocks.generation(seen.rdd) != seen.generation;
        if let Some(RowsSeen { rdd, .. }) = spec.rows_seen.filter(is_other_run) {
            let error = JobRejection::RowsChanged { rdd }.into();
            return cx.out.push(Effect::JobFailed { job: spec.job, error });
        }
        let partitions = self.lineage.get(spec.rdd).map_or(0, |node| node.partitions);
        let len = match &spec.partitions {
            Partitions::All => partitions,
            Partitions::Listed(list) => list.len() as u32,
        };
        match self.build_result_stage(cx, &spec, len) {
            Ok(stage) => {
                let results = Results::new(spec.partitions, len, spec.rows_seen.is_some());
                self.activate(cx, spec.job, stage, JobTarget::Results(results), spec.properties);
                self.submit_stage(cx, stage);
            }
            Err(error) => {
                self.discard_unused_stages();
                self.on_build_failed(cx, spec, failed_checks, error);
            }
        }
    }

    fn on_build_failed(&mut self, cx: &mut Shared, spec: JobSpec, failed_checks: u32, error: BuildError) {
        let (job, barrier) = (spec.job, &cx.config.barrier);
        let rejection = match error {
            BuildError::Rejected(rejection) => rejection,
            BuildError::TooFewSlots { needed, slots } if failed_checks < barrier.check_failures_max => {
                let retry_at = cx.now + barrier.check_interval;
                self.deferred.insert(job, DeferredJob { spec, failures: failed_checks + 1, retry_at });
                return cx.out.push(Effect::Warn(Warning::BarrierSlots { job, needed, slots }));
            }
            BuildError::TooFewSlots { needed, slots } => JobRejection::BarrierSlots { needed, slots },
        };
        cx.out.push(Effect::JobFailed { job, error: rejection.into() });
        self.forget_dropped(cx);
    }

    /// Looks again whether jobs that did not fit do now.
    pub(super) fn retry_deferred(&mut self, cx: &mut Shared) {
        let due: Vec<_> =
            self.deferred.iter().filter(|(_, job)| job.retry_at <= cx.now).map(|(id, _)| *id).collect();
        for id in due {
            if let Some(job) = self.deferred.remove(&id) {
                self.start_job(cx, job.spec, job.failures);
            }
        }
    }

    pub(crate) fn on_map_stage_submitted(
        &mut self,
        cx: &mut Shared,
        job: JobId,
        rdd: RddId,
        shuffle: ShuffleId,
        properties: Properties,
    ) {
        let built = self.build_map_stage_job(cx, job, rdd, shuffle, &properties);
        let stage = match built {
            Ok(stage) => stage,
            Err(error) => {
                self.discard_unused_stages();
                return cx.out.push(Effect::JobFailed { job, error });
            }
        };
        self.activate(cx, job, stage, JobTarget::MapStage, properties);
        if let Some(map_side) = self.stage_mut(stage).map_side_mut() {
            map_side.map_stage_jobs.insert(job);
        }
        if !self.is_available(cx, stage) {
            return self.submit_stage(cx, stage);
        }
        // What its outputs were made from may be lost, and need not be made again. Its attempt has no tasks.
        if !self.is_under_way(stage) {
            self.submit_missing_tasks(cx, stage);
        }
        if self.stages.contains_key(&stage) {
            self.finish_map_stage_jobs(cx, stage);
        }
    }

    fn build_map_stage_job(
        &mut self,
        cx: &mut Shared,
        job: JobId,
        rdd: RddId,
        shuffle: ShuffleId,
        properties: &Properties,
    ) -> Result<StageId, JobError> {
        self.check_job_id(job, properties)?;
        let dependency = self
            .lineage
            .shuffle_of(rdd, shuffle)
            .cloned()
            .ok_or(JobRejection::UnknownShuffle { rdd, shuffle })?;
        if self.lineage.get(dependency.parent).is_some_and(|parent| parent.partitions == 0) {
            return Err(JobRejection::EmptyMapStage { rdd: dependency.parent }.into());
        }
        let stages = self.build_map_stages(cx, job, &[dependency]).map_err(|error| match error {
            BuildError::Rejected(rejection) => rejection,
            BuildError::TooFewSlots { needed, slots } => JobRejection::BarrierSlots { needed, slots },
        })?;
        Ok(stages[0])
    }

    /// The job runs from now on.
    fn activate(
        &mut self,
        cx: &mut Shared,
        id: JobId,
        final_stage: StageId,
        target: JobTarget,
        properties: Properties,
    ) {
        let stages = self.stages_reachable_from(final_stage);
        for stage in &stages {
            self.stage_mut(*stage).jobs.insert(id);
        }
        let infos = stages.iter().map(|stage| self.stage(*stage).latest.clone()).collect();
        cx.post(ListenerEvent::JobStart {
            job: id,
            time: cx.now,
            stages: infos,
            properties: properties.clone(),
        });
        let job = ActiveJob { id, final_stage, properties, target, stages, submitted: cx.now };
        self.jobs.insert(id, job);
    }

    /// Whether a stage runs, waits, or is to be submitted again.
    fn is_under_way(&self, id: StageId) -> bool {
        self.waiting.contains(&id) || self.running.contains(&id) || self.failed.contains(&id)
    }

    /// Submits a stage, or first the parents that it lacks.
    pub(super) fn submit_stage(&mut self, cx: &mut Shared, id: StageId) {
        // A work list in place of recursion: a chain of a thousand missing stages must not use up the stack. An
        // entry is looked at again after its parents, to be parked if they are still missing.
        let mut work = vec![(id, false)];
        while let Some((id, parents_submitted)) = work.pop() {
            if self.is_under_way(id) || !self.stages.contains_key(&id) {
                continue;
            }
            if parents_submitted {
                self.wait_for_parents(cx, id);
                continue;
            }
            let stage = self.stage(id);
            if stage.next_attempt >= cx.config.stages.attempts_max {
                let reason = format!(
                    "{id} was submitted {} times, which is the most that firesteel.stage.maxAttempts allows",
                    stage.next_attempt
                );
                self.abort_stage(cx, id, &reason, None);
                continue;
            }
            let missing = self.missing_parents(cx, id);
            if missing.is_empty() {
                self.submit_missing_tasks(cx, id);
            } else {
                work.push((id, true));
                work.extend(missing.into_iter().rev().map(|parent| (parent, false)));
            }
        }
    }

    /// Parks a stage until its parents are complete. Where they were given up and its jobs go on all the same, no job
    /// needs the stage, and no event would wake it.
    fn wait_for_parents(&mut self, cx: &mut Shared, id: StageId) {
        if self.missing_parents(cx, id).iter().any(|parent| self.is_under_way(*parent)) {
            self.waiting.insert(id);
            let parents = &self.stages[&id].parents;
            self.waiting_for.extend(parents.iter().map(|parent| (*parent, id)));
        } else {
            self.abort_stage(cx, id, "the stages it reads from were given up", None);
        }
    }

    /// Parents whose outputs are not all there, in ascending order. The walk stops at RDDs that are fully cached.
    pub(super) fn missing_parents(&mut self, cx: &Shared, id: StageId) -> Vec<StageId> {
        let mut visited = std::collections::BTreeSet::from([self.stage(id).rdd]);
        let mut work = vec![self.stage(id).rdd];
        let mut parents = std::collections::BTreeSet::new();
        while let Some(rdd) = work.pop() {
            let Some(node) = self.lineage.get(rdd) else { continue };
            if node.storage.is_persisted() && cx.blocks.has_all(rdd, node.partitions) {
                continue;
            }
            for dependency in &node.dependencies {
                match dependency {
                    Dependency::Narrow { parent, .. } if visited.insert(*parent) => work.push(*parent),
                    Dependency::Narrow { .. } => (),
                    Dependency::Shuffle(shuffle) => parents.extend(self.map_stages.get(&shuffle.shuffle)),
                }
            }
        }
        let (available, missing): (Vec<_>, Vec<_>) =
            parents.into_iter().partition(|p| self.is_available(cx, *p));
        for parent in available {
            self.stage_mut(parent).skip();
        }
        missing
    }

    /// Begins an attempt of a stage whose parents are complete, for the partitions that lack an output.
    fn submit_missing_tasks(&mut self, cx: &mut Shared, id: StageId) {
        if !self.roll_back_before_attempt(cx, id) {
            return;
        }
        self.clear_barrier_outputs(cx, id);
        let stage = self.stage(id);
        if let Some(shuffle) = stage.map_side().map(|map_side| map_side.dependency.shuffle)
            && !cx.map_outputs.contains(shuffle)
        {
            // Its outputs would have nowhere to go, and the stage would never be complete.
            return self.abort_stage(
                cx,
                id,
                &format!("{shuffle} was removed while a job was using it"),
                None,
            );
        }
        let Some(job) = stage.jobs.first().and_then(|job| self.jobs.get(job)) else { return };
        let properties = cx.profiles.stage_properties(stage.profile, &job.properties);
        let priority = job.id;
        let (kind, tasks) = self.missing_tasks(cx, id);
        let rdd = self.stage(id).rdd;
        let partitions = self.lineage.get(rdd).map_or(0, |node| node.partitions);
        if partitions > 0 {
            cx.commits.on_stage_started(id, PartitionId(partitions - 1));
        }
        self.running.insert(id);
        let preferred = self.preferred_of_tasks(cx, rdd, &tasks);
        let set = self.stage_mut(id).begin_attempt(tasks.len() as u32);
        if !tasks.is_empty() && preferred.is_ok() {
            Arc::make_mut(&mut self.stage_mut(id).latest).submitted = Some(cx.now);
        }
        let info = self.stage(id).latest.clone();
        cx.post(ListenerEvent::StageSubmitted { info, properties: properties.clone() });
        let preferred = match preferred {
            Ok(preferred) => preferred,
            Err(message) => {
                self.abort_stage(cx, id, &format!("preferred locations of {rdd} failed: {message}"), None);
                return;
            }
        };
        if let Some(map_side) = self.stage_mut(id).map_side_mut() {
            map_side.pending.clear();
            map_side.pending.extend(tasks.iter().map(|task| task.partition.index()));
        }
        if tasks.is_empty() {
            return self.finish_without_tasks(cx, id);
        }
        let stage = self.stage(id);
        let (profile, barrier, epoch) = (stage.profile, stage.barrier, cx.map_outputs.epoch());
        let generations = cx.blocks.generations(&stage.latest.rdds).into();
        let task_set = TaskSet {
            id: set,
            kind,
            rdd,
            partitions,
            priority,
            profile,
            properties,
            generations,
            barrier,
            epoch,
            tasks,
            preferred,
        };
        cx.to_tasks.push_back(TaskOrder::Submit(Box::new(task_set)));
    }

    /// A barrier stage runs as a whole, so what is left of an earlier attempt is of no use.
    fn clear_barrier_outputs(&self, cx: &mut Shared, id: StageId) {
        let stage = self.stage(id);
        if let Some(map_side) = stage.map_side()
            && stage.barrier
            && !self.is_available(cx, id)
        {
            // An unregistered shuffle has no outputs.
            let _ = cx.map_outputs.unregister_all_outputs(map_side.dependency.shuffle);
        }
    }

    /// The tasks of the partitions that lack an output, in order of their outputs.
    fn missing_tasks(&self, cx: &Shared, id: StageId) -> (StageTaskKind, Vec<Task>) {
        match &self.stage(id).kind {
            StageKind::ShuffleMap(map_side) => {
                let shuffle = map_side.dependency.shuffle;
                let missing = cx.map_outputs.missing(shuffle).into_iter();
                let tasks = missing.map(|partition| Task { partition, output: partition.0 }).collect();
                (StageTaskKind::ShuffleMap(shuffle), tasks)
            }
            StageKind::Result(job) => {
                let kind = StageTaskKind::Result(*job);
                let Some(JobTarget::Results(results)) = self.jobs.get(job).map(|job| &job.target) else {
                    return (kind, Vec::new());
                };
                let task = |output: u32| Task { partition: results.partition(output), output };
                (kind, results.missing().into_iter().map(task).collect())
            }
        }
    }

    /// An attempt without tasks is over as soon as it is announced.
    fn finish_without_tasks(&mut self, cx: &mut Shared, id: StageId) {
        match self.stage(id).kind {
            StageKind::ShuffleMap(_) => self.on_map_stage_drained(cx, id),
            StageKind::Result(_) => self.mark_finished(cx, id, None, WillRetry::No),
        }
    }

    /// Submits the stages that wait for `parent`, those of the oldest jobs first.
    pub(super) fn submit_waiting_children(&mut self, cx: &mut Shared, parent: StageId) {
        let children = self.take_waiting_children(parent);
        self.submit_in_job_order(cx, children);
    }

    /// The stages that wait for `parent`, which wait no more.
    pub(super) fn take_waiting_children(&mut self, parent: StageId) -> Vec<StageId> {
        let of_parent = (parent, StageId(0))..=(parent, StageId(u32::MAX));
        let children: Vec<_> = self.waiting_for.range(of_parent).map(|(_, child)| *child).collect();
        for child in &children {
            self.stop_waiting(*child, &self.stage(*child).parents.clone());
        }
        children
    }

    /// Takes a stage with these parents from those that wait.
    pub(super) fn stop_waiting(&mut self, id: StageId, parents: &[StageId]) {
        if self.waiting.remove(&id) {
            for parent in parents {
                self.waiting_for.remove(&(*parent, id));
            }
        }
    }

    /// Submits the stages that failed, those of the oldest jobs first.
    pub(super) fn resubmit_failed_stages(&mut self, cx: &mut Shared) {
        let failed = std::mem::take(&mut self.failed).into_iter().collect();
        self.submit_in_job_order(cx, failed);
    }

    fn submit_in_job_order(&mut self, cx: &mut Shared, mut stages: Vec<StageId>) {
        stages.sort_by_key(|id| self.stage(*id).first_job);
        for id in stages {
            self.submit_stage(cx, id);
        }
    }

    /// The operators of a stage attempt cannot be sent: no retry would help.
    pub(crate) fn on_stage_not_serializable(&mut self, cx: &mut Shared, set: StageAttemptId, message: &str) {
        let is_latest = self.stages.get(&set.stage).is_some_and(|stage| stage.latest.id == set);
        if is_latest {
            self.abort_stage(cx, set.stage, &format!("task not serializable: {message}"), None);
        } else {
            cx.ignore(Ignored::UnknownTaskSet { set });
        }
    }
}
