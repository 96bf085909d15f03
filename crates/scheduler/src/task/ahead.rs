//! Keeping executors ahead: short tasks are sent before a slot is free, so that none waits for a round trip.
//!
//! Slots are always filled first, everywhere. Only an executor on which something has just ended, and which is full
//! again, is then sent tasks to begin after those that run. It gets about two milliseconds of work for each slot, by
//! what the set's tasks really took, and never more than half of its share of what waits, so that the end of a stage
//! comes to all executors at the same time. No set's claim is passed over: it is the first set in pool order that
//! may, if it need not share (FAIR) with others that wait too, and only with tasks that have no better place.
//!
//! The executor's side of the contract: it begins what it is sent in the order in which it was sent, as cpus become
//! free, and its reports arrive in the order of what happened. Then each report that an attempt ended also tells which
//! one has begun. What is not wanted there after all is taken back (`take_back.rs`).

use firesteel_types::ExecutorId;

use super::{
    launch::{Launch, Room},
    offer::Offer,
    running::LaunchNote,
    scheduler::TaskScheduler,
};
use crate::{executors::Executor, pool::SetKey, shared::Shared};

impl TaskScheduler {
    /// Sends tasks ahead to those of `changed` that run low.
    pub(super) fn keep_ahead(&mut self, cx: &mut Shared, changed: &[ExecutorId]) {
        if cx.config.keep_ahead.max_per_slot == 0 {
            return;
        }
        for id in changed {
            let Some(key) = self.pools.sole_claimant() else { return };
            self.keep_one_ahead(cx, key, *id);
        }
    }

    fn keep_one_ahead(&mut self, cx: &mut Shared, key: SetKey, id: ExecutorId) {
        let wanted = self.wanted_ahead(cx, key, id);
        let mut best = None;
        for _ in 0..wanted {
            let executor = cx.executors.known(id);
            let hosts = &cx.executors.hosts;
            let (host, rack) = (executor.host, hosts.rack(executor.host));
            let offer = Offer { executor: id, host, host_name: hosts.name(host), rack };
            let set = self.sets[key.0 as usize].as_mut().expect("keys are of active sets");
            let Some(picked) = set.take_for_ahead(offer) else { break };
            best = best.into_iter().chain([picked.locality]).min();
            let (room, note) = (Room::Ahead, LaunchNote::default());
            self.launch(cx, key, Launch { executor: id, picked, room, note, barrier: None });
        }
        let Some(best) = best else { return };
        // As if they had been launched when a slot was free, one after the other.
        let set = self.set_mut(key);
        if set.no_refusals_since_reset {
            set.levels.reset(cx.now, best);
        }
        self.clear_unschedulable(cx);
    }

    /// How many tasks of a set an executor is sent now.
    fn wanted_ahead(&self, cx: &Shared, key: SetKey, id: ExecutorId) -> u64 {
        let set = self.set(key);
        let need = cx.profiles.need(set.set.profile).expect("stages are made with known profiles");
        let Some(executor) = cx.executors.get(id).filter(|executor| executor.is_full_of(need.cpus)) else {
            return 0;
        };
        let fits = executor.is_active()
            && need.is_cpus_only()
            && !set.set.barrier
            && cx.profiles.can_run_on(set.set.profile, executor.profile)
            && !self.is_excluded(cx, id, executor)
            && !set.is_barred(id, cx.executors.hosts.name(executor.host));
        // One that is to return what waits there would only have to return more.
        let is_recalled = executor.ahead.back().is_some_and(|last| self.running[&last.attempt].recalled);
        if !fits || is_recalled {
            return 0;
        }
        let slots = u64::from(executor.resources.cpus_total().slots(need.cpus));
        let most = slots * u64::from(set.pace.depth(&cx.config.keep_ahead));
        let target = most.min(fair_share(cx, set.waiting(), executor));
        let waiting = executor.ahead.len() as u64;
        // Half of it must be used up, so that one message brings many tasks.
        if 2 * waiting > target { 0 } else { target - waiting }
    }

    pub(super) fn is_excluded(&self, cx: &Shared, id: ExecutorId, executor: &Executor) -> bool {
        let host = cx.executors.hosts.name(executor.host);
        self.health
            .as_ref()
            .is_some_and(|health| health.is_executor_excluded(id) || health.is_node_excluded(host))
    }
}

/// Half of an executor's share of what waits, by its cpus.
fn fair_share(cx: &Shared, waiting: u32, executor: &Executor) -> u64 {
    let (own, all) = (executor.resources.cpus_total().as_nanos(), cx.executors.total_cpus().as_nanos());
    let share = u128::from(waiting) * u128::from(own) / (2 * u128::from(all)).max(1);
    u64::try_from(share).unwrap_or(u64::MAX)
}
