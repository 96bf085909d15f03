//! What a process that was started for one workload does.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use firesteel::Context;
use firesteel_types::MasterUrl;

use crate::{
    executors::executors_of,
    measure::measure,
    processes::peak_resident_bytes,
    report::{Metrics, Report},
    workload::{Job, Setup, Workload, find},
};

/// What the process is to do.
#[derive(Clone, Debug, clap::Args)]
pub struct ChildOptions {
    /// The workload.
    pub workload: String,
    /// Where the engine runs; the program by hand when there is none.
    #[arg(long)]
    pub master: Option<String>,
    /// The factor of the size.
    #[arg(long)]
    pub scale: f64,
    /// How often it is timed.
    #[arg(long)]
    pub runs: usize,
    /// The folder of data.
    #[arg(long)]
    pub data: PathBuf,
}

/// Runs the workload and writes the report.
pub fn run(options: &ChildOptions, out: &mut impl Write) -> Result<()> {
    let workload = find(&options.workload)?;
    match &options.master {
        Some(master) => on_engine(workload, master, options, out),
        None => by_hand(workload, options, out),
    }
}

fn by_hand(workload: &Workload, options: &ChildOptions, out: &mut impl Write) -> Result<()> {
    let Some(limit) = workload.limit else { bail!("{} is not written by hand", workload.name) };
    let sizes = (workload.sizes)(options.scale);
    let mut job = limit(&sizes, &options.data);
    report(workload, &mut job, options.runs, out, || 0)
}

fn on_engine(workload: &Workload, master: &str, options: &ChildOptions, out: &mut impl Write) -> Result<()> {
    let ctx = start(workload, master, &options.data)?;
    let sizes = (workload.sizes)(options.scale);
    let setup = Setup { ctx: &ctx, master, sizes: &sizes, data: &options.data };
    let mut job = (workload.engine)(&setup);
    let executors = || {
        let processes = if is_local(master) { Vec::new() } else { executors_of(master) };
        processes.iter().map(|process| peak_resident_bytes(process.pid)).sum()
    };
    report(workload, &mut job, options.runs, out, executors)
}

/// Whether all tasks run in the driver's own process.
pub fn is_local(master: &str) -> bool {
    matches!(master.parse(), Ok(MasterUrl::Local { .. }))
}

/// Starts the application: two cores in all, as for every other system.
fn start(workload: &Workload, master: &str, data: &Path) -> Result<Context> {
    let url: MasterUrl = master.parse()?;
    let mut builder = Context::builder()
        .master(master)
        .app_name(workload.name)
        .set("firesteel.ui.showConsoleProgress", false)?
        .set("firesteel.local.dir", data.display())?;
    builder = match url {
        MasterUrl::Local { .. } => match workload.memory {
            Some(memory) => builder.set("firesteel.memory.limit", memory)?,
            None => builder,
        },
        MasterUrl::LocalCluster { memory_mib, .. } => {
            let memory = workload.memory.map_or_else(|| format!("{memory_mib}m"), str::to_owned);
            builder.set("firesteel.executor.memory", memory)?
        }
        MasterUrl::Cluster { .. } => builder
            .set("firesteel.executor.memory", workload.memory.unwrap_or("4g"))?
            .set("firesteel.executor.cores", 1)?
            .set("firesteel.cores.max", 2)?,
    };
    if !workload.cold {
        // The first job waits for both executors, so that no run has but one of them.
        builder = builder.set("firesteel.scheduler.minRegisteredResourcesRatio", 1)?;
    }
    builder.start().with_context(|| format!("cannot start on {master}"))
}

fn report(
    workload: &Workload,
    job: &mut Job,
    runs: usize,
    out: &mut impl Write,
    peak_elsewhere: impl Fn() -> u64,
) -> Result<()> {
    let mut report = if workload.cold {
        // The parent process measures the time.
        Report {
            seconds: Vec::new(),
            checksum: job.check()?,
            peak_resident_bytes: 0,
            metrics: Metrics::new(),
        }
    } else {
        measure(job, runs)?
    };
    // Before the application ends, and its executors with it.
    report.peak_resident_bytes = peak_resident_bytes(std::process::id()) + peak_elsewhere();
    writeln!(out, "{}", report.line()?)?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_cluster_has_executors_in_other_processes() {
        let masters = ["local", "local[2]", "local[*,3]", "local-cluster[2,1,4096]", "firesteel://a:1"];

        assert_eq!(masters.map(is_local), [true, true, true, false, false]);
    }
}
