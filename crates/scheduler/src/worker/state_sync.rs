//! Making sure that the master learns what became of an executor.
//!
//! A master that misses the end of an executor would wait for it for ever, so each change is sent again until
//! it is acknowledged. A worker that cannot get through ends itself: it must be cut off.

use firesteel_types::{ExecutorKey, Timestamp};

use super::{
    effect::{WorkerEffect, WorkerIgnored},
    machine::{Worker, ignore},
    registration::Link,
    timers::Timer,
};
use crate::deploy::{ExecutorState, ExecutorStateChange, WorkerToMaster};

/// The last change of an executor, as long as no master has acknowledged it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unacknowledged {
    change: ExecutorStateChange,
    tries: u32,
}

impl Worker {
    /// Tells the master of a change. It takes the place of an earlier one of the same executor: a late "running"
    /// must not follow an "exited".
    pub(super) fn report_state(
        &mut self,
        now: Timestamp,
        change: ExecutorStateChange,
        out: &mut Vec<WorkerEffect>,
    ) {
        let executor = change.executor.clone();
        self.unacknowledged.insert(executor.clone(), Unacknowledged { change, tries: 0 });
        if matches!(self.link, Link::Connected { .. }) {
            self.send_state(now, executor, out);
        }
    }

    fn send_state(&mut self, now: Timestamp, executor: ExecutorKey, out: &mut Vec<WorkerEffect>) {
        let waiting = self.unacknowledged.get_mut(&executor).expect("only unacknowledged changes are sent");
        waiting.tries += 1;
        let change = waiting.change.clone();
        let unsent = self.tell(WorkerToMaster::ExecutorStateChanged { worker: self.known_id(), change }, out);
        assert!(unsent.is_none(), "states are sent only while connected");
        self.timers.set(Timer::SyncState(executor), now + self.config.state_sync_timeout);
    }

    pub(super) fn on_state_sync_due(
        &mut self,
        now: Timestamp,
        executor: ExecutorKey,
        out: &mut Vec<WorkerEffect>,
    ) {
        let waiting = self.unacknowledged.get(&executor).expect("the timer goes with the acknowledgement");
        if waiting.tries >= self.config.state_sync_tries {
            let tries = waiting.tries;
            return self
                .exit(format!("the state of {executor} was sent {tries} times without an answer"), out);
        }
        self.send_state(now, executor, out);
    }

    pub(super) fn on_state_ack(
        &mut self,
        executor: ExecutorKey,
        state: ExecutorState,
        out: &mut Vec<WorkerEffect>,
    ) {
        let waits = self.unacknowledged.get(&executor).is_some_and(|waiting| waiting.change.state == state);
        if !waits {
            return ignore(WorkerIgnored::NothingToAcknowledge { executor }, out);
        }
        self.unacknowledged.remove(&executor);
        self.timers.cancel(&Timer::SyncState(executor));
    }

    /// Without a master no try is made, and none is counted.
    pub(super) fn pause_state_sync(&mut self) {
        for executor in self.unacknowledged.keys() {
            self.timers.cancel(&Timer::SyncState(executor.clone()));
        }
    }

    /// A new connection gets everything that is not acknowledged, with all tries before it.
    pub(super) fn resume_state_sync(&mut self, now: Timestamp, out: &mut Vec<WorkerEffect>) {
        let waiting: Vec<_> = self.unacknowledged.keys().cloned().collect();
        for executor in waiting {
            if let Some(state) = self.unacknowledged.get_mut(&executor) {
                state.tries = 0;
            }
            self.send_state(now, executor, out);
        }
    }
}
