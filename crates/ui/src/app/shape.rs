//! How single values look in Spark's REST API.
#![expect(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes references to fields"
)]

use firesteel_types::{Cpus, ExecutorId, StorageLevel, TaskMetrics, Timestamp};
use serde::{Serialize, Serializer};

/// `2024-02-29T12:34:56.789GMT`.
pub(super) fn time<S: Serializer>(time: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
    // All but the year have two digits each.
    let compact = time.compact_utc();
    let (year, rest) = compact.split_at(compact.len() - 10);
    let part = |n: usize| &rest[2 * n..2 * n + 2];
    out.collect_str(&format_args!(
        "{year}-{}-{}T{}:{}:{}.{:03}GMT",
        part(0),
        part(1),
        part(2),
        part(3),
        part(4),
        time.as_millis() % 1_000
    ))
}

/// The same; nothing where there is none.
pub(super) fn optional_time<S: Serializer>(at: &Option<Timestamp>, out: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => time(at, out),
        None => out.serialize_none(),
    }
}

/// `driver`, or the bare number; a text in any case.
pub(super) fn executor<S: Serializer>(id: &ExecutorId, out: S) -> Result<S::Ok, S::Error> {
    match *id {
        ExecutorId::DRIVER => out.serialize_str("driver"),
        ExecutorId(number) => out.collect_str(&number),
    }
}

/// Whole cores.
pub(super) fn cores<S: Serializer>(cpus: &Cpus, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_u32(cpus.whole())
}

/// The sums of a stage under Spark's names, to be flattened into it.
pub(super) fn stage_metrics<S: Serializer>(metrics: &TaskMetrics, out: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Shape {
        /// In milliseconds.
        executor_run_time: u64,
        peak_execution_memory: u64,
        input_bytes: u64,
        input_records: u64,
        shuffle_read_bytes: u64,
        shuffle_read_records: u64,
        shuffle_write_bytes: u64,
        shuffle_write_records: u64,
    }
    let shape = Shape {
        executor_run_time: metrics.run_time_us / 1_000,
        peak_execution_memory: metrics.peak_memory_bytes,
        input_bytes: metrics.input_bytes,
        input_records: metrics.input_records,
        shuffle_read_bytes: metrics.shuffle_bytes_read,
        shuffle_read_records: metrics.shuffle_records_read,
        shuffle_write_bytes: metrics.shuffle_bytes_written,
        shuffle_write_records: metrics.shuffle_records_written,
    };
    shape.serialize(out)
}

/// As `StorageLevel` shows itself.
pub(super) fn storage_level<S: Serializer>(level: &StorageLevel, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(level)
}
