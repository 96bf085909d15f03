//! Why an attempt runs where it runs.

use firesteel_types::{AttemptId, Locality};

use super::answer::Launch;
use crate::{scheduler::Scheduler, task::Running};

impl Scheduler {
    /// Why an attempt that is under way runs where it runs.
    pub fn explain_attempt(&self, attempt: AttemptId) -> Option<Launch> {
        self.tasks.running.get(&attempt).map(launch)
    }
}

pub(super) fn launch(running: &Running) -> Launch {
    let (info, note) = (&running.info, &running.note);
    let better = Locality::ALL.into_iter().zip(note.passed).take_while(|(level, _)| *level < info.locality);
    Launch {
        attempt: info.attempt,
        executor: info.executor,
        level: info.locality,
        speculative: info.speculative,
        offers: note.offers,
        sets_before: note.sets_before,
        passed: better.filter_map(|(level, why)| Some((level, why?))).collect(),
    }
}
