//! Taking tasks back that were sent ahead and have not begun.
//!
//! A queue that has not moved on in time was a mistake: its tasks turned out long, or its executor is slow or stuck.
//! It is taken back when the tasks could run elsewhere: a free slot elsewhere or a set with an older claim. What
//! should not begin at all is taken back at once: the tasks of a set that is closed, and those on an executor that
//! drains or is excluded.
//!
//! The executor returns what it has not begun, and what it has goes on. Each attempt is asked for once. A returned
//! one leaves no trace: its task waits as before, nothing failed, and no listener ever heard of it.

use std::collections::BTreeMap;

use firesteel_types::{
    AttemptId, ExecutorId, ListenerEvent, TaskEndReason, TaskFailure, TaskMetrics, Timestamp,
};

use super::{
    outcome::Withdrawn,
    pace::WORK_AHEAD,
    running::{RunPhase, Running},
    scheduler::TaskScheduler,
};
use crate::{
    effect::{Effect, Ignored},
    pool::SetKey,
    shared::Shared,
};

const TAKEN_BACK: &str = "taken back before it began";

impl TaskScheduler {
    /// An executor returns attempts that it has not begun and will not begin.
    pub(crate) fn on_returned(&mut self, cx: &mut Shared, executor: ExecutorId, attempts: Vec<AttemptId>) {
        if cx.executors.get(executor).is_some_and(|known| known.loss_pending) {
            return cx.ignore(Ignored::ContactLost { executor });
        }
        // The last one first: what is put back last is looked at first.
        for attempt in attempts.into_iter().rev() {
            match self.running.get(&attempt) {
                Some(running) if running.info.executor != executor => {
                    cx.ignore(Ignored::WrongExecutor { attempt, executor });
                }
                Some(Running { phase: RunPhase::Ahead, .. }) => {
                    self.withdraw(cx, attempt, Withdrawn::Returned);
                }
                // It was taken for begun when another one ended, and the listeners were told.
                Some(Running { phase: RunPhase::Launching, ahead: true, .. }) => {
                    self.free_resources(cx, attempt);
                    let (failure, metrics) = (TaskFailure::killed(TAKEN_BACK), TaskMetrics::default());
                    self.fail_attempt(cx, attempt, failure, metrics, false);
                }
                Some(_) => cx.ignore(Ignored::NotAhead { attempt }),
                None => cx.ignore(Ignored::UnknownAttempt { attempt }),
            }
        }
    }

    /// An attempt that was sent ahead is not going to begin.
    pub(super) fn withdraw(&mut self, cx: &mut Shared, attempt: AttemptId, why: Withdrawn) {
        let running = self.running.swap_remove(&attempt).expect("the caller looked the attempt up");
        assert!(running.is_ahead(), "{attempt} has not begun");
        let (key, info) = (running.set, running.info);
        cx.executors.drop_ahead(info.executor, attempt);
        self.ahead -= 1;
        let set = self.set_mut(key);
        set.withdraw(&info, why, &mut cx.executors);
        let id = set.set.id;
        self.revive |= set.is_schedulable() && set.is_waiting(info.index);
        if why == Withdrawn::Lost {
            // Its executor may have begun it, so it may have asked to commit.
            let failed = TaskEndReason::Failed(TaskFailure::killed(TAKEN_BACK));
            cx.commits.on_task_ended(id.stage, id.attempt, info.partition, info.number, &failed);
        }
        self.refresh_schedulable(key);
        self.remove_if_finished(cx, key);
    }

    /// Asks an executor for everything that waits there.
    pub(crate) fn take_back(&mut self, cx: &mut Shared, executor: ExecutorId) {
        let waiting = cx.executors.get(executor).map(|known| &known.ahead);
        let attempts: Vec<_> = waiting.into_iter().flatten().map(|sent| sent.attempt).collect();
        self.ask_for(cx, executor, attempts);
    }

    fn ask_for(&mut self, cx: &mut Shared, executor: ExecutorId, mut attempts: Vec<AttemptId>) {
        attempts.retain(|attempt| !std::mem::replace(&mut self.running[attempt].recalled, true));
        if !attempts.is_empty() {
            cx.out.push(Effect::TakeBackTasks { executor, attempts });
        }
    }

    /// Takes back what was sent ahead of sets that have been closed since: a closed set begins nothing more.
    pub(crate) fn take_back_closed(&mut self, cx: &mut Shared) {
        for key in std::mem::take(&mut self.closed_ahead) {
            let Some(Some(set)) = self.sets.get(key.0 as usize) else { continue };
            if !set.is_zombie {
                continue; // Another set has the key now.
            }
            let mut by_executor: BTreeMap<ExecutorId, Vec<AttemptId>> = BTreeMap::new();
            for attempt in set.running() {
                let running = &self.running[&attempt];
                if running.is_ahead() {
                    by_executor.entry(running.info.executor).or_default().push(attempt);
                }
            }
            for (executor, attempts) in by_executor {
                self.ask_for(cx, executor, attempts);
            }
        }
    }

    /// Listeners are told of an exclusion: what waits there is to begin elsewhere.
    pub(super) fn take_back_excluded(&mut self, cx: &mut Shared, event: &ListenerEvent) {
        match event {
            ListenerEvent::ExecutorExcluded { executor, .. } => self.take_back(cx, *executor),
            ListenerEvent::NodeExcluded { host, .. } => {
                let host = cx.executors.hosts.find(host);
                let there: Vec<_> = cx
                    .executors
                    .with_ahead()
                    .filter(|id| Some(cx.executors.known(*id).host) == host)
                    .collect();
                for executor in there {
                    self.take_back(cx, executor);
                }
            }
            _ => (),
        }
    }

    /// When to look for queues that do not move, if another executor or set could use what waits in them.
    pub(super) fn next_look_at_queues(&self, cx: &Shared) -> Option<Timestamp> {
        let is_free = || !cx.executors.free().is_empty();
        let is_rival = |first: SetKey| self.set(first).ahead < self.ahead;
        let is_of_use = self.ahead > 0 && (is_free() || self.pools.first().is_some_and(is_rival));
        is_of_use.then(|| cx.now + WORK_AHEAD)
    }

    /// Takes back the queues that have not moved on in time, where another executor or set can use their tasks.
    pub(super) fn take_back_overdue(&mut self, cx: &mut Shared) {
        let mut patience = BTreeMap::new();
        let mut overdue = Vec::new();
        for id in cx.executors.with_ahead() {
            let executor = cx.executors.known(id);
            let first = executor.ahead.front().expect("attempts wait on those that are listed");
            let key = self.running[&first.attempt].set;
            let patience = *patience.entry(key).or_insert_with(|| {
                self.is_wanted_back(cx, key).then(|| self.set(key).pace.patience(&cx.config.keep_ahead))
            });
            let is_overdue = patience.is_some_and(|patience| first.sent + patience <= cx.now);
            if is_overdue && !executor.loss_pending {
                overdue.push(id);
            }
        }
        overdue.sort_unstable();
        for id in overdue {
            self.take_back(cx, id);
        }
    }

    /// Whether the tasks of a set could begin elsewhere, or another set has the older claim to where they wait.
    fn is_wanted_back(&self, cx: &Shared, key: SetKey) -> bool {
        if self.pools.first().is_some_and(|first| first != key && self.pools.is_before(first, key)) {
            return true;
        }
        let set = self.set(key);
        let need = cx.profiles.need(set.set.profile).expect("stages are made with known profiles");
        cx.executors.free().iter().any(|id| {
            let executor = cx.executors.known(*id);
            executor.resources.can_take(need)
                && cx.profiles.can_run_on(set.set.profile, executor.profile)
                && !self.is_excluded(cx, *id, executor)
                && !set.is_barred(*id, cx.executors.hosts.name(executor.host))
        })
    }
}
