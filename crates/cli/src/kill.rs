//! `firesteel kill`.

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::{args::KillArgs, log, master_choice::Chosen, output::print};

/// Ends drivers that the cluster runs.
pub(crate) fn run(args: &KillArgs) -> Result<ExitCode> {
    log::start(tracing::level_filters::LevelFilter::ERROR);
    let conf = args.settings.read()?;
    let client = Chosen::new(&conf, args.master.as_deref())?.client(&conf)?;
    if args.all {
        client.kill_all()?;
        print("every driver was told to end\n");
        return Ok(ExitCode::SUCCESS);
    }
    let mut unknown = Vec::new();
    for driver in &args.drivers {
        if client.kill(&driver.as_str().into())? {
            print(&format!("{driver} was told to end\n"));
        } else {
            unknown.push(driver.as_str());
        }
    }
    if !unknown.is_empty() {
        bail!("not known, or ended already: {}; `firesteel status` lists the drivers", unknown.join(", "));
    }
    Ok(ExitCode::SUCCESS)
}
