//! The driver's record of when each executor was last heard.
//!
//! [`HeartbeatReceiver`] answers heartbeats and finds the executors that went silent. It does not read what a
//! heartbeat carries and does not end executors: its caller does both.

use std::{collections::BTreeMap, time::Duration};

use firesteel_types::{ExecutorId, ExecutorLossReason, Timestamp};
use serde::{Deserialize, Serialize};

use super::HeartbeatConfig;

/// Knows when each executor was last heard, and who was silent for too long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatReceiver {
    executor_timeout: Duration,
    check_interval: Duration,
    phase: Phase,
    last_seen: BTreeMap<ExecutorId, Timestamp>,
    next_check: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    /// The scheduler cannot take heartbeats yet.
    Starting,
    Ready,
    /// The context is stopped.
    Stopped,
}

/// What follows from a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatReply {
    /// Whether the scheduler is to see what the heartbeat carries.
    pub pass_on: bool,
    /// Whether the executor is asked to register its block manager again.
    pub reregister_block_manager: bool,
}

/// An executor that was silent for too long.
///
/// It is to be killed in such a way that a replacement comes (the wanted number stays), and to be removed from the
/// backend with [`Self::loss_reason`] without waiting for its connection to break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpiredExecutor {
    /// The executor.
    pub executor: ExecutorId,
    /// How long nothing was heard of it.
    pub silent_for: Duration,
}

impl ExpiredExecutor {
    /// The reason with which the executor is lost.
    pub fn loss_reason(&self) -> ExecutorLossReason {
        ExecutorLossReason::process_lost(format!(
            "executor heartbeat timed out after {} ms",
            self.silent_for.as_millis()
        ))
    }
}

impl HeartbeatReceiver {
    /// A receiver that knows no executor, made at `now` while the scheduler is not ready.
    pub fn new(config: &HeartbeatConfig, now: Timestamp) -> Self {
        Self {
            executor_timeout: config.executor_timeout(),
            check_interval: config.check_interval,
            phase: Phase::Starting,
            last_seen: BTreeMap::new(),
            next_check: now + config.check_interval,
        }
    }

    /// From now on the scheduler takes heartbeats.
    pub fn on_scheduler_ready(&mut self) {
        match self.phase {
            Phase::Starting => self.phase = Phase::Ready,
            Phase::Ready | Phase::Stopped => {}
        }
    }

    /// The context stopped: no executor expires any more, and none is asked to register.
    pub fn on_stopped(&mut self) {
        self.phase = Phase::Stopped;
        self.last_seen.clear();
    }

    /// Takes a new executor, which counts as heard now.
    pub fn on_executor_added(&mut self, now: Timestamp, executor: ExecutorId) {
        match self.phase {
            Phase::Starting | Phase::Ready => {
                if self.last_seen.is_empty() && self.next_check <= now {
                    // No executor was known when the check was due.
                    self.next_check = now + self.check_interval;
                }
                self.last_seen.insert(executor, now);
            }
            Phase::Stopped => {} // It came too late to be watched.
        }
    }

    /// Forgets an executor that is gone. A heartbeat of it may still be on its way.
    pub fn on_executor_removed(&mut self, executor: ExecutorId) {
        self.last_seen.remove(&executor);
    }

    /// Takes a heartbeat; `block_manager_known` tells whether the block manager master knows the executor's.
    pub fn on_heartbeat(
        &mut self,
        now: Timestamp,
        executor: ExecutorId,
        block_manager_known: bool,
    ) -> HeartbeatReply {
        match self.phase {
            Phase::Stopped => HeartbeatReply { pass_on: false, reregister_block_manager: false },
            Phase::Starting => HeartbeatReply { pass_on: false, reregister_block_manager: true },
            Phase::Ready => match self.last_seen.get_mut(&executor) {
                Some(last_seen) => {
                    *last_seen = now.max(*last_seen);
                    HeartbeatReply { pass_on: true, reregister_block_manager: !block_manager_known }
                }
                // Mostly a heartbeat that was on its way when the executor was removed.
                None => HeartbeatReply { pass_on: false, reregister_block_manager: true },
            },
        }
    }

    /// Takes out the executors that were silent for longer than the timeout, once in each check interval.
    ///
    /// Between two checks the list is empty. One check looks at every executor: that is cheaper than to keep them in
    /// the order of their heartbeats, of which there are hundreds for every check.
    pub fn expired(&mut self, now: Timestamp) -> Vec<ExpiredExecutor> {
        if now < self.next_check {
            return Vec::new();
        }
        self.next_check += self.check_interval;
        if self.next_check <= now {
            self.next_check = now + self.check_interval; // Missed checks are not made up for.
        }
        let timeout = self.executor_timeout;
        self.last_seen
            .extract_if(.., |_, last_seen| now.since(*last_seen) > timeout)
            .map(|(executor, last_seen)| ExpiredExecutor { executor, silent_for: now.since(last_seen) })
            .collect()
    }

    /// When [`Self::expired`] looks next; never while there is no executor to look at.
    pub fn next_check(&self) -> Option<Timestamp> {
        (!self.last_seen.is_empty()).then_some(self.next_check)
    }

    /// Whether no executor is watched.
    pub fn is_quiescent(&self) -> bool {
        self.last_seen.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: ExecutorId = ExecutorId(1);
    const TWO: ExecutorId = ExecutorId(2);
    const PASSED_ON: HeartbeatReply = HeartbeatReply { pass_on: true, reregister_block_manager: false };
    const REREGISTER: HeartbeatReply = HeartbeatReply { pass_on: false, reregister_block_manager: true };

    fn at(secs: u64) -> Timestamp {
        Timestamp::from_secs(secs)
    }

    /// A ready receiver that heard of executors 1 and 2 at the origin of time.
    fn ready() -> HeartbeatReceiver {
        let mut receiver = HeartbeatReceiver::new(&HeartbeatConfig::default(), at(0));
        receiver.on_scheduler_ready();
        receiver.on_executor_added(at(0), ONE);
        receiver.on_executor_added(at(0), TWO);
        receiver
    }

    /// Behaviours: HB-002.
    #[test]
    fn a_heartbeat_of_a_known_executor_is_passed_on_and_refreshes_it() {
        let mut receiver = ready();

        assert_eq!(receiver.on_heartbeat(at(100), ONE, true), PASSED_ON);
        assert_eq!(
            receiver.on_heartbeat(at(100), TWO, false),
            HeartbeatReply { pass_on: true, reregister_block_manager: true }
        );

        assert_eq!(receiver.expired(at(180)), []);
    }

    /// Behaviours: HB-003.
    #[test]
    fn unknown_and_removed_executors_are_asked_to_register_again() {
        let mut receiver = ready();
        receiver.on_executor_removed(TWO);

        assert_eq!(receiver.on_heartbeat(at(1), ExecutorId(9), true), REREGISTER);
        assert_eq!(receiver.on_heartbeat(at(1), TWO, true), REREGISTER);

        receiver.on_heartbeat(at(179), ONE, true);
        assert_eq!(receiver.expired(at(180)), [], "such a heartbeat registers no executor");
    }

    /// Behaviours: HB-003.
    #[test]
    fn heartbeats_before_the_scheduler_is_ready_ask_to_register_again() {
        let mut receiver = HeartbeatReceiver::new(&HeartbeatConfig::default(), at(0));
        receiver.on_executor_added(at(0), ONE);

        assert_eq!(receiver.on_heartbeat(at(1), ONE, true), REREGISTER);
        receiver.on_scheduler_ready();

        assert_eq!(receiver.on_heartbeat(at(2), ONE, true), PASSED_ON);
    }

    /// Behaviours: HB-004.
    #[test]
    fn public_is_asked_to_register_once_the_context_is_stopped() {
        let silence = HeartbeatReply { pass_on: false, reregister_block_manager: false };
        let mut receiver = ready();
        receiver.on_stopped();
        receiver.on_scheduler_ready();
        receiver.on_executor_added(at(1), ExecutorId(3));

        let replies = [ONE, ExecutorId(3), ExecutorId(9)].map(|who| receiver.on_heartbeat(at(2), who, false));

        assert_eq!(replies, [silence; 3]);
        assert_eq!((receiver.expired(at(1_000)), receiver.next_check()), (Vec::new(), None));
        assert!(receiver.is_quiescent());
    }

    /// Behaviours: HB-005.
    #[test]
    fn executors_expire_when_silent_for_strictly_longer_than_the_timeout() {
        let mut receiver = ready();
        receiver.on_heartbeat(at(60), TWO, true);

        assert_eq!(receiver.expired(at(120)), [], "the timeout itself is not too long");
        let expired = receiver.expired(at(180));

        assert_eq!(expired, [ExpiredExecutor { executor: ONE, silent_for: Duration::from_mins(3) }]);
        assert_eq!(
            expired[0].loss_reason(),
            ExecutorLossReason::process_lost("executor heartbeat timed out after 180000 ms")
        );
        assert_eq!(receiver.on_heartbeat(at(181), ONE, true), REREGISTER, "it is forgotten");
        assert_eq!(
            receiver.expired(at(240)),
            [ExpiredExecutor { executor: TWO, silent_for: Duration::from_mins(3) }]
        );
        assert!(receiver.is_quiescent());
    }

    /// Behaviours: HB-005.
    #[test]
    fn silence_is_looked_for_once_in_each_check_interval() {
        let mut receiver = ready();
        assert_eq!(receiver.next_check(), Some(at(60)));
        receiver.expired(at(61));
        assert_eq!(receiver.next_check(), Some(at(120)), "a late check does not shift the others");
        receiver.expired(at(120));

        assert_eq!(receiver.expired(at(179)), [], "both are over the timeout, but it is not time");
        assert_eq!(receiver.expired(at(400)).len(), 2);

        receiver.on_executor_added(at(401), ONE);
        assert_eq!(receiver.next_check(), Some(at(460)), "missed checks are not made up for");
    }
}
