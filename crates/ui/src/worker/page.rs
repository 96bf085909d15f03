//! The status of a worker for people.

use firesteel_deploy::worker::{LogOwner, LogStream, WorkerStatus};
use firesteel_scheduler::deploy::Grant;
use firesteel_types::{DriverId, ExecutorKey, WorkerId};

use super::logs::log_link;
use crate::{
    html::{Cell, Page, Table, mebibytes},
    words,
};

/// The overview.
pub(super) fn overview(status: &WorkerStatus) -> Page {
    let cores =
        Cell::Progress { done: status.cores_used, of: status.resources.cores.into(), note: String::new() };
    let memory =
        format!("{} of {}", mebibytes(status.memory_used_mib), mebibytes(status.resources.memory_mib));
    Page::new(format!("Firesteel worker at {}", status.url))
        .links([Cell::link("/", "Overview"), Cell::link("/json", "JSON")])
        .facts([
            ("Id", Cell::maybe(status.id.as_ref().map(WorkerId::as_str))),
            ("Address", Cell::text(&status.url)),
            ("Master", Cell::text(status.master.as_deref().unwrap_or("none for the moment"))),
            ("Cores in use", cores),
            ("Memory in use", Cell::text(memory)),
        ])
        .table(&executors(status))
        .table_if(!status.drivers.is_empty(), &drivers(status))
        .table(&finished_executors(status))
        .table_if(!status.finished_drivers.is_empty(), &finished_drivers(status))
}

fn executors(status: &WorkerStatus) -> Table {
    let row = |one: &firesteel_deploy::worker::WorkerExecutor| {
        let [cores, memory, resources] = granted(&one.grant);
        let state = Cell::text(words::executor(one.state));
        [name(&one.executor), state, cores, memory, resources, executor_logs(&one.executor)]
    };
    Table::new(
        "Executors",
        &["Executor", "State", "Cores", "Memory", "Resources", "Logs"],
        status.executors.iter().map(row),
    )
}

fn finished_executors(status: &WorkerStatus) -> Table {
    let row = |one: &firesteel_scheduler::worker::FinishedExecutor| {
        let change = &one.change;
        [
            name(&change.executor),
            Cell::text(words::executor(change.state)),
            Cell::maybe(change.exit_code.map(|code| code.to_string())),
            Cell::maybe(change.message.clone()),
            executor_logs(&change.executor),
        ]
    };
    Table::new(
        "Finished executors",
        &["Executor", "State", "Exit code", "Message", "Logs"],
        status.finished_executors.iter().rev().map(row),
    )
}

fn drivers(status: &WorkerStatus) -> Table {
    let row = |one: &firesteel_deploy::worker::WorkerDriver| {
        let [cores, memory, resources] = granted(&one.grant);
        [Cell::text(one.driver.as_str()), cores, memory, resources, driver_logs(&one.driver)]
    };
    Table::new("Drivers", &["Driver", "Cores", "Memory", "Resources", "Logs"], status.drivers.iter().map(row))
}

fn finished_drivers(status: &WorkerStatus) -> Table {
    let row = |one: &firesteel_scheduler::worker::FinishedDriver| {
        let change = &one.change;
        [
            Cell::text(change.driver.as_str()),
            Cell::text(words::driver_end(change.state)),
            Cell::maybe(change.error.clone()),
            driver_logs(&change.driver),
        ]
    };
    Table::new(
        "Finished drivers",
        &["Driver", "State", "Error", "Logs"],
        status.finished_drivers.iter().rev().map(row),
    )
}

fn name(executor: &ExecutorKey) -> Cell {
    Cell::text(format!("{} of {}", executor.executor.0, executor.app))
}

fn granted(grant: &Grant) -> [Cell; 3] {
    let resources = grant.addresses.iter().map(|(name, addresses)| format!("{} {name}", addresses.len()));
    let resources = resources.collect::<Vec<_>>().join(", ");
    [Cell::number(grant.cores), Cell::text(mebibytes(grant.memory_mib)), Cell::text(resources)]
}

fn executor_logs(executor: &ExecutorKey) -> Cell {
    logs(&LogOwner::Executor(executor.clone()))
}

fn driver_logs(driver: &DriverId) -> Cell {
    logs(&LogOwner::Driver(driver.clone()))
}

fn logs(owner: &LogOwner) -> Cell {
    let one = |stream: LogStream| Cell::link(log_link("/logPage/", owner, stream, None), stream.name());
    Cell::Several(vec![one(LogStream::Stdout), one(LogStream::Stderr)])
}
