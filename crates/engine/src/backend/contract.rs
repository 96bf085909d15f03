//! What a backend must do.

use firesteel_scheduler::Effect;
use firesteel_types::{AttemptId, ExecutorId};

use crate::executor::Launch;

/// A way to run tasks. Nothing here decides anything, and nothing may wait: all of it is called in the scheduler's turn.
pub(crate) trait SchedulerBackend: Send + Sync {
    /// Sends tasks to their executors.
    fn launch(&self, launches: Vec<Launch>);

    /// Tells an executor to end an attempt.
    fn kill(&self, executor: ExecutorId, attempt: AttemptId, interrupt: bool, reason: String);

    /// Does what else the scheduler wants of executors and their manager.
    fn perform(&self, effect: Effect);

    /// Ends every executor.
    fn stop(&self);
}
