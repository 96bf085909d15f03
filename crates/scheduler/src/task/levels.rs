//! Delay scheduling: how far from its data a task set may go at this moment.

use std::time::Duration;

use firesteel_types::{Locality, Timestamp};

use super::pending::Listed;
use crate::config::LocalityConfig;

/// The levels that make sense for a task set, where it stands on them, and since when.
///
/// A set starts at its best level. It goes down one level when no task waits for that level any more, or when it
/// has waited there long enough; it goes up again when a round gave it all it wanted (see the round).
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    valid: Vec<Locality>,
    current: usize,
    last_reset: Timestamp,
}

/// How many tasks wait in lists of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) executor: u32,
    pub(crate) host: u32,
    pub(crate) no_pref: u32,
    pub(crate) rack: u32,
    pub(crate) all: u32,
}

impl Waiting {
    fn at(&self, level: Locality) -> u32 {
        match level {
            Locality::Process => self.executor,
            Locality::Node => self.host,
            Locality::NoPref => self.no_pref,
            Locality::Rack => self.rack,
            Locality::Any => self.all,
        }
    }
}

impl Levels {
    /// Stands at the best of `valid`, which ends with [`Locality::Any`].
    pub(crate) fn new(valid: Vec<Locality>, now: Timestamp) -> Self {
        Self { valid, current: 0, last_reset: now }
    }

    /// The valid level at `at`, counted from the best.
    pub(crate) fn nth(&self, at: usize) -> Option<Locality> {
        self.valid.get(at).copied()
    }

    pub(crate) fn current(&self) -> Locality {
        self.valid[self.current]
    }

    /// The furthest level allowed now. Time spent waiting at a level is used up step by step, so that several
    /// levels can be passed at once after a long pause.
    pub(crate) fn allowed(&mut self, now: Timestamp, waiting: &Waiting, config: &LocalityConfig) -> Locality {
        while self.current + 1 < self.valid.len() {
            let level = self.current();
            let wait = config.at(level);
            if waiting.at(level) == 0 {
                self.last_reset = now;
            } else if now.since(self.last_reset) >= wait {
                self.last_reset += wait;
            } else {
                break;
            }
            self.current += 1;
        }
        self.current()
    }

    /// Whether there is a level for every kind of place that a task is listed for.
    pub(crate) fn cover(&self, listed: Listed) -> bool {
        let covers = |is_listed: bool, level: Locality| !is_listed || self.valid.contains(&level);
        covers(listed.executor, Locality::Process)
            && covers(listed.host, Locality::Node)
            && covers(listed.no_pref, Locality::NoPref)
            && covers(listed.rack, Locality::Rack)
    }

    /// When the wait at the current level ends, if there is one.
    pub(crate) fn next_step(&self, config: &LocalityConfig) -> Option<Timestamp> {
        let level = self.current();
        (level != Locality::Any).then(|| self.last_reset + config.at(level))
    }

    /// The furthest level that an offer at `now` reaches, without moving there. A set with tasks that have no
    /// preference is offered that level regardless of its timer, and takes node-local tasks on the way.
    pub(crate) fn reached_at(&self, now: Timestamp, waiting: &Waiting, config: &LocalityConfig) -> Locality {
        let allowed = self.clone().allowed(now, waiting, config);
        if self.valid.contains(&Locality::NoPref) { allowed.max(Locality::NoPref) } else { allowed }
    }

    /// How long until `level` is allowed, if tasks wait as they do now; zero when it is.
    pub(crate) fn time_until(
        &self,
        level: Locality,
        now: Timestamp,
        waiting: &Waiting,
        config: &LocalityConfig,
    ) -> Duration {
        let mut at = self.last_reset;
        for passed in self.valid[self.current..].iter().take_while(|valid| **valid < level) {
            at = if waiting.at(*passed) == 0 { at.max(now) } else { at + config.at(*passed) };
        }
        at.since(now)
    }

    /// A round launched tasks, the best of them at `best`, and refused nothing: start again from there.
    pub(crate) fn reset(&mut self, now: Timestamp, best: Locality) {
        self.last_reset = now;
        self.current = self.index_of(best);
    }

    /// Executors came or went. A level that has just become possible is tried first.
    pub(crate) fn recompute(&mut self, valid: Vec<Locality>) {
        let before = std::mem::replace(&mut self.valid, valid);
        let level = before[self.current];
        let at = self.index_of(level);
        let new_level = self.valid.iter().position(|now_valid| !before.contains(now_valid));
        self.current = match new_level {
            Some(best_new) if at > self.current => best_new,
            Some(_) | None => at,
        };
    }

    /// The levels as they would be if these were the valid ones.
    pub(crate) fn with(&self, valid: Vec<Locality>) -> Self {
        let mut levels = self.clone();
        levels.recompute(valid);
        levels
    }

    /// The first level not better than `level`.
    fn index_of(&self, level: Locality) -> usize {
        self.valid
            .iter()
            .position(|valid| *valid >= level)
            .expect("the last level is Any, and nothing is worse")
    }
}
