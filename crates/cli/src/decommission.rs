//! `firesteel decommission`.

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::{args::DecommissionArgs, log, master_choice::Chosen, output::print};

/// Has the workers of some hosts finish what they have and leave.
pub(crate) fn run(args: &DecommissionArgs) -> Result<ExitCode> {
    log::start(tracing::level_filters::LevelFilter::ERROR);
    let conf = args.settings.read()?;
    let client = Chosen::new(&conf, args.master.as_deref())?.client(&conf)?;
    match client.decommission_hosts(args.hosts.clone())? {
        0 => bail!("no worker is on {}; `firesteel status` lists the workers", args.hosts.join(", ")),
        1 => print("1 worker was told to leave\n"),
        workers => print(&format!("{workers} workers were told to leave\n")),
    }
    Ok(ExitCode::SUCCESS)
}
