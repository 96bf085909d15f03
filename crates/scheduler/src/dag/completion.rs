//! Tasks end, map stages complete, jobs get their results.

use firesteel_types::{JobId, JobOutcome, ListenerEvent, StageId, TaskEndReason, TaskFailure};

use super::{
    event::TaskEnded,
    job::JobTarget,
    scheduler::{DagScheduler, WillRetry},
    stage::StageKind,
};
use crate::{
    effect::{AccumulatorScope, Effect, Warning},
    shared::Shared,
    task::TaskOrder,
};

impl DagScheduler {
    pub(super) fn on_task_ended(&mut self, cx: &mut Shared, mut ended: Box<TaskEnded>) {
        let (set, info) = (ended.set, ended.info);
        cx.commits.on_task_ended(set.stage, set.attempt, info.partition, info.number, &ended.reason);
        let is_known = self.stages.contains_key(&set.stage);
        if is_known && ended.accumulators {
            self.merge_accumulators(cx, &ended);
        }
        // Listeners hear of every end, also of tasks whose stage is long gone.
        let (time, metrics, reason) = (cx.now, ended.metrics, ended.reason.clone());
        cx.post(ListenerEvent::TaskEnd { set, task: info, time, reason, metrics });
        if !is_known {
            return;
        }
        match std::mem::replace(&mut ended.reason, TaskEndReason::Success) {
            TaskEndReason::Success => self.on_task_succeeded(cx, ended),
            TaskEndReason::Resubmitted => self.on_task_resubmitted(cx, &ended),
            TaskEndReason::Failed(TaskFailure::FetchFailed(fetch)) => {
                self.on_fetch_failed(cx, &ended, &fetch)
            }
            TaskEndReason::Failed(failure) if ended.barrier => {
                self.on_barrier_task_failed(cx, &ended, &failure.to_string(), Some(failure))
            }
            // What is left is the task scheduler's business: it tries again, or gives the set up.
            TaskEndReason::Failed(_) => (),
        }
    }

    /// Result tasks count once per partition, map tasks each time they succeed, failed ones only where marked so.
    fn merge_accumulators(&self, cx: &mut Shared, ended: &TaskEnded) {
        let which = match &ended.reason {
            TaskEndReason::Success => match self.stage(ended.set.stage).kind {
                StageKind::ShuffleMap(_) => AccumulatorScope::All,
                StageKind::Result(job) if self.wants_result(job, ended.output) => AccumulatorScope::All,
                StageKind::Result(_) => return,
            },
            TaskEndReason::Failed(failure) => match failure {
                TaskFailure::Panicked { .. }
                | TaskFailure::ResultNotSerializable { .. }
                | TaskFailure::OutputExists { .. }
                | TaskFailure::Killed { .. } => AccumulatorScope::CountedOnFailure,
                TaskFailure::FetchFailed(_)
                | TaskFailure::ResultLost
                | TaskFailure::CommitDenied
                | TaskFailure::ExecutorLost { .. }
                | TaskFailure::ExecutorShuttingDown
                | TaskFailure::Unknown => return,
            },
            TaskEndReason::Resubmitted => return,
        };
        cx.out.push(Effect::MergeAccumulators { attempt: ended.info.attempt, which });
    }

    fn wants_result(&self, job: JobId, position: u32) -> bool {
        match self.jobs.get(&job).map(|job| &job.target) {
            Some(JobTarget::Results(results)) => !results.is_finished(position),
            Some(JobTarget::MapStage) | None => false,
        }
    }

    fn on_task_succeeded(&mut self, cx: &mut Shared, ended: Box<TaskEnded>) {
        let stage = self.stage(ended.set.stage);
        let is_old = ended.set.attempt < stage.latest_attempt();
        // A barrier stage runs again as a whole, so nothing of an older attempt counts.
        let is_ignored = stage.ignores(ended.set.attempt) || (stage.barrier && is_old);
        if is_old && !is_ignored {
            let output = ended.output;
            cx.to_tasks.push_back(TaskOrder::OutputCompleted { stage: stage.id, output });
        }
        match stage.kind {
            StageKind::Result(job) => self.on_result(cx, job, &ended, is_ignored),
            StageKind::ShuffleMap(_) => self.on_map_output(cx, ended, is_ignored),
        }
    }

    fn on_result(&mut self, cx: &mut Shared, id: JobId, ended: &TaskEnded, is_ignored: bool) {
        if !self.wants_result(id, ended.output) {
            return;
        }
        let stage = ended.set.stage;
        if is_ignored {
            let reason = format!(
                "a map stage with indeterminate output ran again, and a task of {} that read its earlier rows \
                 succeeded; run the job again",
                ended.set
            );
            return self.abort_stage(cx, stage, &reason, None);
        }
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let JobTarget::Results(results) = &mut job.target else { return };
        results.finish(ended.output);
        let is_last = results.left() == 0;
        let interrupt = job.properties.interrupts_on_cancel();
        cx.out.push(Effect::DeliverResult { job: id, position: ended.output, attempt: ended.info.attempt });
        if is_last {
            // After a fetch failure the attempt has ended before, and its last result came late.
            if self.running.contains(&stage) {
                self.mark_finished(cx, stage, None, WillRetry::No);
            }
            self.cancel_independent_stages(cx, id, &format!("{id} is finished"));
            // Speculative copies and zombies of the result stage do useless work.
            let reason = "the stage is finished".to_owned();
            cx.to_tasks.push_back(TaskOrder::KillStage { stage, interrupt, reason });
            let generation = cx.blocks.generation(self.stage(stage).rdd);
            self.remove_job(cx, id);
            cx.post(ListenerEvent::JobEnd { job: id, time: cx.now, outcome: JobOutcome::Succeeded });
            cx.out.push(Effect::JobSucceeded { job: id, generation });
        }
    }

    fn on_map_output(&mut self, cx: &mut Shared, ended: Box<TaskEnded>, is_ignored: bool) {
        let id = ended.set.stage;
        if !is_ignored {
            let map_side = self.stage_mut(id).map_side_mut().expect("only map stages write map outputs");
            map_side.pending.set(ended.info.partition.index(), false);
            // A report from an executor that was written off after the task began: its output is gone with it.
            let is_bogus = self.lost_epoch.get(&ended.info.executor).is_some_and(|lost| ended.epoch <= *lost);
            if !is_bogus && !self.register_output(cx, ended) {
                return;
            }
        }
        if self.stages.contains_key(&id) && self.running.contains(&id) && self.is_drained(id) {
            self.on_map_stage_drained(cx, id);
        }
    }

    /// Files a map output. Whether the stage goes on.
    fn register_output(&mut self, cx: &mut Shared, ended: Box<TaskEnded>) -> bool {
        let id = ended.set.stage;
        let dependency = &self.stage(id).map_side().expect("only map stages write map outputs").dependency;
        let (shuffle, rolls_back) = (dependency.shuffle, dependency.roll_back_on_mismatch);
        let partition = ended.info.partition;
        let Some(status) = ended.map_output else {
            self.abort_stage(cx, id, &format!("{} finished without a map output", ended.info.attempt), None);
            return false;
        };
        match cx.map_outputs.register_output(shuffle, partition, status) {
            Ok(registered) if registered.checksum_changed => {
                cx.out.push(Effect::Warn(Warning::ChecksumMismatch { shuffle, partition }));
                if rolls_back {
                    self.roll_back_after_mismatch(cx, id, ended.set.attempt);
                }
                self.stages.contains_key(&id)
            }
            Ok(_) => true,
            Err(error) => {
                self.abort_stage(cx, id, &error.to_string(), None);
                false
            }
        }
    }

    fn is_drained(&self, id: StageId) -> bool {
        self.stage(id).map_side().is_some_and(|map_side| map_side.pending.is_clear())
    }

    /// No task of a map stage is pending: it is complete, or some outputs got lost on the way.
    pub(super) fn on_map_stage_drained(&mut self, cx: &mut Shared, id: StageId) {
        self.mark_finished(cx, id, None, WillRetry::No);
        cx.map_outputs.increment_epoch();
        if self.is_available(cx, id) {
            self.finish_map_stage_jobs(cx, id);
            if self.stages.contains_key(&id) {
                self.submit_waiting_children(cx, id);
            }
        } else {
            self.submit_stage(cx, id);
        }
    }

    /// Gives every job that wanted just this map stage its statistics.
    pub(super) fn finish_map_stage_jobs(&mut self, cx: &mut Shared, id: StageId) {
        let Some(map_side) = self.stage(id).map_side() else { return };
        let shuffle = map_side.dependency.shuffle;
        let generation = cx.blocks.generation(map_side.dependency.parent);
        let jobs: Vec<_> = map_side.map_stage_jobs.iter().copied().collect();
        for job in jobs {
            let bytes_by_reducer = cx.map_outputs.statistics(shuffle).unwrap_or_default();
            cx.out.push(Effect::DeliverStatistics { job, bytes_by_reducer });
            self.cancel_independent_stages(cx, job, &format!("{job} is finished"));
            self.remove_job(cx, job);
            cx.post(ListenerEvent::JobEnd { job, time: cx.now, outcome: JobOutcome::Succeeded });
            cx.out.push(Effect::JobSucceeded { job, generation });
        }
    }

    /// The output of a finished map task was lost with its executor: it is pending again.
    fn on_task_resubmitted(&mut self, cx: &mut Shared, ended: &TaskEnded) {
        let stage = self.stage_mut(ended.set.stage);
        let map_side =
            stage.map_side_mut().expect("only the output of a map task can get lost with its executor");
        map_side.pending.insert(ended.info.partition.index());
        if ended.barrier {
            // The others cannot be joined by one task that starts anew.
            self.on_barrier_task_failed(cx, ended, "its output is lost", None);
        }
    }
}
