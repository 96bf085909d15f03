//! When the worker wants to be woken, and for what.
//!
//! [`Timers`] holds at most one time for each purpose. It only keeps times; what is due is handled elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use firesteel_types::{DriverId, ExecutorKey, Timestamp};

use super::ids::ProcessId;

/// What a timer is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// Try to register once more.
    Register,
    /// Send a heartbeat.
    Heartbeat,
    /// Look for old directories.
    Clean,
    /// Send the state of an executor again.
    SyncState(ExecutorKey),
    /// A process has not obeyed its last signal.
    Kill(ProcessId),
    /// Start a supervised driver again.
    Restart(DriverId),
}

/// A set of timers, ordered by time.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    by_time: BTreeSet<(Timestamp, Timer)>,
    times: BTreeMap<Timer, Timestamp>,
}

impl Timers {
    /// Sets `timer` to go off at `at`, instead of when it was set to before.
    pub(super) fn set(&mut self, timer: Timer, at: Timestamp) {
        self.cancel(&timer);
        self.times.insert(timer.clone(), at);
        self.by_time.insert((at, timer));
    }

    /// Takes `timer` back, if it is set.
    pub(super) fn cancel(&mut self, timer: &Timer) {
        if let Some(at) = self.times.remove(timer) {
            self.by_time.remove(&(at, timer.clone()));
        }
    }

    /// Takes all of them back.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Takes out the first timer that is due at `now`, with its time.
    pub(super) fn pop_due(&mut self, now: Timestamp) -> Option<(Timestamp, Timer)> {
        if self.next()? > now {
            return None;
        }
        let (at, timer) = self.by_time.pop_first().expect("a first time means that one is set");
        self.times.remove(&timer);
        Some((at, timer))
    }

    /// When the first goes off.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.by_time.first().map(|(at, _)| *at)
    }

    /// Whether `timer` is set.
    pub(super) fn is_set(&self, timer: &Timer) -> bool {
        self.times.contains_key(timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_come_out_in_order_of_time_and_only_when_due() {
        let mut timers = Timers::default();
        timers.set(Timer::Clean, Timestamp(1));
        timers.set(Timer::Heartbeat, Timestamp(3));
        timers.set(Timer::Clean, Timestamp(9));
        timers.set(Timer::Register, Timestamp(2));
        timers.cancel(&Timer::Register);

        assert_eq!(timers.pop_due(Timestamp(2)), None);
        assert_eq!(timers.pop_due(Timestamp(9)), Some((Timestamp(3), Timer::Heartbeat)));
        assert_eq!(timers.pop_due(Timestamp(9)), Some((Timestamp(9), Timer::Clean)));
        assert_eq!(timers.next(), None);
    }
}
