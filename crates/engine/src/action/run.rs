//! From an action's call to its value: one job, or several one after the other.

use std::{panic::Location, sync::Arc};

use firesteel_scheduler::Partitions;
use firesteel_types::PartitionId;

use super::{JobFunction, JobHandle, ResultTask};
use crate::{
    Error, Result,
    driver::{Collected, Submission},
    rdd::{Rdd, RddHandle},
};

/// What comes next in an action.
pub(crate) enum Next<T> {
    /// Run this job and ask again.
    Job(Box<Submission>),
    /// The value is there; the caller computes it from the results.
    Value(Box<dyn FnOnce() -> Result<T> + Send>),
}

impl<T> Next<T> {
    /// The value, as `finish` computes it.
    pub(crate) fn value(finish: impl FnOnce() -> Result<T> + Send + 'static) -> Self {
        Self::Value(Box::new(finish))
    }
}

/// An action as the jobs it runs. Asked on a thread that has other things to do, so an answer must come at once; code
/// of the user's belongs into [`Next::Value`].
pub(crate) trait Steps<T>: Send {
    /// What to do first, or after the job before has succeeded.
    fn next(&mut self) -> Result<Next<T>>;
}

/// The name and the line of an action, taken where the user called it.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) action: &'static str,
    pub(crate) site: &'static Location<'static>,
    /// Whether RDDs that it uses are checkpointed after it, if they are marked.
    checkpoints: bool,
}

impl Call {
    #[track_caller]
    pub(crate) fn new(action: &'static str) -> Self {
        Self { action, site: Location::caller(), checkpoints: true }
    }

    /// An action of the engine's own, on the way to a checkpoint.
    #[track_caller]
    pub(crate) fn of_checkpoint(action: &'static str) -> Self {
        Self { checkpoints: false, ..Self::new(action) }
    }

    /// A job on some partitions, and where its results will be.
    pub(crate) fn submission<R: Rdd, J: JobFunction<R::Item>>(
        self,
        rdd: &R,
        partitions: Partitions,
        function: J,
    ) -> (Box<Submission>, Arc<Collected<J::Output>>) {
        let handle = rdd.handle();
        let results = match &partitions {
            Partitions::All => handle.partitions(),
            Partitions::Listed(listed) => listed.len() as u32,
        };
        let collected = Collected::new(results);
        let submission = Submission {
            rdd: handle.clone(),
            partitions,
            program: Arc::new(ResultTask { rdd: rdd.clone(), function }),
            sink: collected.clone(),
            properties: handle.driver().local_properties(),
            rows_seen: None,
        };
        (Box::new(submission), collected)
    }

    /// Runs `function` on every partition and makes the value from all results with `finish`.
    pub(crate) fn run<R: Rdd, J: JobFunction<R::Item>, T: 'static>(
        self,
        rdd: &R,
        function: J,
        finish: impl FnOnce(Vec<J::Output>) -> Result<T> + Send + 'static,
    ) -> JobHandle<T> {
        self.run_on(rdd, Partitions::All, function, finish)
    }

    /// The same on some partitions.
    pub(crate) fn run_on<R: Rdd, J: JobFunction<R::Item>, T: 'static>(
        self,
        rdd: &R,
        partitions: Partitions,
        function: J,
        finish: impl FnOnce(Vec<J::Output>) -> Result<T> + Send + 'static,
    ) -> JobHandle<T> {
        let (submission, collected) = self.submission(rdd, partitions, function);
        self.start_single(rdd, submission, move || finish(collected.take()))
    }

    /// Begins an action of one job.
    pub(crate) fn start_single<R: Rdd, T: 'static>(
        self,
        rdd: &R,
        submission: Box<Submission>,
        finish: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> JobHandle<T> {
        self.start(rdd, Single { submission: Some(submission), finish: Some(finish) })
    }

    /// Begins an action.
    pub(crate) fn start<R: Rdd, T: 'static>(self, rdd: &R, steps: impl Steps<T> + 'static) -> JobHandle<T> {
        let handle = rdd.handle();
        let driver = handle.driver();
        let steps: Box<dyn Steps<T>> = if self.checkpoints && driver.checkpoints.is_any_marked() {
            Box::new(ThenCheckpoint { steps, rdd: handle.clone() })
        } else {
            Box::new(steps)
        };
        JobHandle::start(self, driver, steps)
    }

    /// An action whose arguments cannot be used.
    pub(crate) fn refuse<T: 'static>(self, why: impl ToString) -> JobHandle<T> {
        JobHandle::failed(
            self,
            Error::invalid(format!("{} at {}: {}", self.action, self.site, why.to_string())),
        )
    }

    /// The error of an action that needs rows where there are none.
    pub(crate) fn empty(self) -> Error {
        Error::Empty { action: self.action }
    }
}

/// An action after which RDDs that it used may have to be checkpointed.
struct ThenCheckpoint<S> {
    steps: S,
    rdd: RddHandle,
}

impl<T: 'static, S: Steps<T>> Steps<T> for ThenCheckpoint<S> {
    fn next(&mut self) -> Result<Next<T>> {
        Ok(match self.steps.next()? {
            Next::Job(submission) => Next::Job(submission),
            Next::Value(value) => {
                let rdd = self.rdd.clone();
                Next::value(move || {
                    rdd.driver().write_checkpoints(&rdd)?;
                    value()
                })
            }
        })
    }
}

/// Partitions one after the other.
pub(crate) fn listed(partitions: impl IntoIterator<Item = u32>) -> Partitions {
    Partitions::Listed(partitions.into_iter().map(PartitionId).collect())
}

/// An action of one job.
struct Single<F> {
    submission: Option<Box<Submission>>,
    finish: Option<F>,
}

impl<T, F: FnOnce() -> Result<T> + Send + 'static> Steps<T> for Single<F> {
    fn next(&mut self) -> Result<Next<T>> {
        if let Some(submission) = self.submission.take() {
            return Ok(Next::Job(submission));
        }
        let finish = self.finish.take().expect("an action is asked once after its last job");
        Ok(Next::value(finish))
    }
}
