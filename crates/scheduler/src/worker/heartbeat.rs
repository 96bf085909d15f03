//! Telling the master that the worker lives.
//!
//! Heartbeats start with the first registration and keep their rhythm through later ones; they are sent only
//! while a master is connected.

use firesteel_types::Timestamp;

use super::{effect::WorkerEffect, machine::Worker, timers::Timer};
use crate::deploy::WorkerToMaster;

impl Worker {
    /// The first one goes out at once.
    pub(super) fn start_heartbeats(&mut self, now: Timestamp) {
        self.timers.set(Timer::Heartbeat, now);
    }

    pub(super) fn on_heartbeat_due(&mut self, now: Timestamp, at: Timestamp, out: &mut Vec<WorkerEffect>) {
        // Without a connection there is no master to tell, and nothing to make up for later.
        let _unsent = self.tell(WorkerToMaster::Heartbeat { worker: self.known_id() }, out);
        self.set_again(Timer::Heartbeat, at, self.config.heartbeat_interval, now);
    }
}
