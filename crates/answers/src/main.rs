//! `firesteel-answers`: random jobs with random faults, whose answers are compared with a plain model.
//!
//! A [case](case::Case) is drawn from a seed: a lineage of three to six operators over rows of some kind and shape, jobs
//! over its RDDs, a backend, an amount of memory, and faults. The [model](model::Model) computes the same on vectors.
//! Cases run in processes of their own ([`watch`]), so that crashes and hangs are found too; one that fails is made smaller
//! ([`shrink`]) and printed with the command that repeats it.
//!
//! Exit codes: 0 all answers are right, 1 some are not, 2 the command line was not understood.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool speaks to its terminal")]

mod case;
mod draw;
mod faults;
mod functions;
mod jobs;
mod kind;
mod model;
mod ops;
mod run;
mod shape;
mod shrink;
mod source;
mod watch;

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};

use case::{Backend, Case};
use watch::{Order, Outcome, Runner, Tally};

/// Compares the answers of random jobs with a plain model.
#[derive(Parser)]
#[command(version, about)]
enum Args {
    /// Runs the cases of many seeds.
    Run {
        /// The seed of the first case; each case has the next one.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// How many cases to run.
        #[arg(long)]
        cases: Option<u64>,
        /// How long to go on, in minutes.
        #[arg(long)]
        minutes: Option<u64>,
        /// Where to run every case; each draws its own unless this is given.
        #[arg(long)]
        backend: Option<BackendName>,
        /// After how many failing cases to stop.
        #[arg(long, default_value_t = 5)]
        failures: usize,
        /// Whether failing cases are printed as they are, without making them smaller.
        #[arg(long)]
        as_drawn: bool,
        /// Whether to show what the cases print.
        #[arg(long)]
        loud: bool,
    },
    /// Runs the case in a file, as a failing run printed it.
    Case {
        /// A file of JSON.
        file: PathBuf,
    },
    /// Prints the case of a seed.
    Show { seed: u64 },
    /// Runs cases from standard input, for `run`.
    #[command(hide = true)]
    Serve,
}

#[derive(Clone, Copy, ValueEnum)]
enum BackendName {
    Local,
    Shipped,
    Cluster,
}

impl From<BackendName> for Backend {
    fn from(name: BackendName) -> Self {
        match name {
            BackendName::Local => Self::Local,
            BackendName::Shipped => Self::Shipped,
            BackendName::Cluster => Self::Cluster,
        }
    }
}

firesteel::allocator!();

fn main() -> ExitCode {
    match answer(Args::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn answer(args: Args) -> Result<ExitCode> {
    match args {
        Args::Serve => watch::serve().map(|()| ExitCode::SUCCESS),
        Args::Show { seed } => {
            println!("{}", serde_json::to_string_pretty(&Case::draw(seed, None))?);
            Ok(ExitCode::SUCCESS)
        }
        Args::Case { file } => {
            let text =
                std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let case: Case =
                serde_json::from_str(&text).with_context(|| format!("{} is no case", file.display()))?;
            let outcome = Runner::new(true).run(&case)?;
            println!("{outcome:?}");
            Ok(if matches!(outcome, Outcome::Failed(_)) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
        }
        Args::Run { seed, cases, minutes, backend, failures, as_drawn, loud } => {
            let until = minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
            let cases = cases.or(until.is_none().then_some(200));
            let order = Order {
                first_seed: seed,
                cases,
                until,
                backend: backend.map(Into::into),
                failures_max: failures,
                is_loud: loud,
            };
            let begun = Instant::now();
            let tally = watch::run_many(order)?;
            report(&tally, begun.elapsed());
            let has_failed = !tally.failed.is_empty();
            for (case, what) in tally.failed {
                let (case, what) = if as_drawn { (case, what) } else { shrink::shrink(case, what)? };
                println!("\nseed {}: {what}", case.seed);
                println!("repeat it with: cargo xtask answers --seed {} --cases 1", case.seed);
                println!("or, made smaller, with `cargo xtask answers --case FILE` and this in the file:");
                println!("{}", serde_json::to_string(&case)?);
            }
            Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
        }
    }
}

fn report(tally: &Tally, time: Duration) {
    let refused: Vec<String> =
        tally.refused.iter().map(|(why, count)| format!("{count} for {why}")).collect();
    let refused = if refused.is_empty() { "none".to_owned() } else { refused.join(", ") };
    println!(
        "{} cases in {:.0} s: {} right; refused: {refused}; failed: {}",
        tally.cases(),
        time.as_secs_f64(),
        tally.right,
        tally.failed.len()
    );
}
