//! `firesteel cluster status`.

use std::process::ExitCode;

use anyhow::Result;

use super::{folder::Folder, state::Member};
use crate::{args::PlaceArgs, log, output::print, status, table::table};

/// Shows the processes of the cluster and the status of its master. Ends with code 1 when it is not complete.
pub(super) fn run(args: &PlaceArgs) -> Result<ExitCode> {
    log::start(tracing::level_filters::LevelFilter::ERROR);
    let Some(state) = Folder::of(args)?.state()? else {
        print("no cluster is up\n");
        return Ok(ExitCode::FAILURE);
    };
    let row = |role: &str, member: &Member| {
        let is_up = if member.process.is_running() { "up" } else { "gone" };
        let (url, page) = (member.url.clone(), member.page.clone());
        [role.to_owned(), member.process.pid.to_string(), is_up.to_owned(), url, page]
    };
    let mut rows = vec![row("master", &state.master)];
    rows.extend(state.workers.iter().map(|worker| row("worker", worker)));
    print(&table(["PROCESS", "PID", "STATE", "ADDRESS", "PAGE"], &rows));
    if state.master.process.is_running() {
        print(&format!("\n{}", status::shown(&state.master.page)?));
    }
    let is_complete = state.members().all(|member| member.process.is_running());
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
