//! Why an attempt runs where it runs.

use firesteel_types::{AttemptId, Locality};

use super::answer::Launch;
use crate::{scheduler::Scheduler, task::Running};

impl Scheduler {
    /// Why an attempt that is under way runs where it runs, or waits where it waits.
    pub fn explain_attempt(&self, attempt: AttemptId) -> Option<Launch> {
        self.tasks.running.get(&attempt).map(|running| self.explain_running(running))
    }

    pub(super) fn explain_running(&self, running: &Running) -> Launch {
        let (info, note) = (&running.info, &running.note);
        let better =
            Locality::ALL.into_iter().zip(note.passed).take_while(|(level, _)| *level < info.locality);
        let ahead = self.cx.executors.get(info.executor).map(|executor| &executor.ahead);
        let waits_behind = ahead
            .and_then(|ahead| ahead.iter().position(|sent| sent.attempt == info.attempt))
            .map(|before| before as u32);
        Launch {
            attempt: info.attempt,
            executor: info.executor,
            level: info.locality,
            speculative: info.speculative,
            waits_behind,
            offers: note.offers,
            sets_before: note.sets_before,
            passed: better.filter_map(|(level, why)| Some((level, why?))).collect(),
        }
    }
}
