//! A map stage gives other rows when it runs again: what was computed from the old ones must go.

use std::collections::BTreeSet;

use firesteel_types::{Determinism, StageId};

use super::{
    job::JobTarget,
    lineage::Answers,
    scheduler::{DagScheduler, WillRetry},
    stage::StageKind,
};
use crate::shared::Shared;

impl DagScheduler {
    /// An indeterminate map stage lacks outputs: all of it runs, and everything that read what is left of them runs again.
    /// Whether the stage is still there to be submitted.
    ///
    /// That is so in the first attempt for a job too, also where content would be compared: what is left was made for
    /// earlier jobs, and what these have seen of a difference is not known here.
    pub(super) fn roll_back_before_attempt(&mut self, cx: &mut Shared, id: StageId) -> bool {
        let stage = self.stage(id);
        let Some(map_side) = stage.map_side().filter(|map_side| map_side.indeterminate) else { return true };
        let (shuffle, parent) = (map_side.dependency.shuffle, map_side.dependency.parent);
        let runs_as_a_whole = stage.next_attempt == 0 || stage.reruns_as_a_whole();
        if !runs_as_a_whole || self.is_available(cx, id) {
            return true;
        }
        let has_run = !self.unrepeatable.insert(shuffle) || cx.map_outputs.available(shuffle) > 0;
        if !has_run {
            return true;
        }
        self.roll_back_succeeding(cx, id, true);
        if !self.stages.contains_key(&id) {
            return false;
        }
        self.discard_stored(cx, &self.lineage.behind_shuffle(shuffle));
        if self.lineage.determinism(parent, &mut Answers::default()) != Determinism::Indeterminate {
            self.unrepeatable.remove(&shuffle);
        }
        true
    }

    /// A rerun registered other content than the run before, where that counts.
    pub(super) fn roll_back_after_mismatch(&mut self, cx: &mut Shared, id: StageId, attempt: u32) {
        let Some(map_side) = self.stage_mut(id).map_side_mut() else { return };
        if map_side.last_mismatch.is_none_or(|last| last < attempt) {
            map_side.last_mismatch = Some(attempt);
            let shuffle = map_side.dependency.shuffle;
            self.roll_back_succeeding(cx, id, false);
            self.discard_stored(cx, &self.lineage.behind_shuffle(shuffle));
        }
    }

    /// Discards what stages after `id` have computed in active jobs, and what `id` itself has if `with_itself`.
    pub(super) fn roll_back_succeeding(&mut self, cx: &mut Shared, id: StageId, with_itself: bool) {
        let mut stages = self.succeeding(id);
        if !with_itself {
            stages.remove(&id);
        }
        self.abort_where_impossible(cx, &stages);
        let has_jobs = self.jobs.values().any(|job| stages.contains(&job.final_stage));
        if !has_jobs {
            return;
        }
        // Running stages first, so that they do not run into the outputs that go.
        let (running, others): (Vec<_>, Vec<_>) =
            stages.into_iter().partition(|stage| self.running.contains(stage));
        for stage in running.into_iter().chain(others) {
            self.roll_back(cx, stage, id);
        }
    }

    /// `id` and every stage of an active job that reads from it, directly or not.
    fn succeeding(&self, id: StageId) -> BTreeSet<StageId> {
        let mut found = BTreeSet::from([id]);
        // Parents have lower ids, so one pass in ascending order finds every chain.
        for stage in self.stages.range(id..).map(|(_, stage)| stage) {
            if stage.parents.iter().any(|parent| found.contains(parent)) {
                found.insert(stage.id);
            }
        }
        found
    }

    /// Results that were handed out cannot be taken back, nor those that are on the way.
    fn abort_where_impossible(&mut self, cx: &mut Shared, stages: &BTreeSet<StageId>) {
        for id in stages {
            let Some(StageKind::Result(job)) = self.stages.get(id).map(|stage| &stage.kind) else { continue };
            let Some(JobTarget::Results(results)) = self.jobs.get(job).map(|job| &job.target) else {
                continue;
            };
            let reason = if let Some(by) = results.handed_out_by(*id) {
                format!(
                    "a map stage with indeterminate output ran again, and {by} has handed out results already; make \
                     the rows the same in each run (checkpoint before the repartition) and try again"
                )
            } else if self.running.contains(id) {
                format!(
                    "a map stage with indeterminate output ran again while {id} was running; run the job again"
                )
            } else {
                continue;
            };
            self.abort_stage(cx, *id, &reason, None);
        }
    }

    fn roll_back(&mut self, cx: &mut Shared, id: StageId, because: StageId) {
        let Some(stage) = self.stages.get(&id) else { return };
        let StageKind::ShuffleMap(map_side) = &stage.kind else {
            return self.ignore_attempts_so_far(cx, id);
        };
        let shuffle = map_side.dependency.shuffle;
        // A stage that has not run in these jobs may have outputs of earlier ones.
        let is_rolling_back = stage.ignored_up_to == Some(stage.latest_attempt());
        if is_rolling_back {
            return;
        }
        let reason = format!("rolled back because {because} has indeterminate output and ran again");
        if !self.running.contains(&id) || self.cancel_and_resubmit(cx, id, &reason) {
            // The shuffle may be unregistered by now, and then has no outputs.
            let _ = cx.map_outputs.unregister_all_outputs(shuffle);
        }
        if self.stages.contains_key(&id) {
            self.ignore_attempts_so_far(cx, id);
        }
    }

    /// What attempts of a stage give, or have been allowed to commit, does not count any more.
    fn ignore_attempts_so_far(&mut self, cx: &mut Shared, id: StageId) {
        let stage = self.stage_mut(id);
        stage.ignore_attempts_so_far();
        if let Some(last) = stage.ignored_up_to {
            cx.commits.on_stage_rolled_back(id, last);
        }
    }

    /// Ends a running attempt whose input is being replaced. Whether the stage will run again.
    fn cancel_and_resubmit(&mut self, cx: &mut Shared, id: StageId, reason: &str) -> bool {
        if !cx.config.can_kill_tasks {
            self.abort_stage(cx, id, &format!("its tasks cannot be killed; {reason}"), None);
            return false;
        }
        self.kill_stage(cx, id, reason);
        let stage = self.stage_mut(id);
        stage.failed_attempts.insert(stage.latest.id.attempt);
        let give_up = self.too_many_failures(cx, id, reason);
        let will_retry = if give_up.is_some() { WillRetry::No } else { WillRetry::Yes };
        self.mark_finished(cx, id, Some(reason), will_retry);
        match give_up {
            Some(reason) => {
                self.abort_stage(cx, id, &reason, None);
                false
            }
            None => {
                self.failed.insert(id);
                self.schedule_resubmit(cx);
                true
            }
        }
    }
}
