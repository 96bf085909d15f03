//! How an attempt ended: [`Report`].

use firesteel_types::{AttemptId, RddId, TaskFailure, TaskMetrics};
use serde::{Deserialize, Serialize};

use super::{TaskOutput, Updates};

/// How an attempt ended, for the driver.
#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) attempt: AttemptId,
    pub(crate) end: TaskEnd,
    pub(crate) metrics: TaskMetrics,
    pub(crate) updates: Updates,
}

/// How an attempt ended: with its output, or with the failure.
#[derive(Serialize, Deserialize)]
pub(crate) enum TaskEnd {
    Finished(TaskOutput),
    Failed { failure: TaskFailure, operator: Option<RddId> },
}
