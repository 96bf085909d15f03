//! `firesteel status`.

use std::{fmt::Write as _, process::ExitCode};

use anyhow::{Context, Result};
use firesteel::{Conf, settings};
use firesteel_net::Address;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    args::StatusArgs, log, master_choice::Chosen, output::print, page_client::get_json, table::table,
};

/// Shows how a cluster does.
pub(crate) fn run(args: &StatusArgs) -> Result<ExitCode> {
    log::start(tracing::level_filters::LevelFilter::ERROR);
    let conf = args.settings.read()?;
    let page = match &args.page {
        Some(page) => format!("http://{}", page.trim_start_matches("http://").trim_end_matches('/')),
        None => page_of(&conf, &Chosen::new(&conf, args.master.as_deref())?)?,
    };
    if args.json {
        let json: Value = get_json(&page, "/json")?;
        print(&format!("{json:#}\n"));
    } else {
        print(&shown(&page)?);
    }
    Ok(ExitCode::SUCCESS)
}

/// Where the pages of the master are that leads.
fn page_of(conf: &Conf, chosen: &Chosen) -> Result<String> {
    if let Some(page) = &chosen.page {
        return Ok(page.clone());
    }
    let leader = chosen.client(conf)?.leader()?;
    let port = u16::try_from(conf.get(settings::MASTER_UI_PORT)).unwrap_or(u16::MAX);
    Ok(format!("http://{}", Address::new(leader.host, port)))
}

/// The status at `page` for people.
pub(crate) fn shown(page: &str) -> Result<String> {
    let status: MasterJson = get_json(page, "/json").with_context(|| {
        "the status is read from the master's pages; give --page host:port if they are elsewhere".to_owned()
    })?;
    Ok(status.show(page))
}

/// How many workers of the master at `page` can be given work.
pub(crate) fn alive_workers(page: &str) -> Result<usize> {
    Ok(get_json::<MasterJson>(page, "/json")?.aliveworkers)
}

#[derive(Debug, Deserialize)]
struct MasterJson {
    url: String,
    status: String,
    aliveworkers: usize,
    cores: u64,
    coresused: u64,
    memory: u64,
    memoryused: u64,
    workers: Vec<WorkerJson>,
    activeapps: Vec<AppJson>,
    completedapps: Vec<Value>,
    activedrivers: Vec<DriverJson>,
    completeddrivers: Vec<DriverJson>,
}

#[derive(Debug, Deserialize)]
struct WorkerJson {
    id: String,
    host: String,
    port: u16,
    state: String,
    cores: u32,
    coresused: u32,
    memory: u64,
    memoryused: u64,
    executors: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct AppJson {
    id: String,
    name: String,
    state: String,
    cores: u64,
    executors: Vec<Value>,
    duration: u64,
}

#[derive(Debug, Deserialize)]
struct DriverJson {
    id: String,
    state: String,
    worker: String,
    cores: u32,
    memory: u64,
}

impl MasterJson {
    fn show(&self, page: &str) -> String {
        let workers = self.workers.iter().map(|worker| {
            [
                worker.id.clone(),
                format!("{}:{}", worker.host, worker.port),
                worker.state.clone(),
                format!("{} of {}", worker.coresused, worker.cores),
                format!("{} of {} MiB", worker.memoryused, worker.memory),
                worker.executors.len().to_string(),
            ]
        });
        let apps = self.activeapps.iter().map(|app| {
            let time = format!("{:.1} s", app.duration as f64 / 1000.0);
            let executors = app.executors.len().to_string();
            [app.id.clone(), app.name.clone(), app.state.clone(), app.cores.to_string(), executors, time]
        });
        let drivers =
            self.activedrivers.iter().chain(self.completeddrivers.iter().rev().take(10)).map(|driver| {
                let worker = if driver.worker == "None" { "" } else { &driver.worker };
                let memory = format!("{} MiB", driver.memory);
                [driver.id.clone(), driver.state.clone(), worker.to_owned(), driver.cores.to_string(), memory]
            });
        let mut text = format!(
            "master   {} ({})\npage     {page}\nworkers  {} alive, {} of {} cores and {} of {} MiB in use\n",
            self.url,
            self.status,
            self.aliveworkers,
            self.coresused,
            self.cores,
            self.memoryused,
            self.memory
        );
        writeln!(text, "apps     {} running, {} completed", self.activeapps.len(), self.completedapps.len())
            .expect("a text takes whatever is written to it");
        let tables = [
            table(
                ["WORKER", "ADDRESS", "STATE", "CORES", "MEMORY", "EXECUTORS"],
                &workers.collect::<Vec<_>>(),
            ),
            table(
                ["APPLICATION", "NAME", "STATE", "CORES", "EXECUTORS", "DURATION"],
                &apps.collect::<Vec<_>>(),
            ),
            table(["DRIVER", "STATE", "WORKER", "CORES", "MEMORY"], &drivers.collect::<Vec<_>>()),
        ];
        for table in tables.iter().filter(|table| !table.is_empty()) {
            text.push('\n');
            text.push_str(table);
        }
        text
    }
}
