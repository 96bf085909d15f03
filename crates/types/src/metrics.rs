//! What a task reports about its own work.

use serde::{Deserialize, Serialize};

/// The figures of one attempt, as far as scheduling and the listeners use them.
///
/// Small and `Copy` on purpose: one of these travels with every task that ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskMetrics {
    /// Time spent in the task's own code, in microseconds.
    pub run_time_us: u64,
    /// Records read from sources.
    pub input_records: u64,
    /// Bytes read from sources.
    pub input_bytes: u64,
    /// Records read from shuffles.
    pub shuffle_records_read: u64,
    /// Bytes read from shuffles.
    pub shuffle_bytes_read: u64,
    /// Records written to a shuffle.
    pub shuffle_records_written: u64,
    /// Bytes written to a shuffle.
    pub shuffle_bytes_written: u64,
    /// The most memory the task held at once.
    pub peak_memory_bytes: u64,
}

impl TaskMetrics {
    /// Records that came in, from sources and shuffles together.
    pub const fn records_read(&self) -> u64 {
        self.input_records.saturating_add(self.shuffle_records_read)
    }
}
