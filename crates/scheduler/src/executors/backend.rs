//! How many executors the application wants, and when each was asked for.

use std::collections::{BTreeMap, VecDeque};

use firesteel_types::{ExecutorId, ProfileId, Timestamp};

use crate::effect::Effect;

/// The requests to the cluster manager.
#[derive(Debug, Default)]
pub(crate) struct Backend {
    /// Executors wanted in all; empty until the application asks, then the cluster manager's own number holds.
    totals: BTreeMap<ProfileId, u32>,
    /// Outstanding requests of each profile, oldest first.
    asked: BTreeMap<ProfileId, VecDeque<Asked>>,
    /// Decommission requests that came before their executor.
    early_decommissions: VecDeque<EarlyDecommission>,
    /// The highest executor id ever registered.
    highest_id: Option<ExecutorId>,
}

#[derive(Debug)]
struct Asked {
    count: u32,
    at: Timestamp,
}

/// A decommission request for an executor that is not registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EarlyDecommission {
    pub(crate) executor: ExecutorId,
    pub(crate) worker_host: Option<firesteel_types::Host>,
    pub(crate) adjust_target: bool,
    pub(crate) by_executor: bool,
}

impl Backend {
    const EXECUTORS_MAX: u32 = i32::MAX as u32;

    /// More executors of the default profile are wanted.
    pub(crate) fn add(&mut self, now: Timestamp, additional: u32, out: &mut Vec<Effect>) {
        let before = self.totals.get(&ProfileId::DEFAULT).copied().unwrap_or(0);
        let total = before.saturating_add(additional).min(Self::EXECUTORS_MAX);
        self.totals.insert(ProfileId::DEFAULT, total);
        self.note(now, ProfileId::DEFAULT, before, total);
        self.publish(out);
    }

    /// This many executors are wanted in all; profiles that are not named are wanted no more.
    pub(crate) fn set(&mut self, now: Timestamp, totals: BTreeMap<ProfileId, u32>, out: &mut Vec<Effect>) {
        let before = std::mem::replace(&mut self.totals, totals.clone());
        for (profile, total) in totals {
            self.note(now, profile, before.get(&profile).copied().unwrap_or(0), total);
        }
        self.publish(out);
    }

    /// These executors are not to be replaced.
    pub(crate) fn lower(&mut self, profiles: impl IntoIterator<Item = ProfileId>, out: &mut Vec<Effect>) {
        // Executors that came by default were never asked for: once one of them goes, none is wanted beyond those
        // that are left, and that is a total of zero to the cluster manager.
        let unasked = self.totals.is_empty();
        for profile in profiles {
            let total = self.totals.entry(profile).or_insert(0);
            *total = if unasked { 0 } else { total.saturating_sub(1) };
        }
        self.publish(out);
    }

    /// The totals as they are, again: an executor was killed to be replaced.
    pub(crate) fn publish(&self, out: &mut Vec<Effect>) {
        out.push(Effect::RequestExecutors { totals: self.totals.iter().map(|(id, n)| (*id, *n)).collect() });
    }

    /// An executor registered: the time when it was asked for, if it was.
    pub(crate) fn registered(&mut self, executor: ExecutorId, profile: ProfileId) -> Option<Timestamp> {
        if executor != ExecutorId::DRIVER {
            self.highest_id = self.highest_id.max(Some(executor));
        }
        let requests = self.asked.get_mut(&profile)?;
        let oldest = requests.front_mut()?;
        let at = oldest.at;
        oldest.count -= 1;
        if oldest.count == 0 {
            requests.pop_front();
        }
        Some(at)
    }

    /// The highest executor id ever registered, so that a new manager does not use one twice.
    pub(crate) fn highest_id(&self) -> Option<ExecutorId> {
        self.highest_id
    }

    /// Keeps a decommission request whose executor may still come.
    pub(crate) fn remember(&mut self, early: EarlyDecommission, most: usize) {
        self.early_decommissions.retain(|kept| kept.executor != early.executor);
        self.early_decommissions.push_back(early);
        while self.early_decommissions.len() > most {
            self.early_decommissions.pop_front();
        }
    }

    /// The decommission request that came before this executor, if one did.
    pub(crate) fn take_early(&mut self, executor: ExecutorId) -> Option<EarlyDecommission> {
        let at = self.early_decommissions.iter().position(|early| early.executor == executor)?;
        self.early_decommissions.remove(at)
    }

    /// Notes when executors were asked for, or strikes out the oldest requests when fewer are wanted.
    fn note(&mut self, now: Timestamp, profile: ProfileId, before: u32, total: u32) {
        let requests = self.asked.entry(profile).or_default();
        if total > before {
            requests.push_back(Asked { count: total - before, at: now });
        }
        let mut surplus = before.saturating_sub(total);
        while surplus > 0 {
            let Some(oldest) = requests.front_mut() else { break };
            let struck = oldest.count.min(surplus);
            oldest.count -= struck;
            surplus -= struck;
            if oldest.count == 0 {
                requests.pop_front();
            }
        }
    }
}
