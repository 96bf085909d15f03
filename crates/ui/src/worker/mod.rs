//! What a worker shows: its executors and drivers, and their logs.
//!
//! `/` is the overview, `/logPage/?appId=…&executorId=…&logType=stderr` (or `driverId=…`) a part of a log as a page,
//! `/log/` with the same words the bare bytes, `/json` the overview in the shape of Spark's worker.

mod json;
mod logs;
mod page;
mod routes;
mod source;

#[cfg(test)]
mod tests;

pub use logs::executor_logs;
pub use source::WorkerSource;
