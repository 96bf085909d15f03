//! The executor's side of heartbeats: when to send, and when to give up.
//!
//! [`HeartbeatSender`] neither gathers what a heartbeat carries nor sends it: its caller does, and reports how it
//! went.

use std::time::Duration;

use firesteel_types::{ExecutorLossReason, Rng, Timestamp};
use serde::{Deserialize, Serialize};

use super::HeartbeatConfig;

/// Decides when an executor sends its next heartbeat and what follows from the answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatSender {
    interval: Duration,
    max_failures: u32,
    failures_in_a_row: u32,
    phase: Phase,
    next_send: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Running,
    ShuttingDown,
}

/// What the executor does after a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum SenderAction {
    /// Go on.
    Continue,
    /// Register the block manager again.
    ReregisterBlockManager,
    /// End the process: the driver is out of reach, so no work done here can be of use.
    Exit { code: i32 },
}

impl HeartbeatSender {
    /// The exit code of an executor that could not reach its driver.
    pub const EXIT_CODE: i32 = ExecutorLossReason::EXIT_HEARTBEATS_FAILED;

    /// A sender for an executor that starts at `now`.
    ///
    /// The first heartbeat comes after the interval and a part of it chosen by `rng`, so that executors started
    /// together do not all report at the same moment.
    pub fn new(config: &HeartbeatConfig, now: Timestamp, rng: &mut Rng) -> Self {
        let interval_us = usize::try_from(config.interval.as_micros()).unwrap_or(usize::MAX);
        let random_part = Duration::from_micros(rng.below(interval_us) as u64);
        Self {
            interval: config.interval,
            max_failures: config.max_failures,
            failures_in_a_row: 0,
            phase: Phase::Running,
            next_send: now + config.interval + random_part,
        }
    }

    /// When to send the next heartbeat.
    pub const fn next_send(&self) -> Timestamp {
        self.next_send
    }

    /// A heartbeat was sent at `now`; the next one is due an interval after this one was.
    pub fn on_sent(&mut self, now: Timestamp) {
        self.next_send += self.interval;
        if self.next_send <= now {
            self.next_send = now + self.interval; // Missed heartbeats are not made up for.
        }
    }

    /// Takes the driver's answer.
    pub const fn on_reply(&mut self, reregister_block_manager: bool) -> SenderAction {
        self.failures_in_a_row = 0;
        match self.phase {
            Phase::Running if reregister_block_manager => SenderAction::ReregisterBlockManager,
            // A block manager that is about to go must not be registered again.
            Phase::Running | Phase::ShuttingDown => SenderAction::Continue,
        }
    }

    /// Takes the failure of a heartbeat: it could not be sent, or no answer came in time.
    pub const fn on_failed(&mut self) -> SenderAction {
        self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        if self.failures_in_a_row >= self.max_failures {
            SenderAction::Exit { code: Self::EXIT_CODE }
        } else {
            SenderAction::Continue
        }
    }

    /// The executor is shutting down.
    pub const fn on_shutdown(&mut self) {
        self.phase = Phase::ShuttingDown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Timestamp {
        Timestamp::from_secs(secs)
    }

    fn sender(seed: u64) -> HeartbeatSender {
        HeartbeatSender::new(&HeartbeatConfig::default(), at(100), &mut Rng::new(seed))
    }

    /// Behaviours: HB-001.
    #[test]
    fn the_first_heartbeat_comes_after_one_interval_and_a_random_part_of_another() {
        let firsts: Vec<_> = (0..50).map(|seed| sender(seed).next_send()).collect();

        assert!(firsts.iter().all(|first| (at(110)..at(120)).contains(first)), "{firsts:?}");
        assert!(firsts.iter().any(|first| *first < at(113)) && firsts.iter().any(|first| *first > at(117)));
        assert_eq!(sender(7), sender(7));
    }

    /// Behaviours: HB-001.
    #[test]
    fn heartbeats_follow_each_other_by_the_interval() {
        let mut sender = sender(1);
        let first = sender.next_send();
        let interval = Duration::from_secs(10);

        sender.on_sent(first + Duration::from_millis(5));
        assert_eq!(sender.next_send(), first + interval, "a late one does not shift the others");
        sender.on_sent(first + interval * 5);

        assert_eq!(sender.next_send(), first + interval * 6);
    }

    /// Behaviours: HB-004.
    #[test]
    fn an_executor_that_is_shutting_down_does_not_register_again() {
        let mut sender = sender(1);
        assert_eq!(sender.on_reply(false), SenderAction::Continue);
        assert_eq!(sender.on_reply(true), SenderAction::ReregisterBlockManager);

        sender.on_shutdown();

        assert_eq!(sender.on_reply(true), SenderAction::Continue);
    }

    /// Behaviours: HB-007.
    #[test]
    fn sixty_failures_in_a_row_end_the_executor() {
        let mut sender = sender(1);
        let fail = |sender: &mut HeartbeatSender, times| -> Vec<_> {
            (0..times)
                .map(|_| sender.on_failed())
                .filter(|action| *action != SenderAction::Continue)
                .collect()
        };

        assert_eq!(fail(&mut sender, 59), []);
        sender.on_reply(false);
        assert_eq!(fail(&mut sender, 59), [], "one success resets the count");

        assert_eq!(fail(&mut sender, 1), [SenderAction::Exit { code: 56 }]);
    }
}
