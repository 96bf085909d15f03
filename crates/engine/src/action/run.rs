//! From an action's call to its value: one job, or several one after the other.

use std::{panic::Location, sync::Arc};

use firesteel_scheduler::Partitions;

use super::{JobFunction, JobHandle, ResultTask};
use crate::{
    Result,
    driver::{Collected, Submission},
    rdd::Rdd,
};

/// What comes next in an action.
pub(crate) enum Next<T> {
    /// Run this job and ask again.
    Job(Box<Submission>),
    /// The value is there; computing it from the results is left to whoever wants it.
    Value(Box<dyn FnOnce() -> Result<T> + Send>),
}

/// An action as the jobs it runs. Asked inside a turn of the scheduler, so an answer must come at once.
pub(crate) trait Steps<T>: Send {
    /// What to do first, or after the job before has succeeded.
    fn next(&mut self) -> Result<Next<T>>;
}

/// The name and the line of an action, taken where the user called it.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) action: &'static str,
    pub(crate) site: &'static Location<'static>,
}

impl Call {
    #[track_caller]
    pub(crate) fn new(action: &'static str) -> Self {
        Self { action, site: Location::caller() }
    }

    /// A job on some partitions, and where its results will be.
    pub(crate) fn submission<R: Rdd, J: JobFunction<R::Item>>(
        self,
        rdd: &R,
        partitions: Partitions,
        function: J,
    ) -> (Box<Submission>, Arc<Collected<J::Output>>) {
        let results = match &partitions {
            Partitions::All => rdd.num_partitions(),
            Partitions::Listed(listed) => listed.len() as u32,
        };
        let collected = Collected::new(results);
        let handle = rdd.handle();
        let submission = Submission {
            rdd: handle.clone(),
            partitions,
            program: Arc::new(ResultTask { rdd: rdd.clone(), function }),
            sink: collected.clone(),
            properties: handle.driver().local_properties(),
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
        let single = Single { submission: Some(submission), finish: Some(move || finish(collected.take())) };
        JobHandle::start(self, rdd.handle().driver(), Box::new(single))
    }
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
        Ok(Next::Value(Box::new(finish)))
    }
}
