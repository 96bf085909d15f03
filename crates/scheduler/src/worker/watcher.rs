//! An executor's watch over the worker that started it.
//!
//! [`WorkerWatcher`] lives in the executor's process. It shares the worker's fate so that no executor outlives
//! the one who counts its resources. It opens no connection; its driver tells it which ones were lost.

use serde::{Deserialize, Serialize};

/// What the watcher wants done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum WatcherEffect {
    /// End this process.
    Exit { code: i32, reason: String },
}

/// Ends the process when the one worker it watches is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerWatcher {
    worker: String,
    exiting: bool,
}

impl WorkerWatcher {
    /// The exit code of an executor whose worker is lost.
    pub const EXIT_CODE: i32 = -1;

    /// Watches the worker at the address `worker`.
    pub fn new(worker: impl Into<String>) -> Self {
        Self { worker: worker.into(), exiting: false }
    }

    /// The connection to `address` was lost, or could not be made.
    ///
    /// Only the watched worker counts, and only once: exiting twice can block a process that is ending.
    pub fn on_connection_lost(&mut self, address: &str) -> Vec<WatcherEffect> {
        if address != self.worker || self.exiting {
            return Vec::new();
        }
        self.exiting = true;
        let reason = format!("lost the worker at {address} that started this process");
        vec![WatcherEffect::Exit { code: Self::EXIT_CODE, reason }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behaviours: WORK-011.
    #[test]
    fn losing_the_watched_worker_ends_the_process_once() {
        let mut watcher = WorkerWatcher::new("h1:9");

        let first = watcher.on_connection_lost("h1:9");
        let second = watcher.on_connection_lost("h1:9");

        let reason = "lost the worker at h1:9 that started this process".to_owned();
        assert_eq!(first, [WatcherEffect::Exit { code: -1, reason }]);
        assert_eq!(second, []);
    }

    /// Behaviours: WORK-011.
    #[test]
    fn losing_any_other_address_does_not() {
        let mut watcher = WorkerWatcher::new("h1:9");

        assert_eq!(watcher.on_connection_lost("h1:90"), []);
        assert_eq!(watcher.on_connection_lost("h2:9"), []);
    }
}
