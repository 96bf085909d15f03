//! The data source of a worker's pages: [`WorkerSource`].

use firesteel_deploy::worker::{LogError, LogRequest, LogSlice, WorkerServer, WorkerStatus};

/// The data source of a worker's pages. May take a while to answer.
pub trait WorkerSource: Send + Sync + 'static {
    /// How things are; none when the worker has ended.
    fn status(&self) -> Option<WorkerStatus>;

    /// Reads a part of the log of a process.
    fn log(&self, request: &LogRequest) -> Result<LogSlice, LogError>;
}

impl WorkerSource for WorkerServer {
    fn status(&self) -> Option<WorkerStatus> {
        Self::status(self)
    }

    fn log(&self, request: &LogRequest) -> Result<LogSlice, LogError> {
        Self::log(self, request)
    }
}
