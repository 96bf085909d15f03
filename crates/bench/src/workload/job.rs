//! A workload made ready to run.

use std::fmt;

use anyhow::Result;

use crate::{
    checksum::{Answer, Checksum},
    report::Metrics,
};

/// Something to run and to time, with its data in place.
pub struct Job {
    run: Box<dyn FnMut() -> Result<Outcome>>,
    check: Box<dyn FnMut() -> Result<Checksum>>,
}

/// What one run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The answer.
    pub answer: Answer,
    /// How long it took, where that is not the time from call to return.
    pub seconds: Option<f64>,
    /// Other figures.
    pub metrics: Metrics,
}

impl fmt::Debug for Job {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Job").finish_non_exhaustive()
    }
}

impl Job {
    /// A job that is timed as `run`, and whose whole answer `check` computes.
    pub fn new(
        run: impl FnMut() -> Result<Outcome> + 'static,
        check: impl FnMut() -> Result<Checksum> + 'static,
    ) -> Self {
        Self { run: Box::new(run), check: Box::new(check) }
    }

    /// Runs it once.
    pub fn run(&mut self) -> Result<Outcome> {
        (self.run)()
    }

    /// Runs it once and condenses everything that it computes.
    pub fn check(&mut self) -> Result<Checksum> {
        (self.check)()
    }
}

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Self {
        Self { answer, seconds: None, metrics: Metrics::new() }
    }
}

impl Outcome {
    /// The outcome of a run that gave so many rows.
    pub fn rows(rows: u64) -> Self {
        Answer::Rows(rows).into()
    }

    /// The outcome of a run that gave a floating-point number.
    pub fn real(value: f64) -> Self {
        Answer::Real(value).into()
    }

    /// The same, where the part to be timed took so long.
    #[must_use]
    pub fn lasting(self, seconds: f64) -> Self {
        Self { seconds: Some(seconds), ..self }
    }

    /// The same with one figure more.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.metrics.insert(name.to_owned(), value);
        self
    }
}
