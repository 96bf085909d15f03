//! What one task added.

/// The updates of a running task.
#[derive(Default)]
pub(crate) struct TaskAccumulators {}

impl TaskAccumulators {
    /// What the task added, for its report.
    pub(crate) fn take(&self) -> Updates {
        Updates::default()
    }
}

/// The updates that travel with a task's report.
#[derive(Default)]
pub(crate) struct Updates {}

impl Updates {
    pub(crate) fn is_empty(&self) -> bool {
        true
    }
}
