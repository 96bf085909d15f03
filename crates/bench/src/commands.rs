//! The command line.

use std::{env, io::Write, path::PathBuf, time::Duration};

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand, ValueEnum};
use tempfile::TempDir;

use crate::{
    child::{self, ChildOptions},
    compare::{self, Options},
    interrupt,
    peer::{Python, Spark},
    regress,
    report::Record,
    system::{self, Firesteel, Limit, Plan, System},
    table,
    workload::{WORKLOADS, select},
};

/// Workloads on Firesteel, beside the same jobs written by hand and on Spark, Ray and Dask.
#[derive(Debug, Parser)]
#[command(name = "firesteel-bench", version)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show all workloads.
    List,
    /// Run workloads on Firesteel, each in a process of its own.
    Run {
        /// Names with commas between, or `all`.
        workloads: String,
        /// Where Firesteel runs: `local[2]`, `local-cluster[2,1,4096]`, `firesteel://…`.
        #[arg(long, default_value = "local[2]")]
        master: String,
        /// Run a peer instead, local or as a cluster, as the master says.
        #[arg(long, value_enum)]
        peer: Option<Peer>,
        #[command(flatten)]
        how: How,
    },
    /// Run workloads as written by hand: two threads and no engine.
    Limit {
        /// Names with commas between, or `all`.
        workloads: String,
        #[command(flatten)]
        how: How,
    },
    /// Run systems side by side, and write tables.
    Compare(CompareOptions),
    /// Check that costs are in proportion: what CI runs.
    Regress,
    /// Run one workload in this process and report.
    #[command(hide = true)]
    Child(ChildOptions),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Peer {
    Spark,
    Ray,
    Dask,
}

#[derive(Debug, Args)]
struct How {
    /// The factor of all sizes.
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// How often each workload is timed.
    #[arg(long)]
    runs: Option<usize>,
    /// Print a JSON object for each workload.
    #[arg(long)]
    json: bool,
    /// How many seconds a process may take.
    #[arg(long, default_value_t = 1200)]
    timeout: u64,
}

#[derive(Debug, Args)]
struct CompareOptions {
    /// Names with commas between, or `all`; those that do not take very long when there are none.
    workloads: Option<String>,
    /// Beside Spark: local for a local master, with two executors of one core for a cluster.
    #[arg(long)]
    spark: bool,
    /// Beside Ray.
    #[arg(long)]
    ray: bool,
    /// Beside Dask.
    #[arg(long)]
    dask: bool,
    /// Beside the programs by hand.
    #[arg(long)]
    limit: bool,
    /// Where Firesteel runs; may be given several times.
    #[arg(long, default_values_t = vec!["local[2]".to_owned()])]
    master: Vec<String>,
    /// How many processes each system gets for a workload, in turn with the others.
    #[arg(long, default_value_t = 2)]
    rounds: usize,
    /// Where tables and raw figures go.
    #[arg(long, default_value = "bench/results")]
    out: PathBuf,
    #[command(flatten)]
    how: How,
}

/// Runs the command of the command line.
pub fn run(arguments: Arguments, out: &mut impl Write) -> Result<()> {
    match arguments.command {
        Command::List => list(out),
        Command::Run { workloads, master, peer, how } => {
            run_each(&*system_of(peer, master)?, &workloads, &how, out)
        }
        Command::Limit { workloads, how } => {
            run_each(&Limit { program: env::current_exe()? }, &workloads, &how, out)
        }
        Command::Compare(options) => run_comparison(&options, out),
        Command::Regress => regress::regress(env::current_exe()?, temporary()?.path(), out),
        Command::Child(options) => child::run(&options, out),
    }
}

fn list(out: &mut impl Write) -> Result<()> {
    for workload in &WORKLOADS {
        let note = match (workload.cluster_only, workload.usual) {
            (true, _) => " (needs a cluster)",
            (_, false) => " (takes very long: only when named)",
            _ => "",
        };
        writeln!(out, "{:<18} {}{note}", workload.name, workload.what)?;
    }
    Ok(())
}

fn system_of(peer: Option<Peer>, master: String) -> Result<Box<dyn System>> {
    Ok(match peer {
        None => Box::new(Firesteel { program: env::current_exe()?, master }),
        Some(Peer::Spark) if child::is_local(&master) => Box::new(Spark::local()?),
        Some(Peer::Spark) => Box::new(Spark::standalone()?),
        Some(Peer::Ray) => Box::new(Python::ray()?),
        Some(Peer::Dask) => Box::new(Python::dask()?),
    })
}

fn run_each(system: &dyn System, workloads: &str, how: &How, out: &mut impl Write) -> Result<()> {
    interrupt::watch()?;
    let data = temporary()?;
    for workload in select(Some(workloads))? {
        if !system.can_run(workload) {
            if workloads != "all" {
                bail!("{} {} does not have {}", system.name(), system.master(), workload.name);
            }
            continue;
        }
        let timeout = Duration::from_secs(how.timeout);
        let plan = Plan { workload, scale: how.scale, runs: how.runs, data: data.path(), timeout };
        let record = system::record(system, &plan)?;
        let line = if how.json { serde_json::to_string(&record)? } else { shown(&record) };
        writeln!(out, "{line}")?;
        out.flush()?;
    }
    Ok(())
}

/// A record in a line for people.
fn shown(record: &Record) -> String {
    let Record { workload, system, master, median_seconds, best_seconds, rate, unit, checksum, .. } = record;
    let peak = record.peak_resident_bytes as f64 / 1e6;
    let figures: Vec<String> =
        record.metrics.iter().map(|(name, value)| format!(", {name} {value:.4}")).collect();
    let figures = figures.concat();
    format!(
        "{workload:<18} {system} {master}: median {median_seconds:.4} s, best {best_seconds:.4} s, {rate:.0} {unit}/s, \
         peak {peak:.0} MB, answer {checksum}{figures}"
    )
}

/// A folder for data, removed when it is dropped.
///
/// Its name does not begin as those of the engine's own folders do, which processes that start remove when they find them
/// without an owner.
fn temporary() -> Result<TempDir> {
    tempfile::Builder::new().prefix("bench-firesteel-").tempdir().context("cannot make a temporary folder")
}

fn run_comparison(options: &CompareOptions, out: &mut impl Write) -> Result<()> {
    interrupt::watch()?;
    let systems = systems_beside(options)?;
    let workloads = select(options.workloads.as_deref())?;
    let data = temporary()?;
    let CompareOptions { how, rounds, .. } = options;
    let timeout = Duration::from_secs(how.timeout);
    let how_to = Options { scale: how.scale, runs: how.runs, rounds: *rounds, timeout };
    let found = compare::compare(&systems, &workloads, &how_to, data.path(), &options.out, out)?;
    write!(out, "\n{}", table::markdown(&found))?;
    match found.failures.len() {
        0 => Ok(()),
        count => bail!("{count} of the comparisons failed:\n{}", found.failures.join("\n")),
    }
}

/// The systems of a comparison, Firesteel first.
fn systems_beside(options: &CompareOptions) -> Result<Vec<Box<dyn System>>> {
    let program = env::current_exe()?;
    let mut systems: Vec<Box<dyn System>> = Vec::new();
    for master in &options.master {
        systems.push(Box::new(Firesteel { program: program.clone(), master: master.clone() }));
    }
    let (local, cluster) =
        (systems.iter().any(|ours| !ours.is_cluster()), systems.iter().any(|ours| ours.is_cluster()));
    if options.limit {
        systems.push(Box::new(Limit { program }));
    }
    if options.spark && local {
        systems.push(Box::new(Spark::local()?));
    }
    if options.spark && cluster {
        systems.push(Box::new(Spark::standalone()?));
    }
    if options.ray {
        systems.push(Box::new(Python::ray()?));
    }
    if options.dask {
        systems.push(Box::new(Python::dask()?));
    }
    Ok(systems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;

        Arguments::command().debug_assert();
    }

    #[test]
    fn the_list_has_every_workload() {
        let mut out = Vec::new();

        list(&mut out).unwrap();

        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), WORKLOADS.len());
        assert!(text.contains("executor_loss") && text.contains("(needs a cluster)"));
    }
}
