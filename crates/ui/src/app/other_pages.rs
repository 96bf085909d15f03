//! The executors, cached RDDs and settings of an application for people.

use firesteel_types::ExecutorId;

use super::{ApplicationData, EnvironmentData, ExecutorData, RddStorageData, page::page};
use crate::html::{Cell, Page, Table, bytes, clock_time};

/// The executors.
pub(super) fn executors(application: &ApplicationData, executors: &[ExecutorData]) -> Page {
    let of = |is_active| executors.iter().filter(move |executor| executor.is_active == is_active);
    let dead = Table::new(
        "Removed executors",
        &["Executor", "Host", "Added", "Removed", "Tasks", "Reason", "Logs"],
        of(false).map(|executor| {
            [
                Cell::text(name(executor.id)),
                Cell::text(executor.host.as_str()),
                Cell::text(clock_time(executor.add_time)),
                Cell::maybe(executor.remove_time.map(clock_time)),
                Cell::number(executor.total_tasks),
                Cell::maybe(executor.remove_reason.clone()),
                logs(executor),
            ]
        }),
    );
    let active = Table::new(
        "Executors",
        &[
            "Executor",
            "Host",
            "Cores",
            "Running",
            "Failed",
            "Complete",
            "Time in tasks",
            "Input",
            "Shuffle read",
            "Shuffle write",
            "Added",
            "Logs",
        ],
        of(true).map(active_executor),
    );
    page(application, "Executors").table(&active).table_if(of(false).next().is_some(), &dead)
}

fn logs(executor: &ExecutorData) -> Cell {
    let logs = executor.executor_logs.iter();
    Cell::Several(logs.map(|(name, log)| Cell::elsewhere(Some(log), *name)).collect())
}

fn active_executor(executor: &ExecutorData) -> [Cell; 12] {
    [
        Cell::text(format!("{}{}", name(executor.id), if executor.is_excluded { " (excluded)" } else { "" })),
        Cell::text(executor.host.as_str()),
        Cell::number(executor.total_cores.whole()),
        Cell::number(executor.active_tasks),
        Cell::number(executor.failed_tasks),
        Cell::number(executor.completed_tasks),
        Cell::number(super::page::micros(executor.total_duration_ms.saturating_mul(1_000))),
        Cell::number(bytes(executor.total_input_bytes)),
        Cell::number(bytes(executor.total_shuffle_read)),
        Cell::number(bytes(executor.total_shuffle_write)),
        Cell::text(clock_time(executor.add_time)),
        logs(executor),
    ]
}

fn name(executor: ExecutorId) -> String {
    if executor == ExecutorId::DRIVER { "driver".to_owned() } else { executor.0.to_string() }
}

/// What is kept of RDDs.
pub(super) fn storage(application: &ApplicationData, rdds: &[RddStorageData]) -> Page {
    let row = |rdd: &RddStorageData| {
        let size = |size: Option<u64>| Cell::Number(size.map(bytes).unwrap_or_default());
        [
            Cell::number(rdd.id.0),
            Cell::text(&rdd.name),
            Cell::text(rdd.storage_level.to_string()),
            Cell::Progress {
                done: rdd.num_cached_partitions.into(),
                of: rdd.num_partitions.into(),
                note: String::new(),
            },
            size(rdd.memory_used),
            size(rdd.disk_used),
        ]
    };
    page(application, "Storage").table(&Table::new(
        "Cached RDDs",
        &["RDD", "Name", "Storage level", "Cached partitions", "In memory", "On disk"],
        rdds.iter().map(row),
    ))
}

/// The settings.
pub(super) fn environment(application: &ApplicationData, environment: &EnvironmentData) -> Page {
    let rows = |(name, value): (&str, &str)| [Cell::text(name), Cell::text(value)];
    let settings = environment.settings().iter().map(|(key, value)| (key.as_str(), value.as_str()));
    page(application, "Environment")
        .still()
        .table(&Table::new("Runtime", &["Name", "Value"], environment.runtime().map(rows)))
        .table(&Table::new("Settings that are not at their defaults", &["Key", "Value"], settings.map(rows)))
}
