//! Questions to the scheduler that somebody waits to have answered.

use std::{hash::Hash, sync::mpsc};

use hashbrown::HashMap;
use parking_lot::Mutex;

use firesteel_scheduler::{Cancel, Event};
use firesteel_types::{AttemptId, AttemptNumber, JobId, PartitionId, StageAttemptId};

use super::{Driver, Incoming};

/// Those who wait for an answer, by what they asked.
pub(crate) struct Questions<K, A>(Mutex<HashMap<K, Vec<mpsc::Sender<A>>>>);

impl<K, A> Default for Questions<K, A> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq, A: Clone> Questions<K, A> {
    fn ask(&self, question: K) -> mpsc::Receiver<A> {
        let (answer, waiting) = mpsc::channel();
        self.0.lock().entry(question).or_default().push(answer);
        waiting
    }

    pub(super) fn answer(&self, question: &K, answer: &A) {
        for waiting in self.0.lock().remove(question).unwrap_or_default() {
            // Whoever went away meanwhile no longer listens.
            let _ = waiting.send(answer.clone());
        }
    }

    /// Nobody will be answered any more.
    pub(super) fn close(&self) {
        self.0.lock().clear();
    }
}

impl Driver {
    /// Asks whether an attempt may commit, and waits for the answer. A stopped driver says no.
    pub(crate) fn may_commit(
        &self,
        set: StageAttemptId,
        partition: PartitionId,
        number: AttemptNumber,
    ) -> bool {
        let waiting = self.commits.ask((set, partition, number));
        self.post(Incoming::event(Event::CommitRequested { set, partition, number }));
        !self.is_stopped() && waiting.recv().unwrap_or(false)
    }

    /// Cancels the jobs with a tag, and waits for their ids.
    pub(crate) fn cancel_tag(&self, tag: &str, reason: Option<String>) -> Vec<JobId> {
        let waiting = self.tags.ask(tag.to_owned());
        self.cancel(Cancel::Tag(tag.to_owned()), reason);
        if self.is_stopped() { Vec::new() } else { waiting.recv().unwrap_or_default() }
    }

    /// Kills an attempt, and waits to hear whether it was running.
    pub(crate) fn kill_attempt(&self, attempt: AttemptId, reason: &str) -> bool {
        let waiting = self.kills.ask(attempt);
        let reason = reason.to_owned();
        self.post(Incoming::event(Event::TaskKillRequested { attempt, interrupt: false, reason }));
        !self.is_stopped() && waiting.recv().unwrap_or(false)
    }
}
