//! What a driver shows of its application: jobs, stages, executors, cached RDDs and settings.
//!
//! The data bear the names of Spark's REST API and serialize in its shape: camel case, ids as numbers, times as text,
//! what is absent left out. `/api/v1/applications/…` gives them as they are; the pages show the same to people.

mod application;
mod data;
mod environment;
mod job_page;
mod other_pages;
mod page;
mod rest;
mod routes;
mod shape;
mod source;
mod stage_page;

#[cfg(test)]
mod tests;

pub use application::{ApplicationData, RddStorageData};
pub use data::{AccumulableData, ExecutorData, JobData, JobStatus, StageData, StageStatus};
pub use environment::EnvironmentData;
pub use source::AppSource;
