//! A stage attempt fails: a map output could not be fetched, or a barrier task ended badly.

use firesteel_types::{FetchFailure, StageId, TaskFailure};

use super::{
    event::TaskEnded,
    scheduler::{DagScheduler, WillRetry},
    stage::StageKind,
};
use crate::{effect::Ignored, shared::Shared, task::TaskOrder};

impl DagScheduler {
    /// A reducer could not get a map output: the output is made again, and then the reducer's stage goes on.
    pub(super) fn on_fetch_failed(&mut self, cx: &mut Shared, ended: &TaskEnded, fetch: &FetchFailure) {
        let id = ended.set.stage;
        if self.stage(id).latest_attempt() != ended.set.attempt {
            // A late report must not lead to two attempts at once.
            return cx.ignore(Ignored::OldAttempt { set: ended.set });
        }
        let message = fetch.to_string();
        if !self.is_excused(cx, fetch) {
            self.stage_mut(id).failed_attempts.insert(ended.set.attempt);
        }
        let give_up = self.too_many_failures(cx, id, &message);
        if self.running.contains(&id) {
            let will_retry = if give_up.is_some() { WillRetry::No } else { WillRetry::Yes };
            self.mark_finished(cx, id, Some(&message), will_retry);
        }
        let map_stage = self.map_stages.get(&fetch.shuffle).copied();
        self.unregister_fetched(cx, map_stage, fetch);
        if self.stage(id).barrier {
            // Spark leaves the others to wait for the one that failed, in slots that the retry needs.
            self.kill_stage(cx, id, &message);
            self.retry_barrier_as_a_whole(cx, id, &message);
        }
        if let Some(reason) = give_up {
            self.abort_stage(cx, id, &reason, None);
        } else if self.stages.contains_key(&id) {
            self.retry_both(cx, id, map_stage);
        }
        self.on_fetch_failed_executor(cx, fetch, ended.epoch);
    }

    /// Whether the failure is not held against the stage: the executor was on its way out.
    fn is_excused(&self, cx: &Shared, fetch: &FetchFailure) -> bool {
        cx.config.stages.ignore_decommission_fetch_failures
            && fetch
                .location
                .as_ref()
                .is_some_and(|(executor, _)| cx.executors.decommission_of(*executor).is_some())
    }

    /// The reason to give a stage up: it failed too often in a row, or has run as often as it may.
    pub(super) fn too_many_failures(&self, cx: &Shared, id: StageId, message: &str) -> Option<String> {
        let (stage, limits) = (self.stage(id), &cx.config.stages);
        let in_a_row = limits.consecutive_attempts_max;
        if stage.failed_attempts.len() >= in_a_row as usize {
            return Some(format!(
                "{id} failed {in_a_row} attempts in a row, which is the most that firesteel.stage.maxConsecutiveAttempts \
                 allows; the last: {message}"
            ));
        }
        (stage.next_attempt >= limits.attempts_max).then(|| {
            format!(
                "{id} was submitted {} times, which is the most that firesteel.stage.maxAttempts allows; the last: {message}",
                stage.next_attempt
            )
        })
    }

    /// The output that could not be fetched is not there, as far as we know.
    fn unregister_fetched(&self, cx: &mut Shared, map_stage: Option<StageId>, fetch: &FetchFailure) {
        let whole = map_stage.is_some_and(|stage| self.stage(stage).barrier);
        // An unknown shuffle has no output to forget.
        let _ = if whole {
            cx.map_outputs.unregister_all_outputs(fetch.shuffle).map(drop)
        } else if let (Some(map), Some((executor, _))) = (fetch.map_partition, &fetch.location) {
            cx.map_outputs.unregister_output(fetch.shuffle, map, *executor).map(drop)
        } else {
            Ok(())
        };
    }

    /// Files both stages for another attempt, soon but not at once: one lost executor fails many fetches.
    fn retry_both(&mut self, cx: &mut Shared, id: StageId, map_stage: Option<StageId>) {
        let is_new = self.failed.insert(id);
        self.failed.extend(map_stage);
        if is_new {
            if let Some(map_stage) = map_stage.filter(|stage| self.stage(*stage).reruns_as_a_whole()) {
                self.roll_back_succeeding(cx, map_stage, true);
            }
            self.schedule_resubmit(cx);
        }
    }

    pub(super) fn schedule_resubmit(&mut self, cx: &Shared) {
        if !self.failed.is_empty() {
            self.resubmit_at.get_or_insert(cx.now + cx.config.stages.resubmit_delay);
        }
    }

    /// One task of a barrier stage failed, or its output was lost again, so the attempt failed. Lost output has no
    /// `failure`.
    pub(super) fn on_barrier_task_failed(
        &mut self,
        cx: &mut Shared,
        ended: &TaskEnded,
        why: &str,
        cause: Option<TaskFailure>,
    ) {
        let id = ended.set.stage;
        if self.stage(id).latest_attempt() != ended.set.attempt {
            return cx.ignore(Ignored::OldAttempt { set: ended.set });
        }
        if !self.running.contains(&id) {
            // The first failure of the attempt has been dealt with; the others were killed because of it.
            return;
        }
        let message = format!("barrier task {} of {} ended: {why}", ended.info.index.0, ended.set);
        if !cx.config.can_kill_tasks {
            let reason = format!("the other tasks of barrier {id} cannot be killed; {message}");
            return self.abort_stage(cx, id, &reason, None);
        }
        self.kill_stage(cx, id, &message);
        self.mark_finished(cx, id, Some(&message), WillRetry::No);
        self.stage_mut(id).failed_attempts.insert(ended.set.attempt);
        if let Some(reason) = self.too_many_failures(cx, id, &message) {
            return self.abort_stage(cx, id, &reason, cause);
        }
        self.retry_barrier_as_a_whole(cx, id, &message);
        if self.stages.contains_key(&id) {
            self.failed.insert(id);
            self.schedule_resubmit(cx);
        }
    }

    /// Kills the running attempts of a stage, interrupting threads if the job that made the stage asks for that.
    pub(super) fn kill_stage(&self, cx: &mut Shared, id: StageId, reason: &str) {
        let job = self.jobs.get(&self.stage(id).first_job);
        let interrupt = job.is_some_and(|job| job.properties.interrupts_on_cancel());
        cx.to_tasks.push_back(TaskOrder::KillStage { stage: id, interrupt, reason: reason.to_owned() });
    }

    /// A barrier stage is retried as a whole: a map stage forgets its outputs, a result stage cannot.
    fn retry_barrier_as_a_whole(&mut self, cx: &mut Shared, id: StageId, message: &str) {
        match &self.stage(id).kind {
            StageKind::ShuffleMap(map_side) => {
                // The shuffle may be unregistered by now, and then has no outputs.
                let _ = cx.map_outputs.unregister_all_outputs(map_side.dependency.shuffle);
            }
            StageKind::Result(_) => {
                let reason = format!("a barrier result stage cannot be run again; {message}");
                self.abort_stage(cx, id, &reason, None);
            }
        }
    }
}
