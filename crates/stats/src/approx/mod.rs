//! Answers from the tasks that are done, with bounds for what is missing.
//!
//! An approximate action starts a job, waits for at most a given time, and asks an [`ApproximateEvaluator`] for the
//! best answer from the results so far. All evaluators take the partitions that are done for a random choice of
//! all partitions: where large partitions finish last, the truth may lie outside of the bounds.

mod bounded_double;
mod count;
mod evaluator;
mod grouped_count;
mod mean;
mod quantile;
mod sum;

pub use bounded_double::BoundedDouble;
pub use count::CountEvaluator;
pub use evaluator::{ApproximateEvaluator, ConfidenceError};
pub use grouped_count::GroupedCountEvaluator;
pub use mean::MeanEvaluator;
pub use sum::SumEvaluator;
