//! `firesteel cluster up`.

use std::{
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use firesteel::{Conf, settings};

use super::{
    folder::Folder,
    launch::{Launched, end_all},
    process::Process,
    state::{Member, State},
};
use crate::{args::UpArgs, log, memory::default_resources, output::print, status::alive_workers};

/// How long a cluster may take to start.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(60);
/// How long processes may take to end after a failed start.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Starts a master and workers, and returns when all of them work together.
pub(super) fn run(args: &UpArgs) -> Result<ExitCode> {
    log::start(tracing::level_filters::LevelFilter::ERROR);
    let conf = args.settings.read()?;
    let folder = Folder::of(&args.place)?;
    let _lock = folder.lock()?;
    if let Some(state) = folder.running()? {
        bail!(
            "a cluster is up already at {}; end it with `firesteel cluster down`, or give another --dir",
            state.master.url
        );
    }
    let mut started = Vec::new();
    match start(args, &conf, &folder, &mut started) {
        Ok(state) => {
            print(&shown(&state, &folder));
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            end_all(&started, CLEANUP_TIMEOUT);
            // The logs are kept: they tell more than the error.
            folder.clear(true)?;
            Err(error)
        }
    }
}

fn start(args: &UpArgs, conf: &Conf, folder: &Folder, started: &mut Vec<Process>) -> Result<State> {
    let deadline = Instant::now() + STARTUP_TIMEOUT;
    let mut launch = |name: &str, arguments: &[String]| {
        let launched = Launched::start(name, arguments, conf, &folder.logs())?;
        started.push(launched.process.clone());
        Ok::<_, anyhow::Error>(launched)
    };
    let master = launch("master", &master_arguments(args))?.wait_ready(deadline)?;
    let mut workers = Vec::new();
    for number in 0..args.workers {
        let arguments = worker_arguments(args, conf, folder, &master, number)?;
        workers.push(launch(&format!("worker-{number}"), &arguments)?);
    }
    let workers = workers.into_iter().map(|worker| worker.wait_ready(deadline)).collect::<Result<_>>()?;
    let state = State { master, workers };
    folder.write(&state)?;
    wait_for_workers(&state, deadline)?;
    Ok(state)
}

fn master_arguments(args: &UpArgs) -> Vec<String> {
    let mut arguments = vec!["master".to_owned()];
    let flags = [("--port", args.port), ("--webui-port", args.webui_port)];
    for (flag, port) in flags.into_iter().filter_map(|(flag, port)| Some((flag, port?))) {
        arguments.extend([flag.to_owned(), port.to_string()]);
    }
    arguments
}

fn worker_arguments(
    args: &UpArgs,
    conf: &Conf,
    folder: &Folder,
    master: &Member,
    number: u32,
) -> Result<Vec<String>> {
    let cores = args.cores.or_else(|| conf.get(settings::WORKER_CORES));
    let memory = args
        .memory
        .clone()
        .or_else(|| conf.get(settings::WORKER_MEMORY).map(|bytes| format!("{}m", bytes >> 20)));
    let (cores, memory) = match (cores, memory) {
        (Some(cores), Some(memory)) => (cores, memory),
        (cores, memory) => {
            let (all_cores, all_mib) = default_resources()?;
            let share = |all: u64| (all / u64::from(args.workers)).max(1);
            let cores = cores.unwrap_or_else(|| share(all_cores.into()) as u32);
            (cores, memory.unwrap_or_else(|| format!("{}m", share(all_mib))))
        }
    };
    let text = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
    let mut arguments = vec!["worker".to_owned(), master.url.clone()];
    arguments.extend(["--cores".to_owned(), cores.to_string(), "--memory".to_owned(), memory]);
    arguments.extend(["--work-dir".to_owned(), text(folder.work(number))]);
    arguments
        .extend(["--conf".to_owned(), format!("{}={}", settings::LOCAL_DIR.key(), text(folder.local()))]);
    if let Some(port) = args.worker_webui_port {
        arguments.extend(["--webui-port".to_owned(), port.to_string()]);
    }
    Ok(arguments)
}

fn wait_for_workers(state: &State, deadline: Instant) -> Result<()> {
    loop {
        let alive = alive_workers(&state.master.page)?;
        if alive >= state.workers.len() {
            return Ok(());
        }
        if let Some(gone) = state.members().find(|member| !member.process.is_running()) {
            bail!("the process at {} has ended; its log says why", gone.url);
        }
        if Instant::now() >= deadline {
            bail!(
                "only {alive} of {} workers have found the master in {STARTUP_TIMEOUT:?}",
                state.workers.len()
            );
        }
        thread::sleep(POLL_INTERVAL);
    }
}

fn shown(state: &State, folder: &Folder) -> String {
    let mut lines = vec![format!("master  {}", state.master.url), format!("page    {}", state.master.page)];
    lines.extend(state.workers.iter().map(|worker| format!("worker  {}, page {}", worker.url, worker.page)));
    lines.push(format!("logs    {}", folder.logs().display()));
    lines.push(format!("run     firesteel submit --master {} ./my_app", state.master.url));
    lines.join("\n") + "\n"
}
