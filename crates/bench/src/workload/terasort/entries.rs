//! The two sizes of it.

use super::{by_hand, on_engine};
use crate::workload::{Sizes, Workload};

pub(crate) const TERASORT: Workload = Workload {
    name: "terasort",
    what: "1 GB of records of 100 bytes, sorted",
    unit: "MB",
    sizes: |scale| Sizes::default().scaled("records", 10_000_000, scale).with("parts", 8),
    units: |sizes| sizes.of("records") as f64 / 1e4,
    engine: on_engine::engine,
    limit: Some(by_hand::in_memory),
    runs: 3,
    ..Workload::PLAIN
};

pub(crate) const TERASORT_SPILL: Workload = Workload {
    name: "terasort_spill",
    what: "8 GB of records of 100 bytes, sorted with 1 GB of memory",
    unit: "MB",
    sizes: |scale| Sizes::default().scaled("records", 80_000_000, scale).with("parts", 64),
    units: |sizes| sizes.of("records") as f64 / 1e4,
    engine: on_engine::engine,
    limit: Some(by_hand::on_disk),
    memory: Some("1g"),
    runs: 1,
    usual: false,
    ..Workload::PLAIN
};
