//! Attempts that are under way.

use firesteel_types::{Cpus, ResourceAssignment, TaskInfo, TaskMetrics};

use serde::{Deserialize, Serialize};

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
    /// Whether it was sent ahead of a free slot.
    pub(crate) ahead: bool,
    /// Whether its executor was asked to return it, or told to end it.
    pub(crate) recalled: bool,
    /// The figures of its last heartbeat.
    pub(crate) metrics: TaskMetrics,
    pub(crate) note: LaunchNote,
}

impl Running {
    /// Whether its executor is done with it, so that there is nothing left to kill or to stop.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.phase, RunPhase::Fetching(_))
    }

    /// Whether it waits on its executor and has not begun, as far as reports tell.
    pub(crate) fn is_ahead(&self) -> bool {
        matches!(self.phase, RunPhase::Ahead)
    }
}

/// Where an attempt stands.
///
/// ```text
///   ahead ──another one ends──▶ launching ──▶ running ──▶ fetching
///     └──returned, or its executor is lost: it never was
/// ```
#[derive(Debug)]
pub(crate) enum RunPhase {
    /// Sent ahead: it waits on its executor, and holds no resources.
    Ahead,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Passed {
    /// The task has no preference at that level.
    NoPreference,
    /// None of the preferred places was alive.
    NotAlive,
    /// A preferred place was alive but not offered, and the wait for it was over.
    WaitedOut,
}
