//! Attempts that are under way.

use firesteel_types::{Cpus, Locality, ResourceAssignment, TaskInfo, TaskMetrics};

use crate::{event::TaskOutcome, executors::HostId, pool::SetKey};

/// One attempt between its launch and its end.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) set: SetKey,
    pub(crate) info: TaskInfo,
    pub(crate) host: HostId,
    pub(crate) cpus: Cpus,
    pub(crate) resources: ResourceAssignment,
    pub(crate) phase: RunPhase,
    /// Whether it was told to end because another attempt of its task succeeded.
    pub(crate) beaten: bool,
    /// The figures of its last heartbeat.
    pub(crate) metrics: TaskMetrics,
    pub(crate) note: LaunchNote,
}

impl Running {
    /// Whether its executor still has it. An attempt whose result is on the way has ended there.
    pub(crate) const fn is_on_executor(&self) -> bool {
        match self.phase {
            RunPhase::Launching | RunPhase::Running => true,
            RunPhase::Fetching(_) => false,
        }
    }
}

/// Where an attempt stands.
#[derive(Debug)]
pub(crate) enum RunPhase {
    /// Sent, and not heard of yet.
    Launching,
    /// Its executor said that it runs.
    Running,
    /// It is finished, its resources are free again, and its result is on the way.
    Fetching(Box<TaskOutcome>),
}

/// What was known when an attempt was launched, for those who ask why it runs where it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaunchNote {
    /// Executors that had something to offer in the round.
    pub(crate) offers: u32,
    /// Task sets that went first in the round.
    pub(crate) sets_before: u32,
    /// Why each level better than the one it got was passed over.
    pub(crate) passed: [Option<Passed>; 4],
}

/// Why a level was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    /// The task has no preference at that level.
    NoPreference,
    /// None of the preferred places was alive.
    NotAlive,
    /// A preferred place was alive but not offered, and the wait for it was over.
    WaitedOut,
}

impl LaunchNote {
    /// The levels passed over on the way to `level`.
    pub(crate) fn passed(&self, level: Locality) -> impl Iterator<Item = (Locality, Passed)> {
        let passed = self.passed;
        Locality::ALL
            .into_iter()
            .zip(passed)
            .take_while(move |(better, _)| *better < level)
            .filter_map(|(better, why)| why.map(|why| (better, why)))
    }
}
