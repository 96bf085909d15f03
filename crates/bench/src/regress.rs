//! The part of the benchmarks that CI runs: costs that got out of proportion.
//!
//! A cost here is no time but a number of instructions, counted by valgrind, which is nearly independent of other load
//! on the machine. What a unit costs in a small run is held against what it costs in a run four times as large, and
//! against the program by hand.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, bail};

use crate::{
    launch::launch,
    system::{Firesteel, Limit, Plan, System},
    workload::{Workload, find},
};

/// How many more instructions a unit may take in a run that is four times as large.
const GROWTH_MAX: f64 = 1.3;
const GROWTH: f64 = 4.0;
const TIMEOUT: Duration = Duration::from_secs(300);

/// What is checked of one workload.
struct Check {
    workload: &'static str,
    /// The scale of the small run.
    scale: f64,
    /// How many times the instructions of the program by hand it may take.
    limit: Option<f64>,
}

const CHECKS: &[Check] = &[
    Check { workload: "empty_tasks", scale: 0.05, limit: None },
    Check { workload: "tiny_shuffle_jobs", scale: 0.1, limit: None },
    Check { workload: "narrow_pipeline", scale: 0.005, limit: Some(0.5) },
    Check { workload: "reduce_by_key", scale: 0.005, limit: Some(1.5) },
    Check { workload: "group_by_key", scale: 0.01, limit: Some(1.9) },
    Check { workload: "sort_by_key", scale: 0.01, limit: Some(1.75) },
    Check { workload: "join", scale: 0.02, limit: Some(2.5) },
    Check { workload: "pagerank", scale: 0.01, limit: Some(7.0) },
    Check { workload: "cached_scan", scale: 0.005, limit: Some(2.0) },
    Check { workload: "many_stages", scale: 0.1, limit: None },
    Check { workload: "wide", scale: 0.0008, limit: None },
];

/// Runs every check; an error names those that failed.
pub fn regress(program: PathBuf, data: &Path, out: &mut dyn Write) -> Result<()> {
    if cfg!(debug_assertions) {
        bail!("costs are those of an optimised build: build firesteel-bench with --release");
    }
    let engine = Firesteel { program: program.clone(), master: "local[2]".to_owned() };
    let by_hand = Limit { program };
    let mut failed = Vec::new();
    for check in CHECKS {
        let workload = find(check.workload)?;
        let large = check.scale * GROWTH;
        let costs = Costs {
            small: cost(&engine, workload, check.scale, data)?,
            large: cost(&engine, workload, large, data)?,
            by_hand: check.limit.map(|_| cost(&by_hand, workload, large, data)).transpose()?,
        };
        let verdict = if costs.pass(check.limit) { "ok" } else { "FAILED" };
        writeln!(out, "  {:<18} {} {verdict}", check.workload, costs.told(workload.unit, check.limit))?;
        out.flush()?;
        if !costs.pass(check.limit) {
            failed.push(check.workload);
        }
    }
    if !failed.is_empty() {
        bail!("costs out of proportion: {}", failed.join(", "));
    }
    Ok(())
}

/// Instructions per unit.
#[derive(Clone, Copy, Debug)]
struct Costs {
    small: f64,
    large: f64,
    by_hand: Option<f64>,
}

impl Costs {
    fn growth(self) -> f64 {
        self.large / self.small
    }

    fn against_hand(self) -> f64 {
        self.by_hand.map_or(0.0, |by_hand| self.large / by_hand)
    }

    fn pass(self, limit: Option<f64>) -> bool {
        self.growth() <= GROWTH_MAX && limit.is_none_or(|limit| self.against_hand() <= limit)
    }

    fn told(self, unit: &str, limit: Option<f64>) -> String {
        let growth = format!(
            "{:.0} instructions for each of the {unit}, at {GROWTH}× the size {:.2}× (≤ {GROWTH_MAX})",
            self.small,
            self.growth()
        );
        match limit {
            Some(limit) => format!("{growth}, against by hand {:.2}× (≤ {limit})", self.against_hand()),
            None => growth,
        }
    }
}

/// The instructions per unit of a run: those of a process with three runs, without those of one with a single run.
///
/// So neither the start of a process counts nor what is done once, and first, in it.
fn cost(system: &dyn System, workload: &'static Workload, scale: f64, data: &Path) -> Result<f64> {
    let instructions = |runs| {
        let plan = Plan { workload, scale, runs: Some(runs), data, timeout: TIMEOUT };
        instructions(system, &plan).with_context(|| format!("{} on {}", workload.name, system.name()))
    };
    let run = (instructions(3)? - instructions(1)?) / 2.0;
    Ok(run / (workload.units)(&(workload.sizes)(scale)))
}

/// Runs a plan under valgrind, and tells how many instructions its process took.
fn instructions(system: &dyn System, plan: &Plan<'_>) -> Result<f64> {
    let session = system.open(plan)?;
    let log = plan.data.join("instructions");
    launch(counting(&session.command(), &log), plan.timeout)?;
    let text = fs::read_to_string(&log)?;
    counted(&text).with_context(|| format!("valgrind counted nothing:\n{text}"))
}

/// The same command below a tool that counts and writes what it has counted to a file.
fn counting(command: &Command, log: &Path) -> Command {
    let mut counting = Command::new("valgrind");
    counting
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(format!("--log-file={}", log.display()))
        .arg(command.get_program())
        .args(command.get_args());
    counting
}

/// The number of instructions in the log of a tool.
fn counted(log: &str) -> Option<f64> {
    let (_, after) = log.lines().find_map(|line| line.split_once("refs:"))?;
    after.trim().replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_passes_when_both_ratios_are_in_bounds() {
        let costs = |small, large, by_hand| Costs { small, large, by_hand: Some(by_hand) };

        assert!(costs(1.0, 1.2, 1.0).pass(Some(2.0)));
        assert!(!costs(1.0, 1.4, 1.0).pass(Some(2.0)), "a unit costs more in a large run");
        assert!(!costs(1.0, 1.2, 0.5).pass(Some(2.0)), "the program by hand takes less than half");
        assert!(costs(1.0, 1.2, 0.5).pass(None));
    }

    #[test]
    fn instructions_are_read_from_what_valgrind_says() {
        let log =
            "==1== Cachegrind, a cache profiler\n==1== Command: x\n==1==\n==1== I   refs:      12,345,678\n";

        assert_eq!(counted(log), Some(12_345_678.0));
        assert_eq!(counted("==1== no such program\n"), None);
    }

    #[test]
    fn every_check_is_of_a_workload() {
        for check in CHECKS {
            let workload = find(check.workload).unwrap();
            assert!(check.limit.is_none() || workload.limit.is_some(), "{}", check.workload);
        }
    }
}
