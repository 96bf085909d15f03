//! What comes into the driver's inbox: [`Incoming`], and how the report of a task becomes one.

use firesteel_scheduler::{Event, ResultPlace, TaskOutcome, TaskStatus};
use firesteel_types::{AttemptId, ExecutorId, RddId, TaskFailure};

use super::{Driver, RddHandle, register};
use crate::task::{Report, ResultValue, TaskEnd, TaskOutput, Updates};

/// Something that happened, with what came along for the runtime.
pub(crate) struct Incoming {
    pub(crate) event: Event,
    pub(crate) payload: Option<(AttemptId, Payload)>,
}

/// What a task's report carries that the scheduler does not see.
pub(crate) struct Payload {
    pub(crate) result: Option<ResultValue>,
    pub(crate) updates: Updates,
}

impl Payload {
    /// Whether all of it was taken.
    pub(super) fn is_empty(&self) -> bool {
        self.result.is_none() && self.updates.is_empty()
    }
}

impl Incoming {
    pub(crate) const fn event(event: Event) -> Self {
        Self { event, payload: None }
    }
}

impl Driver {
    /// The name of an RDD that is computed after the stage that failed: what combines on the map side of a shuffle
    /// belongs to the RDD that reads it.
    fn name_in_jobs(&self, operator: RddId) -> Option<String> {
        let rdds: Vec<RddHandle> = self.jobs.lock().values().map(|job| job.submission.rdd.clone()).collect();
        rdds.iter().find_map(|rdd| register::name_of(rdd, operator))
    }

    /// Takes the report of an attempt that ran on `executor`; `rdd` is the last RDD of its stage.
    pub(crate) fn report(&self, executor: ExecutorId, rdd: &RddHandle, report: Report) {
        self.post(self.incoming(executor, Some(rdd), report));
    }

    /// A report as the scheduler hears it, and what comes along; `rdd` is the last RDD of its stage, if that is known.
    pub(crate) fn incoming(&self, executor: ExecutorId, rdd: Option<&RddHandle>, report: Report) -> Incoming {
        let Report { attempt, end, metrics, updates } = report;
        let accumulators = !updates.is_empty();
        let (status, result) = match end {
            TaskEnd::Finished(TaskOutput::Result { value, size_bytes }) => {
                let (result, value) = match value {
                    ResultValue::Stored => (ResultPlace::Indirect, None),
                    ResultValue::Dropped => (ResultPlace::Dropped, None),
                    value => (ResultPlace::Direct, Some(value)),
                };
                let outcome =
                    TaskOutcome { result, size_bytes, metrics, accumulators, ..TaskOutcome::default() };
                (TaskStatus::Finished(outcome), value)
            }
            TaskEnd::Finished(TaskOutput::Map(output)) => {
                let map_output = Some(output);
                let outcome = TaskOutcome { map_output, metrics, accumulators, ..TaskOutcome::default() };
                (TaskStatus::Finished(outcome), None)
            }
            TaskEnd::Failed { mut failure, operator } => {
                if let (TaskFailure::Panicked { location, .. }, Some(operator)) = (&mut failure, operator) {
                    let named = rdd.and_then(|rdd| register::name_of(rdd, operator));
                    *location = named.or_else(|| self.name_in_jobs(operator));
                }
                (TaskStatus::Failed { failure, metrics, accumulators }, None)
            }
        };
        let payload = (result.is_some() || accumulators).then(|| (attempt, Payload { result, updates }));
        Incoming { event: Event::StatusUpdate { executor, attempt, status }, payload }
    }
}
