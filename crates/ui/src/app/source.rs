//! The data source of an application's pages: [`AppSource`].

use super::{ApplicationData, EnvironmentData, ExecutorData, JobData, RddStorageData, StageData};

/// The data source of an application's pages. Lists are in the order of ids.
pub trait AppSource: Send + Sync + 'static {
    /// The application itself.
    fn application(&self) -> ApplicationData;

    /// Its jobs, those that ended lately included.
    fn jobs(&self) -> Vec<JobData>;

    /// The attempts of its stages, those that ended lately included.
    fn stages(&self) -> Vec<StageData>;

    /// Its executors, those that went away lately included.
    fn executors(&self) -> Vec<ExecutorData>;

    /// What it keeps of its RDDs.
    fn storage(&self) -> Vec<RddStorageData>;

    /// Its settings and what it runs on.
    fn environment(&self) -> EnvironmentData;
}
