//! The life of one process, and how it is ended against its will.
//!
//! ```text
//! Preparing ──> Starting ──> Running ──> Terminating ──(10 s)──> Destroying ──(10 s)──> orphaned
//! ```
//!
//! [`Process`] tells what must follow from an order to kill or from the lack of an answer; the worker sends the
//! signals and keeps the time.

use firesteel_types::Timestamp;

use super::ids::ProcessId;

/// A process the worker was ordered to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) id: ProcessId,
    pub(super) phase: ProcessPhase,
}

/// How far a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessPhase {
    /// Its directories are being made.
    Preparing,
    /// It is being started. A kill that comes meanwhile waits until there is something to kill.
    Starting { kill: bool },
    /// It runs.
    Running { since: Timestamp },
    /// It was asked to end.
    Terminating,
    /// It is being forced to end.
    Destroying,
}

/// What an order to kill comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KillStep {
    /// There is no process yet, and there will be none.
    EndNow,
    /// It is killed as soon as it has started.
    WaitForStart,
    /// It must be asked to end.
    Terminate,
    /// That was ordered before.
    Already,
}

/// What follows when a signal did not help in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escalation {
    /// Force it.
    Destroy,
    /// Give it up.
    Orphan,
}

impl Process {
    pub(super) const fn new(id: ProcessId) -> Self {
        Self { id, phase: ProcessPhase::Preparing }
    }

    /// Whether its end was ordered.
    pub(super) const fn is_kill_ordered(&self) -> bool {
        match self.phase {
            ProcessPhase::Starting { kill } => kill,
            ProcessPhase::Terminating | ProcessPhase::Destroying => true,
            ProcessPhase::Preparing | ProcessPhase::Running { .. } => false,
        }
    }

    /// Takes the order to kill it.
    pub(super) fn kill(&mut self) -> KillStep {
        match self.phase {
            ProcessPhase::Preparing => KillStep::EndNow,
            ProcessPhase::Starting { kill: false } => {
                self.phase = ProcessPhase::Starting { kill: true };
                KillStep::WaitForStart
            }
            ProcessPhase::Running { .. } => {
                self.phase = ProcessPhase::Terminating;
                KillStep::Terminate
            }
            ProcessPhase::Starting { kill: true } | ProcessPhase::Terminating | ProcessPhase::Destroying => {
                KillStep::Already
            }
        }
    }

    /// The time for the last signal is over.
    pub(super) fn escalate(&mut self) -> Escalation {
        match self.phase {
            ProcessPhase::Terminating => {
                self.phase = ProcessPhase::Destroying;
                Escalation::Destroy
            }
            ProcessPhase::Destroying => Escalation::Orphan,
            ProcessPhase::Preparing | ProcessPhase::Starting { .. } | ProcessPhase::Running { .. } => {
                unreachable!("only a signal sets the timer")
            }
        }
    }
}
