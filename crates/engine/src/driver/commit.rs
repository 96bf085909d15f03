//! Tasks that wait for the right to commit their output.

use std::sync::mpsc;

use hashbrown::HashMap;
use parking_lot::Mutex;

use firesteel_scheduler::{Event, commit::CommitDecision};
use firesteel_types::{AttemptNumber, PartitionId, StageAttemptId};

use super::{Driver, Incoming};

type Key = (StageAttemptId, PartitionId, AttemptNumber);

/// The questions that the scheduler has not answered yet.
#[derive(Default)]
pub(crate) struct CommitRequests(Mutex<HashMap<Key, Vec<mpsc::Sender<bool>>>>);

impl CommitRequests {
    /// Passes the scheduler's answer on.
    pub(super) fn answer(&self, key: Key, decision: &CommitDecision) {
        for waiting in self.0.lock().remove(&key).unwrap_or_default() {
            // A task that was killed meanwhile no longer listens.
            let _ = waiting.send(matches!(decision, CommitDecision::Granted));
        }
    }
}

impl Driver {
    /// Asks whether an attempt may commit, and waits for the answer. A stopped driver says no.
    pub(crate) fn may_commit(&self, set: StageAttemptId, partition: PartitionId, number: AttemptNumber) -> bool {
        let (answer, waiting) = mpsc::channel();
        self.commits.0.lock().entry((set, partition, number)).or_default().push(answer);
        self.post(Incoming::event(Event::CommitRequested { set, partition, number }));
        waiting.recv().unwrap_or(false)
    }
}
