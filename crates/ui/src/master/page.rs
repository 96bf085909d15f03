//! The status of a master for people.

use firesteel_deploy::master::{AppStatus, DriverStatusLine, MasterStatus, WorkerLine, WorkerLineState};
use firesteel_scheduler::master::{CompletedApp, DriverOutcome, UNLIMITED};
use firesteel_types::{Timestamp, WorkerId};

use crate::{
    html::{Cell, Page, Table, clock_time, duration, link, mebibytes},
    words,
    worker::executor_logs,
};

/// The overview.
pub(super) fn overview(status: &MasterStatus, now: Timestamp) -> Page {
    let alive = || status.workers.iter().filter(|worker| worker.state == WorkerLineState::Alive);
    let sum = |of: fn(&WorkerLine) -> u64| alive().map(of).sum::<u64>();
    let cores = (sum(|worker| worker.cores_used.into()), sum(|worker| worker.resources.cores.into()));
    let memory = (sum(|worker| worker.memory_used_mib), sum(|worker| worker.resources.memory_mib));
    Page::new(format!("Firesteel master at {}", status.url))
        .links([Cell::link("/", "Overview"), Cell::link("/json", "JSON")])
        .facts([
            ("URL", Cell::text(&status.url)),
            ("Status", Cell::text(words::master(status.state))),
            ("Alive workers", Cell::text(alive().count().to_string())),
            ("Cores in use", Cell::Progress { done: cores.0, of: cores.1, note: String::new() }),
            ("Memory in use", Cell::text(format!("{} of {}", mebibytes(memory.0), mebibytes(memory.1)))),
            ("Applications", Cell::text(counts(status.apps.len(), status.completed_apps.len()))),
            ("Drivers", Cell::text(counts(status.drivers.len(), status.completed_drivers.len()))),
        ])
        .table(&workers(&status.workers, now))
        .table(&apps(&status.apps, now))
        .table_if(!status.drivers.is_empty(), &drivers("Drivers", &status.drivers))
        .table(&completed_apps(&status.completed_apps))
        .table_if(
            !status.completed_drivers.is_empty(),
            &drivers("Completed drivers", &status.completed_drivers),
        )
}

fn counts(live: usize, ended: usize) -> String {
    format!("{live} running, {ended} completed")
}

fn workers(workers: &[WorkerLine], now: Timestamp) -> Table {
    let row = |worker: &WorkerLine| {
        let resources = worker.resources.addresses.iter();
        let resources = resources.map(|(name, addresses)| format!("{} {name}", addresses.len()));
        [
            Cell::elsewhere(worker.page.as_deref(), worker.id.as_str()),
            Cell::text(format!("{}:{}", worker.host, worker.port)),
            Cell::text(words::worker(worker.state)),
            Cell::text(format!("{} of {}", worker.cores_used, worker.resources.cores)),
            Cell::text(format!(
                "{} of {}",
                mebibytes(worker.memory_used_mib),
                mebibytes(worker.resources.memory_mib)
            )),
            Cell::text(resources.collect::<Vec<_>>().join(", ")),
            Cell::number(worker.executors.len()),
            Cell::text(format!("{} ago", duration(now.since(worker.last_heartbeat)))),
        ]
    };
    Table::new(
        "Workers",
        &["Worker", "Address", "State", "Cores", "Memory", "Resources", "Executors", "Last sign of life"],
        workers.iter().map(row),
    )
}

fn apps(apps: &[AppStatus], now: Timestamp) -> Table {
    let row = |app: &AppStatus| {
        [
            Cell::link(link("/app/", &[("appId", app.id.as_str())]), app.id.as_str()),
            Cell::elsewhere(app.page.as_deref(), &app.name),
            Cell::text(words::app(app.state)),
            Cell::number(app.cores_granted),
            Cell::number(app.executors.len()),
            Cell::text(mebibytes(app.executor_memory_mib)),
            Cell::text(clock_time(app.registered)),
            Cell::text(duration(now.since(app.registered))),
        ]
    };
    Table::new(
        "Applications",
        &[
            "Application",
            "Name",
            "State",
            "Cores",
            "Executors",
            "Memory per executor",
            "Submitted",
            "Duration",
        ],
        apps.iter().map(row),
    )
}

fn completed_apps(apps: &[CompletedApp]) -> Table {
    let row = |app: &CompletedApp| {
        [
            Cell::text(app.id.as_str()),
            Cell::text(&app.name),
            Cell::text(words::app_end(app.end)),
            Cell::text(clock_time(app.registered)),
            Cell::text(duration(app.ended.since(app.registered))),
        ]
    };
    // The newest is what people look for.
    Table::new(
        "Completed applications",
        &["Application", "Name", "State", "Submitted", "Duration"],
        apps.iter().rev().map(row),
    )
}

fn drivers(title: &'static str, drivers: &[DriverStatusLine]) -> Table {
    let row = |driver: &DriverStatusLine| {
        let outcome = match &driver.ended {
            Some((_, DriverOutcome::Ended { error, .. })) => error.clone().unwrap_or_default(),
            Some((_, DriverOutcome::Relaunched { new_id })) => format!("as {new_id}"),
            None => String::new(),
        };
        [
            Cell::text(driver.id.as_str()),
            Cell::text(words::driver(driver)),
            Cell::maybe(driver.worker.as_ref().map(WorkerId::as_str)),
            Cell::number(driver.cores),
            Cell::text(mebibytes(driver.memory_mib)),
            Cell::text(if driver.supervise { "yes" } else { "no" }),
            Cell::text(clock_time(driver.submitted)),
            Cell::text(outcome),
        ]
    };
    Table::new(
        title,
        &["Driver", "State", "Worker", "Cores", "Memory", "Supervised", "Submitted", "Outcome"],
        drivers.iter().rev().map(row),
    )
}

/// One application.
pub(super) fn app(app: &AppStatus, workers: &[WorkerLine], now: Timestamp) -> Page {
    let row = |executor: &firesteel_deploy::master::ExecutorStatus| {
        let addresses = executor.addresses.iter().map(|(name, addresses)| {
            let addresses: Vec<&str> = addresses.iter().map(|address| &**address).collect();
            format!("{name} {}", addresses.join(","))
        });
        let worker = workers.iter().find(|worker| worker.id == executor.worker);
        let page = worker.and_then(|worker| worker.page.as_deref());
        let logs = page.map(|page| executor_logs(page, &app.id, executor.id)).unwrap_or_default();
        let logs = logs.iter().map(|(name, log)| Cell::elsewhere(Some(log), *name));
        [
            Cell::number(executor.id.0),
            Cell::elsewhere(page, executor.worker.as_str()),
            Cell::text(words::executor(executor.state)),
            Cell::number(executor.cores),
            Cell::text(mebibytes(executor.memory_mib)),
            Cell::text(addresses.collect::<Vec<_>>().join("; ")),
            Cell::Several(logs.collect()),
        ]
    };
    let or_any = |number: u32| if number >= UNLIMITED { "any".to_owned() } else { number.to_string() };
    Page::new(format!("Application {}", app.name))
        .links([Cell::link("/", "Master"), Cell::link("/json", "JSON")])
        .facts([
            ("Id", Cell::text(app.id.as_str())),
            ("Name", Cell::elsewhere(app.page.as_deref(), &app.name)),
            ("State", Cell::text(words::app(app.state))),
            (
                "Cores",
                Cell::text(format!("{} (may take {} more)", app.cores_granted, or_any(app.cores_left))),
            ),
            ("Executors wanted", Cell::text(or_any(app.executor_limit))),
            ("Memory per executor", Cell::text(mebibytes(app.executor_memory_mib))),
            ("Submitted", Cell::text(clock_time(app.registered))),
            ("Duration", Cell::text(duration(now.since(app.registered)))),
            ("Driver", Cell::text(&app.driver_url)),
        ])
        .table(&Table::new(
            "Executors",
            &["Executor", "Worker", "State", "Cores", "Memory", "Resources", "Logs"],
            app.executors.iter().map(row),
        ))
}
