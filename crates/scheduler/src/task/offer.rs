//! What a task set does with an offer.

use firesteel_types::{ExecutorId, Host, Locality, TaskIndex, Timestamp};

use super::{
    manager::TaskSetManager,
    pending::{Entry, PendingTasks},
};
use crate::{
    config::LocalityConfig,
    exclusion::TaskSetExcludelist,
    executors::{HostId, RackId},
};

/// One executor's offer to one task set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer<'a> {
    pub(super) executor: ExecutorId,
    pub(super) host: HostId,
    pub(super) host_name: &'a Host,
    pub(super) rack: Option<RackId>,
}

/// A task that takes the offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Picked {
    pub(super) index: TaskIndex,
    pub(super) locality: Locality,
    pub(super) speculative: bool,
}

/// What the set did with the offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// This task takes it.
    Takes(Picked),
    /// Tasks wait, but not for this place, or not yet.
    RefusedByDelay,
    /// Nothing of the set can run there.
    Nothing,
}

impl TaskSetManager {
    /// The task that takes this offer, no further from its data than `most` and than the time waited allows.
    ///
    /// The task leaves the list it was found in, and nothing else changes: the caller launches it, or for a barrier
    /// set puts it back.
    pub(super) fn offer(
        &mut self,
        now: Timestamp,
        offer: Offer<'_>,
        most: Locality,
        config: &LocalityConfig,
    ) -> Answer {
        if self.is_zombie || self.is_barred(offer.executor, offer.host_name) {
            return Answer::Nothing;
        }
        // Tasks without preference never wait, so the level that is only about them does not touch the timer.
        let allowed = match most {
            Locality::NoPref => Locality::NoPref,
            Locality::Process | Locality::Node | Locality::Rack | Locality::Any => {
                self.levels.allowed(now, &self.waiting, config).min(most)
            }
        };
        match self.dequeue(offer, allowed) {
            Some(picked) => Answer::Takes(picked),
            None if most == Locality::Any && self.is_schedulable() => Answer::RefusedByDelay,
            None => Answer::Nothing,
        }
    }

    /// A task for an executor that has nothing free yet. It leaves the list it was found in.
    ///
    /// Only one that would not be better off elsewhere: it prefers this executor, or this host and no task of the set
    /// prefers an executor, or it has no preference, or none of the places that tasks of the set prefer is alive.
    pub(super) fn take_for_ahead(&mut self, offer: Offer<'_>) -> Option<Picked> {
        let Self { tasks, pending, excludelist, .. } = self;
        let judge = |index: TaskIndex| {
            if !tasks[index.index()].is_waiting {
                Entry::Stale
            } else if excludelist
                .as_ref()
                .is_some_and(|list| list_bars(list, index, offer.executor, offer.host_name))
            {
                Entry::Barred
            } else {
                Entry::Take
            }
        };
        let node = || (self.waiting.executor == 0).then_some(());
        let any = || (self.levels.nth(0) == Some(Locality::Any)).then_some(());
        let (index, locality) = if let Some(index) = pending.take_for_executor(offer.executor, judge) {
            (index, Locality::Process)
        } else if let Some(index) = node().and_then(|()| pending.take_for_host(offer.host, judge)) {
            (index, Locality::Node)
        } else if let Some(index) = pending.take_without_preference(judge) {
            (index, Locality::Process)
        } else {
            (any().and_then(|()| pending.take_any(judge))?, Locality::Any)
        };
        Some(Picked { index, locality, speculative: false })
    }

    /// Ordinary tasks first; a second copy of a running one only if there is none.
    fn dequeue(&mut self, offer: Offer<'_>, allowed: Locality) -> Option<Picked> {
        let Self { tasks, pending, pending_copies, excludelist, speculatable, more_hosts, .. } = self;
        let is_barred = |index: TaskIndex| {
            excludelist.as_ref().is_some_and(|list| list_bars(list, index, offer.executor, offer.host_name))
        };
        if self.waiting.all > 0 {
            let found = take_by_level(pending, offer, allowed, |index| {
                if !tasks[index.index()].is_waiting {
                    Entry::Stale
                } else if is_barred(index) {
                    Entry::Barred
                } else {
                    Entry::Take
                }
            });
            if let Some((index, locality)) = found {
                return Some(Picked { index, locality, speculative: false });
            }
        }
        if speculatable.is_empty() {
            return None;
        }
        let was_here = |index: TaskIndex| {
            tasks[index.index()].first_host == Some(offer.host)
                || more_hosts.get(&index).is_some_and(|hosts| hosts.contains(&offer.host))
        };
        let (index, locality) = take_by_level(pending_copies, offer, allowed, |index| {
            if !speculatable.contains(&index) {
                Entry::Stale
            } else if was_here(index) || is_barred(index) {
                Entry::Barred
            } else {
                Entry::Take
            }
        })?;
        speculatable.remove(&index);
        Some(Picked { index, locality, speculative: true })
    }
}

/// Whether a task failed too often on an executor or its host to run there again.
pub(super) fn list_bars(
    list: &TaskSetExcludelist,
    index: TaskIndex,
    executor: ExecutorId,
    host: &Host,
) -> bool {
    list.is_executor_excluded_for_task(executor, index) || list.is_node_excluded_for_task(host, index)
}

/// The first task found in the lists for this executor, this host, no preference, this rack, and any, as far as
/// `allowed` goes, with the level it is launched at. A task without preference is as local as can be.
fn take_by_level(
    pending: &mut PendingTasks,
    offer: Offer<'_>,
    allowed: Locality,
    judge: impl Fn(TaskIndex) -> Entry + Copy,
) -> Option<(TaskIndex, Locality)> {
    if let Some(index) = pending.take_for_executor(offer.executor, judge) {
        return Some((index, Locality::Process));
    }
    if allowed >= Locality::Node
        && let Some(index) = pending.take_for_host(offer.host, judge)
    {
        return Some((index, Locality::Node));
    }
    if allowed >= Locality::NoPref
        && let Some(index) = pending.take_without_preference(judge)
    {
        return Some((index, Locality::Process));
    }
    if allowed >= Locality::Rack
        && let Some(rack) = offer.rack
        && let Some(index) = pending.take_for_rack(rack, judge)
    {
        return Some((index, Locality::Rack));
    }
    if allowed >= Locality::Any
        && let Some(index) = pending.take_any(judge)
    {
        return Some((index, Locality::Any));
    }
    None
}
