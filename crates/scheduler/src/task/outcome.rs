//! How the tasks of a set begin and end.

use firesteel_types::{AttemptId, ExecutorId, ListenerEvent, TaskFailure, TaskIndex, TaskInfo, Timestamp};

use super::{levels::Waiting, manager::TaskSetManager, pending::PendingTasks};
use crate::executors::{Executors, HostId};

/// What follows from a failure for the set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AfterFailure {
    /// The task waits again, or need not.
    GoOn,
    /// The set is given up for this reason.
    Abort(String),
}

/// Why an attempt that was sent ahead is not going to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Withdrawn {
    /// Its executor returned it.
    Returned,
    /// Its executor ended it or is gone. Whether it had begun is unknown.
    Lost,
}

impl TaskSetManager {
    /// An attempt of a task is launched: its number, counted from 0.
    pub(super) fn start(&mut self, index: TaskIndex, attempt: AttemptId) -> u32 {
        self.stop_waiting(index);
        let task = &mut self.tasks[index.index()];
        let number = task.attempts;
        task.attempts += 1;
        task.copies_running += 1;
        self.running.insert(attempt);
        number
    }

    /// An attempt of a task begins on a host. A second copy would do no better there.
    pub(super) fn note_host(&mut self, index: TaskIndex, host: HostId) {
        let task = &mut self.tasks[index.index()];
        if task.first_host.is_none() {
            task.first_host = Some(host);
        } else if task.first_host != Some(host) {
            self.more_hosts.entry(index).or_default().push(host);
        }
    }

    /// An attempt that was sent ahead is not going to begin: its task waits again.
    pub(super) fn withdraw(&mut self, info: &TaskInfo, why: Withdrawn, executors: &mut Executors) {
        self.stop(info.index, info.attempt);
        self.ahead -= 1;
        let task = &mut self.tasks[info.index.index()];
        // The number of an attempt that was returned has not been reported to any listener.
        if why == Withdrawn::Returned && task.attempts == info.number.0 + 1 {
            task.attempts -= 1;
        }
        self.wait_again(info.index, executors);
    }

    /// A task of a barrier set has a place in this round.
    pub(super) fn place(&mut self, index: TaskIndex) {
        self.stop_waiting(index);
    }

    /// Not every task of a barrier set got a place in the round: those that did wait again.
    ///
    /// The lists are made anew, because entries of placed tasks may have been dropped from some of them, and adding
    /// to all of them in each such round would let them grow without end.
    pub(super) fn unplace_all(&mut self, executors: &mut Executors) {
        (self.pending, self.waiting) = (PendingTasks::default(), Waiting::default());
        for index in (0..self.set.len()).rev().map(TaskIndex) {
            let task = &self.tasks[index.index()];
            if !task.is_done && task.copies_running == 0 {
                self.add_pending(index, executors);
            }
        }
    }

    /// An attempt ended, with any outcome.
    pub(super) fn stop(&mut self, index: TaskIndex, attempt: AttemptId) {
        let was_running = self.running.remove(&attempt);
        assert!(was_running, "{attempt} is stopped once");
        self.tasks[index.index()].copies_running -= 1;
    }

    /// An attempt that was stopped just now had succeeded.
    ///
    /// The task may be done already, by another attempt of the stage; the map output is this attempt's from now on.
    pub(super) fn succeed(&mut self, info: TaskInfo) {
        if !self.tasks[info.index.index()].is_done {
            self.finish_task(info.index);
        }
        if self.set.is_shuffle_map() {
            self.winners.entry(info.executor).or_default().push(info);
        }
    }

    /// A task needs no further attempt. The set is over when this was the last.
    fn finish_task(&mut self, index: TaskIndex) {
        self.stop_waiting(index);
        let task = &mut self.tasks[index.index()];
        // Should its output be lost later, the task has all its tries again.
        (task.is_done, task.failures) = (true, 0);
        self.speculatable.remove(&index);
        self.successful += 1;
        if self.all_done() {
            self.is_zombie = true;
        }
    }

    /// Another attempt of the stage completed a task. Its own copy, if one runs, is left alone.
    pub(super) fn output_completed(&mut self, output: u32) {
        if let Some(index) = self.set.task_for(output)
            && !self.is_done(index)
        {
            self.finish_task(index);
        }
    }

    /// An attempt that was stopped just now had failed.
    pub(super) fn fail(
        &mut self,
        now: Timestamp,
        (info, host): (&TaskInfo, HostId),
        failure: &TaskFailure,
        failures_max: u32,
        executors: &mut Executors,
        posted: &mut Vec<ListenerEvent>,
    ) -> AfterFailure {
        let index = info.index;
        if self.tasks[index.index()].copies_running == 0 {
            // An ordinary launch is due then, not a second copy.
            self.speculatable.remove(&index);
        }
        match failure {
            TaskFailure::FetchFailed(_) => {
                // The map output must be made again before this task can run: not in this set.
                if !self.is_done(index) {
                    self.tasks[index.index()].is_done = true;
                    self.successful += 1;
                }
                self.is_zombie = true;
            }
            TaskFailure::ResultNotSerializable { .. } | TaskFailure::OutputExists { .. } => {
                let name = self.describe(index);
                return AfterFailure::Abort(format!("{name} cannot succeed: {failure}"));
            }
            TaskFailure::Panicked { .. }
            | TaskFailure::ResultLost
            | TaskFailure::CommitDenied
            | TaskFailure::Killed { .. }
            | TaskFailure::ExecutorLost { .. }
            | TaskFailure::ExecutorShuttingDown
            | TaskFailure::Unknown => (),
        }
        if self.set.barrier {
            self.is_zombie = true;
        }
        if !self.is_zombie && failure.counts_towards_limit() {
            let text = format!("{} on {}: {failure}", self.describe_attempt(info), info.executor);
            if let Some(list) = &mut self.excludelist {
                // Before the task waits again, so that it cannot go back to where it failed.
                list.on_task_failed(now, info.executor, executors.hosts.name(host), index, failure, posted);
            }
            let task = &mut self.tasks[index.index()];
            task.failures += 1;
            if task.failures >= failures_max {
                let (failures, name) = (task.failures, self.describe(index));
                return AfterFailure::Abort(format!("{name} failed {failures} times, most recently: {text}"));
            }
        }
        self.wait_again(index, executors);
        AfterFailure::GoOn
    }

    /// Puts a task back unless it is done or another attempt of it runs.
    fn wait_again(&mut self, index: TaskIndex, executors: &mut Executors) {
        let task = &self.tasks[index.index()];
        if !task.is_done && task.copies_running == 0 {
            self.add_pending(index, executors);
            if !self.levels.cover(self.tasks[index.index()].listed) {
                // While nothing waited for such a place, the level was not worth trying.
                self.recompute_levels(executors);
            }
        }
    }

    /// The executor that held finished map outputs is gone: these tasks must run again.
    pub(super) fn undo_winners(
        &mut self,
        executor: ExecutorId,
        executors: &mut Executors,
        is_lost: impl Fn(&TaskInfo) -> bool,
    ) -> Vec<TaskInfo> {
        let mut lost = self.winners.remove(&executor).unwrap_or_default();
        lost.retain(is_lost);
        lost.sort_unstable_by_key(|info| info.attempt);
        for info in &lost {
            self.tasks[info.index.index()].is_done = false;
            self.successful -= 1;
            self.wait_again(info.index, executors);
        }
        lost
    }

    /// Counts the bytes of one more result. Whether they are too many now.
    pub(super) fn takes_too_much(&mut self, size_bytes: u64, limit: u64) -> Option<String> {
        if self.set.is_shuffle_map() {
            return None;
        }
        self.result_bytes = self.result_bytes.saturating_add(size_bytes);
        self.results_counted += 1;
        (limit > 0 && self.result_bytes > limit).then(|| {
            format!(
                "total size of serialized results of {} tasks ({} bytes) is bigger than firesteel.driver.maxResultSize \
                 ({limit} bytes)",
                self.results_counted, self.result_bytes,
            )
        })
    }

    /// A result is not wanted after all.
    pub(super) fn uncount_result(&mut self, size_bytes: u64) {
        if !self.set.is_shuffle_map() {
            self.result_bytes = self.result_bytes.saturating_sub(size_bytes);
            self.results_counted = self.results_counted.saturating_sub(1);
        }
    }

    pub(super) fn describe(&self, index: TaskIndex) -> String {
        format!("task {} of {}", index.0, self.set.id)
    }

    fn describe_attempt(&self, info: &TaskInfo) -> String {
        format!("task {}.{} of {} ({})", info.index.0, info.number.0, self.set.id, info.attempt)
    }
}
