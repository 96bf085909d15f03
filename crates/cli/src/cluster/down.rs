//! `firesteel cluster down`.

use std::{process::ExitCode, time::Duration};

use anyhow::{Result, bail};

use super::{folder::Folder, launch::end_all};
use crate::{args::DownArgs, log, output::print};

/// How long a daemon may take to end: a worker waits for its own processes, twice if need be.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(25);

/// Ends the processes of the cluster.
pub(super) fn run(args: &DownArgs) -> Result<ExitCode> {
    log::start(tracing::level_filters::LevelFilter::ERROR);
    let folder = Folder::of(&args.place)?;
    if !folder.path().exists() {
        print("no cluster is up\n");
        return Ok(ExitCode::SUCCESS);
    }
    let _lock = folder.lock()?;
    let state = folder.state()?;
    if let Some(state) = &state {
        // Workers first, so that they do not look for a master that is gone.
        let mut living = end_all(state.workers.iter().map(|worker| &worker.process), SHUTDOWN_TIMEOUT);
        living.extend(end_all([&state.master.process], SHUTDOWN_TIMEOUT));
        if !living.is_empty() {
            bail!("these processes live on even though they were ended by force: {living:?}");
        }
    }
    folder.clear(args.keep_logs)?;
    print(if state.is_some() { "the cluster is down\n" } else { "no cluster was up\n" });
    Ok(ExitCode::SUCCESS)
}
