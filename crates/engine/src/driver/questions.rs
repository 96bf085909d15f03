//! Questions to the scheduler whose callers wait for the answer.

use std::{hash::Hash, sync::mpsc};

use hashbrown::HashMap;
use parking_lot::Mutex;

use firesteel_scheduler::{Cancel, Event};
use firesteel_types::{AttemptId, AttemptNumber, JobId, PartitionId, StageAttemptId};

use super::{Driver, Incoming};

/// Those who wait for an answer, by what they asked.
pub(crate) struct Questions<K, A>(Mutex<HashMap<K, Vec<Answered<A>>>>);

/// What is done with an answer: it is called in a turn, and must not wait.
type Answered<A> = Box<dyn FnOnce(A) + Send>;

impl<K, A> Default for Questions<K, A> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq, A: Clone + Send + 'static> Questions<K, A> {
    fn ask(&self, question: K) -> mpsc::Receiver<A> {
        let (answer, waiting) = mpsc::channel();
        // A caller that went away meanwhile has dropped the receiver.
        self.ask_then(question, Box::new(move |given| drop(answer.send(given))));
        waiting
    }

    fn ask_then(&self, question: K, then: Answered<A>) {
        self.0.lock().entry(question).or_default().push(then);
    }

    pub(super) fn answer(&self, question: &K, answer: &A) {
        for waiting in self.0.lock().remove(question).unwrap_or_default() {
            waiting(answer.clone());
        }
    }

    /// No further question will be answered.
    pub(super) fn close(&self) {
        self.0.lock().clear();
    }
}

impl Driver {
    /// Asks whether an attempt may commit, and waits for the answer. A stopped driver denies.
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

    /// Asks whether an attempt may commit; `then` hears the answer in a turn. A stopped driver answers nothing.
    pub(crate) fn may_commit_then(
        &self,
        (set, partition, number): (StageAttemptId, PartitionId, AttemptNumber),
        then: impl FnOnce(bool) + Send + 'static,
    ) {
        self.commits.ask_then((set, partition, number), Box::new(then));
        self.post(Incoming::event(Event::CommitRequested { set, partition, number }));
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
