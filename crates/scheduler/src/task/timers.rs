//! What the passing of time does to task sets.

use firesteel_types::Timestamp;

use super::scheduler::TaskScheduler;
use crate::{
    effect::{Effect, Warning},
    exclusion::HealthTracker,
    shared::Shared,
};

impl TaskScheduler {
    /// The clock went on: does what is due.
    pub(crate) fn on_tick(&mut self, cx: &mut Shared) {
        let now = cx.now;
        let is_due = |timer: &mut Option<Timestamp>| timer.take_if(|at| *at <= now).is_some();
        let timers = &mut self.timers;
        self.revive |= is_due(&mut timers.revive) | is_due(&mut timers.locality);
        let (look, warn) = (is_due(&mut timers.speculation), is_due(&mut timers.starvation));
        let look_at_queues = is_due(&mut timers.ahead);
        if look {
            self.mark_speculatable(cx);
        }
        if look_at_queues {
            self.take_back_overdue(cx);
        }
        if warn && !self.has_launched && !self.by_id.is_empty() {
            cx.out.push(Effect::Warn(Warning::NoResourcesAccepted));
            self.timers.starvation = Some(now + cx.config.executors.starvation_interval);
        }
        // An exclusion that ends is applied by the round itself.
        self.revive |= self.health.as_ref().and_then(HealthTracker::next_expiry).is_some_and(|at| at <= now);
        self.abort_unschedulable(cx);
    }

    /// Sets the clocks that the state after an event asks for.
    pub(crate) fn arm_timers(&mut self, cx: &Shared) {
        // With exclusion on, a round also finds the sets that have no place at all.
        let is_of_use = self.health.is_some() || !cx.executors.free().is_empty();
        let could_offer = self.pools.has_schedulable() && is_of_use;
        let timers = &mut self.timers;
        if could_offer {
            timers.revive.get_or_insert(cx.now + cx.config.executors.revive_interval);
        } else {
            (timers.revive, timers.locality) = (None, None);
        }
        match &cx.config.speculation {
            Some(speculation) if !cx.config.local && !self.running.is_empty() => {
                timers.speculation.get_or_insert(cx.now + speculation.interval);
            }
            Some(_) | None => timers.speculation = None,
        }
        if self.has_launched {
            timers.starvation = None;
        }
        self.timers.ahead = self.next_look_at_queues(cx).map(|at| self.timers.ahead.unwrap_or(at));
    }

    /// When to wake the task scheduler.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let unschedulable = self.unschedulable.values().map(|waiting| waiting.abort_at).min();
        let expiry = self.health.as_ref().and_then(HealthTracker::next_expiry);
        let timers = &self.timers;
        let own = [timers.revive, timers.locality, timers.speculation, timers.starvation, timers.ahead];
        own.into_iter().chain([unschedulable, expiry]).flatten().min()
    }
}
