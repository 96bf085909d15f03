//! Attempts that were sent to an executor ahead of a free slot.
//!
//! An executor begins what it is sent in the order in which it was sent, one attempt for each slot. So the start of an
//! attempt that waits there need not be reported: the first of them begins when an attempt ends. They wait only where
//! everything that runs takes the same cpus as they do and nothing is free, so that each fits where another one was.

use firesteel_types::{AttemptId, Cpus, ExecutorId, ResourceAssignment, Timestamp};

use super::registry::{Executor, Executors};
use crate::resources::TaskNeed;

/// One attempt that waits on its executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentAhead {
    pub(crate) attempt: AttemptId,
    pub(crate) sent: Timestamp,
}

/// How many of the attempts that run on an executor take how many cpus: nearly always all of them the same.
#[derive(Debug, Default)]
pub(super) struct SlotSizes(Vec<(Cpus, u32)>);

impl SlotSizes {
    fn add(&mut self, cpus: Cpus) {
        match self.0.iter_mut().find(|(size, _)| *size == cpus) {
            Some((_, count)) => *count += 1,
            None => self.0.push((cpus, 1)),
        }
    }

    fn remove(&mut self, cpus: Cpus) {
        let at = self.0.iter().position(|(size, _)| *size == cpus).expect("what ends was counted");
        self.0[at].1 -= 1;
        if self.0[at].1 == 0 {
            self.0.swap_remove(at);
        }
    }
}

impl Executor {
    /// Whether attempts of this size can be sent ahead: any attempt that ends then leaves room for just one of them.
    pub(crate) fn is_full_of(&self, cpus: Cpus) -> bool {
        self.resources.cpus_free() == Cpus::ZERO && matches!(*self.sizes.0, [(size, _)] if size == cpus)
    }
}

impl Executors {
    /// Executors on which attempts wait, in no particular order.
    pub(crate) fn with_ahead(&self) -> impl Iterator<Item = ExecutorId> {
        self.with_ahead.iter().copied()
    }

    /// An attempt waits on an executor from now on, behind those that wait there already.
    pub(crate) fn send_ahead(&mut self, id: ExecutorId, sent: SentAhead) {
        if let Some(executor) = self.executors.get_mut(id) {
            if executor.ahead.is_empty() {
                self.with_ahead.insert(id);
            }
            executor.ahead.push_back(sent);
        }
    }

    /// An attempt that waited on an executor does not any more.
    pub(crate) fn drop_ahead(&mut self, id: ExecutorId, attempt: AttemptId) {
        if let Some(executor) = self.executors.get_mut(id) {
            executor.ahead.retain(|waiting| waiting.attempt != attempt);
            if executor.ahead.is_empty() {
                self.with_ahead.swap_remove(&id);
            }
        }
    }

    /// An attempt holds resources from now on, which were taken before.
    pub(crate) fn start_running(&mut self, id: ExecutorId, attempt: AttemptId, cpus: Cpus) {
        if let Some(executor) = self.executors.get_mut(id) {
            executor.running.push(attempt);
            executor.sizes.add(cpus);
        }
    }

    /// An attempt gives back what it took. The attempt that begins in its place, if one waits there. An executor
    /// that is gone took everything along.
    pub(crate) fn stop_running(
        &mut self,
        id: ExecutorId,
        attempt: AttemptId,
        cpus: Cpus,
        assignment: &ResourceAssignment,
    ) -> Option<AttemptId> {
        let executor = self.executors.get_mut(id)?;
        executor.running.retain(|running| *running != attempt);
        if executor.ahead.is_empty() {
            executor.sizes.remove(cpus);
            self.give_back(id, cpus, assignment);
            return None;
        }
        executor.resources.give_back(cpus, assignment).expect("only what was taken is given back");
        executor.resources.take(&TaskNeed::of_cpus(cpus)).expect("it has just been given back");
        let next = executor.ahead.pop_front().expect("it was looked at above").attempt;
        executor.running.push(next);
        if executor.ahead.is_empty() {
            self.with_ahead.swap_remove(&id);
        }
        Some(next)
    }

    /// Cross-checks what is known of attempts that wait.
    pub(super) fn check_ahead(&self) {
        for (id, executor) in self.iter() {
            let sized: u32 = executor.sizes.0.iter().map(|(_, count)| *count).sum();
            assert_eq!(sized as usize, executor.running.len(), "what runs on {id} has a size");
            let waits = !executor.ahead.is_empty();
            assert_eq!(self.with_ahead.contains(&id), waits, "{id} is listed while attempts wait there");
            if waits {
                assert_eq!(
                    executor.resources.cpus_free(),
                    Cpus::ZERO,
                    "no attempt waits on {id} for what is free"
                );
                assert_eq!(executor.sizes.0.len(), 1, "attempts wait on {id} for others of their size");
            }
        }
        assert!(self.with_ahead.iter().all(|id| self.get(*id).is_some()), "listed executors are registered");
    }
}
