//! Attempts that were told to end and do not: [`Reaper`].
//!
//! A task ends when its code looks whether it should. One that never looks would hold its slot for ever; if so
//! configured, its executor is ended with it, and others take over what it did.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use firesteel_types::{AttemptId, settings};
use hashbrown::HashMap;
use parking_lot::Mutex;

use super::{End, Process, reader::spawn, running::Running};
use crate::Conf;

/// Watches over attempts until they have ended.
pub(super) struct Reaper {
    every: Duration,
    /// How long an attempt may take to end; for ever without.
    patience: Option<Duration>,
    /// The attempts that are watched, and whether they were to be interrupted.
    watched: Mutex<HashMap<AttemptId, bool>>,
}

impl Reaper {
    /// None unless the settings want one.
    pub(super) fn new(conf: &Conf) -> Option<Self> {
        conf.get(settings::TASK_REAPER_ENABLED).then(|| Self {
            every: conf.get(settings::TASK_REAPER_POLLING_INTERVAL),
            patience: conf.get(settings::TASK_REAPER_KILL_TIMEOUT),
            watched: Mutex::default(),
        })
    }

    /// Whether this order needs a watch: the first one does, and one that asks for more than it.
    fn begin(&self, attempt: AttemptId, interrupt: bool) -> bool {
        let mut watched = self.watched.lock();
        match watched.get_mut(&attempt) {
            Some(before) if *before || !interrupt => false,
            Some(before) => {
                *before = true;
                true
            }
            None => {
                watched.insert(attempt, interrupt);
                true
            }
        }
    }
}

impl Running {
    /// Orders the end of an attempt, and watches over it if so configured.
    pub(super) fn kill(
        self: &Arc<Self>,
        process: &Arc<Process>,
        attempt: AttemptId,
        interrupt: bool,
        reason: String,
    ) {
        self.executor.kill(attempt, reason);
        let Some(reaper) = &self.reaper else { return };
        if self.executor.is_here(attempt) && reaper.begin(attempt, interrupt) {
            let (running, process) = (Arc::downgrade(self), Arc::downgrade(process));
            let (every, patience, began) = (reaper.every, reaper.patience, Instant::now());
            spawn("firesteel-reaper", move || {
                loop {
                    let left = patience.map(|patience| patience.saturating_sub(began.elapsed()));
                    thread::sleep(left.map_or(every, |left| left.min(every)));
                    let Some(running) = running.upgrade() else { return };
                    if !running.executor.is_here(attempt) {
                        return running.forget_killed(attempt);
                    }
                    let took = began.elapsed();
                    tracing::warn!(%attempt, ?took, "a task was told to end and still runs");
                    if let Some(process) = process.upgrade()
                        && patience.is_some_and(|patience| took >= patience)
                    {
                        return process.end(End::TaskStays { attempt, took });
                    }
                }
            });
        }
    }

    fn forget_killed(&self, attempt: AttemptId) {
        if let Some(reaper) = &self.reaper {
            reaper.watched.lock().remove(&attempt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behaviours: EXE-013.
    #[test]
    fn a_second_order_is_watched_only_if_it_asks_for_more() {
        let conf = Conf::new().set("firesteel.task.reaper.enabled", true).unwrap();
        let (reaper, attempt) = (Reaper::new(&conf).unwrap(), AttemptId(1));

        assert!(reaper.begin(attempt, false));
        assert!(!reaper.begin(attempt, false));
        assert!(reaper.begin(attempt, true), "now it is to be interrupted");
        assert!(!reaper.begin(attempt, true));
        assert!(!reaper.begin(attempt, false));
        assert!(reaper.begin(AttemptId(2), true));
        assert_eq!((reaper.every, reaper.patience), (Duration::from_secs(10), None));
        assert!(Reaper::new(&Conf::new()).is_none(), "there is none unless it is wanted");
    }
}
