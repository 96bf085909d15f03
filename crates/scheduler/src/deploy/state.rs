//! The states of executors and drivers, as all processes of the cluster name them.

use serde::{Deserialize, Serialize};

/// The state of an executor (Spark's `ExecutorState`).
///
/// ```text
/// Launching ──▶ Running ──▶ Exited
///     │  │         ├──────▶ Decommissioned ──▶ any end
///     │  └─────────┴──────▶ Killed   (ordered)
///     └───────────────────▶ Failed   (could not start)
/// any of them ────────────▶ Lost     (with its worker)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ExecutorState {
    /// Ordered from the worker, which starts its process.
    Launching,
    /// Its process runs.
    Running,
    /// Told to drain and leave; its end is expected and is not charged to the application.
    Decommissioned,
    /// Ended on the master's order.
    Killed,
    /// Could not be started.
    Failed,
    /// Gone with its worker, or never heard of there. Said by masters only.
    Lost,
    /// Its process ended by itself.
    Exited,
}

impl ExecutorState {
    /// Whether nothing follows it.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Launching | Self::Running | Self::Decommissioned => false,
            Self::Killed | Self::Failed | Self::Lost | Self::Exited => true,
        }
    }
}

/// How a driver ended (the final ones of Spark's `DriverState`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DriverState {
    /// With exit code 0.
    Finished,
    /// On order.
    Killed,
    /// With another exit code.
    Failed,
    /// It could not be started, or its worker was lost.
    Error,
}
