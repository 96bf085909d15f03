//! From an action's call to its value: one job, or several one after the other.

use std::{panic::Location, sync::Arc};

use firesteel_scheduler::Partitions;
use firesteel_types::{PartitionId, Properties};

use super::{JobFunction, JobHandle, ResultTask, flow::Flow};
use crate::{
    Error, Result,
    driver::{Collected, Submission},
    rdd::Rdd,
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
    pub(super) checkpoints: bool,
}

impl Call {
    #[track_caller]
    pub(crate) fn new(action: &'static str) -> Self {
        Self { action, site: Location::caller(), checkpoints: true }
    }

    /// An action that is part of something else, such as the writing of a checkpoint: it is followed by none.
    pub(crate) fn without_checkpoints(self) -> Self {
        Self { checkpoints: false, ..self }
    }

    /// Runs `function` on every partition and makes the value from all results with `finish`.
    pub(crate) fn run<R: Rdd, J: JobFunction<R::Item>, T: Send + 'static>(
        self,
        rdd: &R,
        function: J,
        finish: impl FnOnce(Vec<J::Output>) -> Result<T> + Send + 'static,
    ) -> JobHandle<T> {
        let (job, results) = submission(rdd, Partitions::All, function);
        let steps = Box::new(Finish::new(move || finish(results.take())));
        Flow::start(self, rdd.handle(), Some(job), steps)
    }

    /// The same on some partitions.
    pub(crate) fn run_on<R: Rdd, J: JobFunction<R::Item>, T: Send + 'static>(
        self,
        rdd: &R,
        partitions: Partitions,
        function: J,
        finish: impl FnOnce(Vec<J::Output>) -> Result<T> + Send + 'static,
    ) -> JobHandle<T> {
        let (job, results) = submission(rdd, partitions, function);
        let steps = Box::new(Finish::new(move || finish(results.take())));
        Flow::start(self, rdd.handle(), Some(job), steps)
    }

    /// Begins an action whose first job is there, and goes on with `steps` when it has succeeded.
    pub(crate) fn start_with<R: Rdd, T: Send + 'static>(
        self,
        rdd: &R,
        job: Box<Submission>,
        steps: impl Steps<T> + 'static,
    ) -> JobHandle<T> {
        Flow::start(self, rdd.handle(), Some(job), Box::new(steps))
    }

    /// Begins an action that decides by itself which jobs it needs.
    pub(crate) fn start<R: Rdd, T: Send + 'static>(
        self,
        rdd: &R,
        steps: impl Steps<T> + 'static,
    ) -> JobHandle<T> {
        Flow::start(self, rdd.handle(), None, Box::new(steps))
    }

    /// An action whose arguments cannot be used.
    pub(crate) fn refuse<T>(self, why: impl ToString) -> JobHandle<T> {
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

/// A job on some partitions, and where its results will be.
pub(crate) fn submission<R: Rdd, J: JobFunction<R::Item>>(
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
        properties: Properties::default(),
        rows_seen: None,
    };
    (Box::new(submission), collected)
}

/// Partitions one after the other.
pub(crate) fn listed(partitions: impl IntoIterator<Item = u32>) -> Partitions {
    Partitions::Listed(partitions.into_iter().map(PartitionId).collect())
}

/// What follows the only job of an action: its value.
pub(crate) struct Finish<F>(Option<F>);

impl<F> Finish<F> {
    pub(crate) fn new(finish: F) -> Self {
        Self(Some(finish))
    }
}

impl<T, F: FnOnce() -> Result<T> + Send + 'static> Steps<T> for Finish<F> {
    fn next(&mut self) -> Result<Next<T>> {
        let finish = self.0.take().expect("an action is asked once after its last job");
        Ok(Next::value(finish))
    }
}
