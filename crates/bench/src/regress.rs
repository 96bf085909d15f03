//! The part of the benchmarks that CI runs: costs that got out of proportion.
//!
//! No figure here is a time. The processor time of a small run is held against that of a run four times as large, which
//! must not cost more per unit; in optimised builds also against the program by hand. Both sides of a ratio are the least
//! of several tries, so that a busy machine makes a check slow and not wrong.

use std::{
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, bail};

use crate::{
    measure::CPU_SECONDS,
    system::{self, Firesteel, Limit, Plan, System},
    workload::{Workload, find},
};

/// How much more a unit may cost in a run that is four times as large.
const GROWTH_MAX: f64 = 1.6;
const GROWTH: f64 = 4.0;
const TRIES: usize = 6;
const RUNS: usize = 3;
const TIMEOUT: Duration = Duration::from_secs(60);

/// What is checked of one workload.
struct Check {
    workload: &'static str,
    /// The scale of the small run in an optimised build, and in any other.
    scale: f64,
    debug_scale: f64,
    /// How many times the processor time of the program by hand it may take, in an optimised build.
    limit: Option<f64>,
}

const CHECKS: &[Check] = &[
    Check { workload: "empty_tasks", scale: 0.25, debug_scale: 0.02, limit: None },
    Check { workload: "tiny_shuffle_jobs", scale: 2.0, debug_scale: 0.1, limit: None },
    Check { workload: "narrow_pipeline", scale: 0.25, debug_scale: 0.004, limit: Some(1.6) },
    Check { workload: "reduce_by_key", scale: 0.05, debug_scale: 0.002, limit: Some(3.0) },
    Check { workload: "sort_by_key", scale: 0.05, debug_scale: 0.004, limit: Some(3.0) },
    Check { workload: "join", scale: 0.05, debug_scale: 0.01, limit: Some(3.5) },
    Check { workload: "many_stages", scale: 0.25, debug_scale: 0.1, limit: None },
    Check { workload: "wide", scale: 0.002, debug_scale: 0.0008, limit: None },
];

/// Runs every check; an error names those that failed.
pub fn regress(program: PathBuf, data: &Path, out: &mut dyn Write) -> Result<()> {
    let optimised = !cfg!(debug_assertions);
    if !optimised {
        writeln!(out, "not an optimised build: growth is checked, not the ratio to programs by hand")?;
    }
    let engine = Firesteel { program: program.clone(), master: "local[2]".to_owned() };
    let limit = Limit { program };
    let mut failed = Vec::new();
    for check in CHECKS {
        let workload = find(check.workload)?;
        let small = if optimised { check.scale } else { check.debug_scale };
        let bound = check.limit.filter(|_| optimised);
        let mut costs = Costs::default();
        for _ in 0..TRIES {
            costs.small.improve(cost(&engine, workload, small, data)?);
            costs.large.improve(cost(&engine, workload, small * GROWTH, data)?);
            if bound.is_some() {
                costs.by_hand.improve(cost(&limit, workload, small * GROWTH, data)?);
            }
            if costs.pass(bound) {
                break;
            }
        }
        let verdict = if costs.pass(bound) { "ok" } else { "FAILED" };
        writeln!(out, "  {:<18} {} {verdict}", check.workload, costs.told(bound))?;
        if !costs.pass(bound) {
            failed.push(check.workload);
        }
    }
    if !failed.is_empty() {
        bail!("costs out of proportion: {}", failed.join(", "));
    }
    Ok(())
}

/// The least cost that was seen.
#[derive(Clone, Copy, Debug)]
struct Least(f64);

impl Default for Least {
    fn default() -> Self {
        Self(f64::INFINITY)
    }
}

impl Least {
    fn improve(&mut self, cost: f64) {
        self.0 = self.0.min(cost);
    }
}

/// Processor time per unit.
#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    small: Least,
    large: Least,
    by_hand: Least,
}

impl Costs {
    fn growth(self) -> f64 {
        self.large.0 / self.small.0
    }

    fn against_hand(self) -> f64 {
        self.large.0 / self.by_hand.0
    }

    fn pass(self, bound: Option<f64>) -> bool {
        self.growth() <= GROWTH_MAX && bound.is_none_or(|bound| self.against_hand() <= bound)
    }

    fn told(self, bound: Option<f64>) -> String {
        let growth = format!("{GROWTH}× the size: {:.2}× per unit (≤ {GROWTH_MAX})", self.growth());
        match bound {
            Some(bound) => format!("{growth}, against by hand: {:.2}× (≤ {bound})", self.against_hand()),
            None => growth,
        }
    }
}

fn cost(system: &dyn System, workload: &'static Workload, scale: f64, data: &Path) -> Result<f64> {
    let plan = Plan { workload, scale, runs: Some(RUNS), data, timeout: TIMEOUT };
    let report = system::run(system, &plan)?;
    let seconds = report.metrics.get(CPU_SECONDS).context("every run has its processor time")?;
    Ok(seconds / (workload.units)(&(workload.sizes)(scale)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_passes_when_both_ratios_are_in_bounds() {
        let costs = |small, large, by_hand| Costs {
            small: Least(small),
            large: Least(large),
            by_hand: Least(by_hand),
        };

        assert!(costs(1.0, 1.5, 1.0).pass(Some(2.0)));
        assert!(!costs(1.0, 1.7, 1.0).pass(Some(2.0)), "a unit costs more in a large run");
        assert!(!costs(1.0, 1.5, 0.5).pass(Some(2.0)), "the program by hand is three times as fast");
        assert!(costs(1.0, 1.5, 0.5).pass(None));
    }

    #[test]
    fn the_least_cost_counts() {
        let mut least = Least::default();
        for cost in [3.0, 1.0, 2.0] {
            least.improve(cost);
        }

        assert!((least.0 - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn every_check_is_of_a_workload() {
        for check in CHECKS {
            let workload = find(check.workload).unwrap();
            assert!(check.limit.is_none() || workload.limit.is_some(), "{}", check.workload);
        }
    }
}
