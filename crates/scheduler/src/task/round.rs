//! One round of offers: executors with something free meet the task sets that wait.

use std::sync::Arc;

use firesteel_types::{Cpus, ExecutorId, Locality, ResourceAssignment};

use super::{
    launch::{Launch, Room},
    offer::{Answer, Offer, Picked},
    running::LaunchNote,
    scheduler::TaskScheduler,
};
use crate::{executors::Executor, pool::SetKey, shared::Shared};

/// The offers of one round, in random order, drawn one by one as they are looked at.
///
/// The first `drawn` are in their final order; the rest is still to be shuffled. A round that is over after two
/// launches has then drawn two of ten thousand offers and not shuffled them all.
#[derive(Debug, Default)]
struct Offers {
    list: Vec<ExecutorId>,
    drawn: usize,
}

/// What one task set made of a round.
#[derive(Debug, Default)]
struct SetRound {
    /// The best level launched at.
    best: Option<Locality>,
    refused_by_delay: bool,
    /// Tasks of a barrier set that have a place.
    placed: Vec<Placed>,
}

/// A task of a barrier set that waits for the others to get a place too.
#[derive(Debug)]
struct Placed {
    executor: ExecutorId,
    picked: Picked,
    resources: ResourceAssignment,
}

/// How a round covers the free resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coverage {
    /// All of them.
    Full,
    /// Those of the executors where something changed.
    Partial,
}

impl Offers {
    fn get(&mut self, at: usize, rng: &mut firesteel_types::Rng) -> Option<ExecutorId> {
        if at >= self.list.len() {
            return None;
        }
        if at >= self.drawn {
            debug_assert_eq!(at, self.drawn, "offers are looked at in order");
            let from = at + rng.below(self.list.len() - at);
            self.list.swap(at, from);
            self.drawn = at + 1;
        }
        Some(self.list[at])
    }

    /// Removes an offer that has nothing left. Another one of the same sweep takes its place.
    fn remove(&mut self, at: usize, sweep: &mut Sweep) {
        let mut hole = at;
        if let Some(len) = &mut sweep.only {
            *len -= 1;
            self.list.swap(at, *len);
            hole = *len;
        }
        self.drawn -= 1;
        self.list.swap(hole, self.drawn);
        self.list.swap_remove(self.drawn);
    }
}

/// One pass over the offers at one level.
#[derive(Debug, Default)]
struct Sweep {
    /// How many offers from the front it goes over, if not all.
    only: Option<usize>,
    /// How many offers gave something and have more, all of them at the front.
    gave: usize,
}

impl Sweep {
    /// The pass to make after this one, over the offers that gave something.
    ///
    /// What refused refuses again: the clock stands still, and a launch at this level leaves the lists that a better
    /// level waits for as they were, so no further level becomes allowed. In a cluster of ten thousand executors,
    /// where a set wants all the cores of one, that is one look at each of them and not one for every core.
    fn next(&self) -> Option<Self> {
        (self.gave > 0).then_some(Self { only: Some(self.gave), gave: 0 })
    }
}

impl TaskScheduler {
    /// Makes the offers that are due. Whether there were any.
    pub(crate) fn make_offers(&mut self, cx: &mut Shared) -> bool {
        let mut list = std::mem::take(&mut self.offers);
        list.clear();
        let mut changed = std::mem::take(&mut self.dirty);
        let coverage = if std::mem::take(&mut self.revive) {
            list.extend_from_slice(cx.executors.free());
            Coverage::Full
        } else if changed.is_empty() {
            (self.offers, self.dirty) = (list, changed);
            return false;
        } else {
            changed.sort_unstable();
            changed.dedup();
            let has_offer = |id: &ExecutorId| cx.executors.get(*id).is_some_and(Executor::has_offer);
            list.extend(changed.iter().copied().filter(has_offer));
            Coverage::Partial
        };
        self.leave_out_excluded(cx, &mut list);
        let mut offers = Offers { list, drawn: 0 };
        self.pools.begin_round();
        let mut sets_before = 0;
        // With exclusion on, every set is looked at even when nothing is free: it may have no place to run at all.
        while (!offers.list.is_empty() || self.health.is_some())
            && let Some(key) = self.pools.next_set()
        {
            self.offer_to_set(cx, key, &mut offers, coverage, sets_before);
            sets_before += 1;
        }
        self.pools.end_round();
        self.offers = offers.list;
        self.keep_ahead(cx, &changed);
        changed.clear();
        self.dirty = changed;
        true
    }

    fn leave_out_excluded(&mut self, cx: &mut Shared, list: &mut Vec<ExecutorId>) {
        let Some(health) = &mut self.health else { return };
        let mut effects = Vec::new();
        health.apply_timeouts(cx.now, &mut effects);
        let is_excluded = |id: ExecutorId| {
            health.is_executor_excluded(id)
                || cx.executors.host_name(id).is_some_and(|h| health.is_node_excluded(h))
        };
        list.retain(|id| !is_excluded(*id));
        self.perform_health(cx, effects);
    }

    fn offer_to_set(
        &mut self,
        cx: &mut Shared,
        key: SetKey,
        offers: &mut Offers,
        coverage: Coverage,
        sets_before: u32,
    ) {
        if self.set(key).set.barrier && !self.has_slots_for_all(cx, key, offers) {
            return;
        }
        let note = LaunchNote { offers: offers.list.len() as u32, sets_before, passed: [None; 4] };
        let mut round = SetRound::default();
        let mut at = 0;
        while let Some(level) = self.set(key).levels().nth(at) {
            // Sweeps of at most one task per executor spread the tasks out.
            let mut next = Some(Sweep::default());
            while let Some(mut sweep) = next {
                self.sweep(cx, key, level, offers, note, &mut sweep, &mut round);
                next = sweep.next();
            }
            at += 1;
        }
        if self.set(key).set.barrier && round.best.is_some() {
            self.launch_barrier(cx, key, offers, note, &mut round);
        }
        self.after_set(cx, key, coverage, &round);
    }

    /// One pass over the offers at one level.
    #[expect(clippy::too_many_arguments, reason = "what a pass reads and what it leaves behind")]
    fn sweep(
        &mut self,
        cx: &mut Shared,
        key: SetKey,
        level: Locality,
        offers: &mut Offers,
        note: LaunchNote,
        sweep: &mut Sweep,
        round: &mut SetRound,
    ) {
        let mut at = 0;
        while self.set(key).is_schedulable()
            && sweep.only.is_none_or(|len| at < len)
            && let Some(id) = offers.get(at, &mut self.rng)
        {
            let set = self.sets[key.0 as usize].as_mut().expect("keys are of active sets");
            let need = cx.profiles.need(set.set.profile).expect("stages are made with known profiles");
            let executor = cx.executors.known(id);
            let can_run = cx.profiles.can_run_on(set.set.profile, executor.profile)
                && executor.resources.can_take(need);
            let mut gave = false;
            if can_run {
                let hosts = &cx.executors.hosts;
                let (host, rack) = (executor.host, hosts.rack(executor.host));
                let offer = Offer { executor: id, host, host_name: hosts.name(host), rack };
                match set.offer(cx.now, offer, level, &cx.config.locality) {
                    Answer::Takes(picked) => {
                        gave = true;
                        round.best =
                            Some(round.best.map_or(picked.locality, |best| best.min(picked.locality)));
                        let resources =
                            cx.executors.take(id, need).expect("the need was checked against the offer");
                        if set.set.barrier {
                            set.place(picked.index);
                            round.placed.push(Placed { executor: id, picked, resources });
                        } else {
                            let room = Room::Slot(resources);
                            let launch = Launch { executor: id, picked, room, note, barrier: None };
                            self.launch(cx, key, launch);
                        }
                    }
                    Answer::RefusedByDelay => round.refused_by_delay = true,
                    Answer::Nothing => (),
                }
            }
            if cx.executors.known(id).resources.cpus_free() == Cpus::ZERO {
                offers.remove(at, sweep);
                continue;
            }
            if gave {
                offers.list.swap(sweep.gave, at);
                sweep.gave += 1;
            }
            at += 1;
        }
    }

    /// Starts all tasks of a barrier set, or none: then what they took is given back for others to use.
    fn launch_barrier(
        &mut self,
        cx: &mut Shared,
        key: SetKey,
        offers: &mut Offers,
        note: LaunchNote,
        round: &mut SetRound,
    ) {
        let mut placed = std::mem::take(&mut round.placed);
        let set = self.sets[key.0 as usize].as_mut().expect("keys are of active sets");
        if placed.len() < set.set.tasks.len() {
            set.unplace_all(&mut cx.executors);
            let cpus = cx.profiles.need(set.set.profile).expect("stages are made with known profiles").cpus;
            for one in placed {
                // An offer with nothing left was removed by the sweep.
                if cx.executors.known(one.executor).resources.cpus_free() == Cpus::ZERO {
                    offers.list.push(one.executor);
                }
                cx.executors.give_back(one.executor, cpus, &one.resources);
            }
            round.best = None;
            return;
        }
        placed.sort_unstable_by_key(|one| set.set.tasks[one.picked.index.index()].partition);
        let addresses: Arc<[_]> =
            placed.iter().map(|one| cx.executors.known(one.executor).address.clone()).collect();
        for one in placed {
            let Placed { executor, picked, resources } = one;
            let (room, barrier) = (Room::Slot(resources), Some(addresses.clone()));
            self.launch(cx, key, Launch { executor, picked, room, note, barrier });
        }
    }

    fn has_slots_for_all(&self, cx: &Shared, key: SetKey, offers: &Offers) -> bool {
        let set = &self.set(key).set;
        let need = cx.profiles.need(set.profile).expect("stages are made with known profiles");
        let fitting = offers.list.iter().map(|id| cx.executors.known(*id));
        let slots: u64 = fitting
            .filter(|executor| cx.profiles.can_run_on(set.profile, executor.profile))
            .map(|executor| u64::from(executor.resources.free_slots(need)))
            .sum();
        slots >= u64::from(set.len())
    }

    /// Draws the conclusions of a round for one set: its delay timer, and whether it can run at all.
    fn after_set(&mut self, cx: &mut Shared, key: SetKey, coverage: Coverage, round: &SetRound) {
        let set = self.sets[key.0 as usize].as_mut().expect("keys are of active sets");
        if round.refused_by_delay {
            set.no_refusals_since_reset = false;
            let next = set.levels.next_step(&cx.config.locality);
            self.timers.locality = self.timers.locality.into_iter().chain(next).min();
        } else if let Some(best) = round.best
            && (coverage == Coverage::Full || set.no_refusals_since_reset)
        {
            set.levels.reset(cx.now, best);
            set.no_refusals_since_reset = true;
        }
        if round.best.is_some() {
            self.clear_unschedulable(cx);
        } else {
            self.check_excluded_everywhere(cx, key);
        }
    }
}
