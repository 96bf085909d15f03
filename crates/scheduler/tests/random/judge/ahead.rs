//! Attempts that are sent ahead of a free slot: few, to full executors, begun in the order of sending, or returned.

use std::collections::BTreeSet;

use firesteel_scheduler::TaskDescription;
use firesteel_types::{AttemptId, ExecutorId};

use super::{Judge, Phase};

/// How often something happened, to see that the runs are about it at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct AheadCounts {
    pub sent: u32,
    pub asked_for: u32,
    pub returned: u32,
}

impl Judge {
    /// The attempts that wait on an executor, in the order in which they begin.
    fn waiting_on(&self, executor: ExecutorId) -> impl Iterator<Item = AttemptId> {
        let waits = move |attempt: &super::Attempt| {
            attempt.phase == Phase::Ahead && attempt.task.executor == executor
        };
        self.attempts.iter().filter(move |(_, attempt)| waits(attempt)).map(|(id, _)| *id)
    }

    /// Something ended on an executor: what was sent there first begins.
    pub(super) fn begin_next(&mut self, executor: ExecutorId) {
        let Some(id) = self.waiting_on(executor).next() else { return };
        let attempt = self.attempts.get_mut(&id).expect("it was found just now");
        attempt.phase = Phase::Running;
        self.executors.get_mut(&executor).expect("something ended there").take(&attempt.task);
        self.batch.begun.push(id);
    }

    /// An attempt that was sent ahead ended, and whether it had begun is unknown.
    pub(super) fn withdraw(&mut self, id: AttemptId) {
        let attempt = self.attempts.get_mut(&id).expect("callers looked it up");
        attempt.phase = Phase::Withdrawn;
        let (set, partition, number) = (attempt.task.set, attempt.task.partition, attempt.task.number);
        self.lose_commit(set, partition, number);
    }

    pub(super) fn hear_returned(&mut self, executor: ExecutorId, attempts: &[AttemptId]) {
        if self.executors.get(&executor).is_some_and(|known| known.is_disconnected) {
            return;
        }
        // The last one first, so that none of them begins when one before it ends.
        for id in attempts.iter().rev() {
            let Some(attempt) = self.attempts.get_mut(id) else { continue };
            if attempt.task.executor != executor || !attempt.task.ahead {
                continue;
            }
            match attempt.phase {
                Phase::Ahead => {
                    attempt.phase = Phase::Returned;
                    self.ahead_counts.returned += 1;
                }
                Phase::Running if !attempt.has_begun => {
                    (attempt.succeeds, attempt.carries) = (false, false);
                    self.end(*id);
                }
                _ => (),
            }
        }
    }

    pub(super) fn see_task_start(&mut self, id: AttemptId) {
        self.batch.last_started = Some(id);
        if let Some(attempt) = self.attempts.get_mut(&id) {
            assert!(attempt.task.ahead, "{id} begins after it was sent");
            assert!(!std::mem::replace(&mut attempt.is_announced, true), "{id} begins once");
            let has_begun = matches!(attempt.phase, Phase::Running | Phase::Reported);
            assert!(has_begun, "{id} begins when another one ended, or ends itself");
        }
    }

    pub(super) fn see_take_back(&mut self, executor: ExecutorId, attempts: &[AttemptId]) {
        assert!(!attempts.is_empty(), "{executor} is asked for something");
        self.ahead_counts.asked_for += attempts.len() as u32;
        for id in attempts {
            let attempt = self.attempts.get_mut(id).expect("what is asked for was launched");
            assert_eq!(attempt.task.executor, executor, "{id} is asked for where it is");
            // Its executor may be found to be lost in the same call.
            let waits = matches!(attempt.phase, Phase::Ahead | Phase::Withdrawn) || self.batch.events > 1;
            assert!(waits, "{id} is asked for while it waits");
            assert!(!std::mem::replace(&mut attempt.is_recalled, true), "{id} is asked for once");
        }
    }

    /// A task may wait on this executor.
    pub(super) fn check_sent_ahead(&mut self, task: &TaskDescription) {
        self.ahead_counts.sent += 1;
        let id = task.attempt;
        let executor = &self.executors[&task.executor];
        assert!(executor.is_full(), "{id} gets a slot if there is one");
        assert!(!task.speculative, "{id} is no copy");
        assert!(task.barrier.is_none() && task.resources.is_empty(), "{id} needs nothing but cpus");
        let waiting = 1 + self.waiting_on(task.executor).count() as u64;
        let slots = u64::from(executor.spec.cpus.slots(task.cpus));
        let most = slots * u64::from(self.config.keep_ahead.max_per_slot);
        assert!(waiting <= most, "no more than {most} wait on {}", task.executor);

        let set = &self.sets[&task.set];
        let is_of_set = |attempt: &&super::Attempt| attempt.task.set == task.set;
        let is_taken = |attempt: &&super::Attempt| !attempt.phase.is_over() || attempt.has_result;
        let taken = self.attempts.values().filter(is_of_set).filter(is_taken);
        let taken: BTreeSet<_> = taken.map(|attempt| attempt.task.index).collect();
        let in_batch = |id: &&AttemptId| self.attempts[*id].task.set == task.set;
        let pending =
            set.launch.tasks as usize - taken.len() + self.batch.launched.iter().filter(in_batch).count();
        let all: u64 = self.executors.values().map(|known| known.spec.cpus.as_nanos()).sum();
        let share = pending as u64 * executor.spec.cpus.as_nanos() / (2 * all);
        assert!(waiting <= share, "{waiting} of {pending} are no more than half of a fair share");
    }

    /// The listeners know of everything that has begun.
    pub(super) fn check_beginnings_told(&self) {
        for id in &self.batch.begun {
            assert!(self.attempts[id].is_announced, "the beginning of {id} is told");
        }
    }
}
