//! A job on its way through the driver.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::de::DeserializeOwned;

use firesteel_scheduler::{JobError, Partitions, RowsSeen};
use firesteel_storage::codec;
use firesteel_types::Properties;

use super::RddHandle;
use crate::task::{ResultValue, StageProgram};

/// Everything that is needed to run a job.
pub(crate) struct Submission {
    pub(crate) rdd: RddHandle,
    pub(crate) partitions: Partitions,
    pub(crate) program: Arc<dyn StageProgram>,
    pub(crate) sink: Arc<dyn ResultSink>,
    pub(crate) properties: Properties,
    /// The run that earlier jobs of the action had their rows from.
    pub(crate) rows_seen: Option<RowsSeen>,
}

impl Submission {
    /// How many results the job gives.
    pub(crate) fn results(&self) -> u32 {
        match &self.partitions {
            Partitions::All => self.rdd.partitions(),
            Partitions::Listed(listed) => listed.len() as u32,
        }
    }
}

/// How a job ended: with the generation of its RDD, or an error.
pub(crate) type JobEnd = Result<u32, JobError>;

/// Called once when a job is over, after the turn, on the thread that had it: it must not wait for anything.
pub(crate) type OnEnd = Box<dyn FnOnce(JobEnd) + Send>;

/// A job that was submitted and is not over.
pub(crate) struct ActiveJob {
    pub(crate) submission: Submission,
    pub(crate) on_end: OnEnd,
}

/// Takes the results of a job as they come.
pub(crate) trait ResultSink: Send + Sync {
    /// Takes the result at `position`; fails when it cannot be read.
    fn accept(&self, position: u32, value: ResultValue) -> Result<(), String>;
}

/// Keeps every result until the job is over.
pub(crate) struct Collected<U>(Mutex<Vec<Option<U>>>);

impl<U> Collected<U> {
    pub(crate) fn new(results: u32) -> Arc<Self> {
        Arc::new(Self(Mutex::new((0..results).map(|_| None).collect())))
    }

    /// The results in order, of a job that succeeded.
    pub(crate) fn take(&self) -> Vec<U> {
        std::mem::take(&mut *self.0.lock()).into_iter().flatten().collect()
    }

    /// Those results that are there, with their positions, taken out.
    pub(crate) fn take_present(&self) -> Vec<(u32, U)> {
        let mut results = self.0.lock();
        (0..).zip(results.iter_mut()).filter_map(|(position, slot)| Some((position, slot.take()?))).collect()
    }
}

impl<U: DeserializeOwned + Send + 'static> ResultSink for Collected<U> {
    fn accept(&self, position: u32, value: ResultValue) -> Result<(), String> {
        let value = read_result(value)?;
        self.0.lock()[position as usize] = Some(value);
        Ok(())
    }
}

/// The value behind a result that came from a task.
pub(crate) fn read_result<U: DeserializeOwned + 'static>(value: ResultValue) -> Result<U, String> {
    match value {
        ResultValue::Typed(value) => {
            let value = value.downcast::<U>().map_err(|_| "the result has another type".to_owned())?;
            Ok(*value)
        }
        ResultValue::Bytes(bytes) => codec::read_value(&bytes).map_err(|error| error.to_string()),
        ResultValue::Stored | ResultValue::Dropped => Err("the result was not sent along".to_owned()),
    }
}
