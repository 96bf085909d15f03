//! `cargo xtask ci`: what has to pass before a change goes in.
//!
//! The steps run in the order of [`STEPS`], cheap ones early, in one target directory. The first failure ends
//! the run; the summary shows each step's time and which steps were not reached.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use crate::{commands, defaults, docs, needs, process, suite, tidy};

struct Step {
    name: &'static str,
    run: fn() -> Result<()>,
}

const STEPS: &[Step] = &[
    Step { name: "format", run: format },
    Step { name: "clippy", run: clippy },
    Step { name: "tidy", run: tidy::run },
    Step { name: "test", run: suite::run },
    Step { name: "defaults", run: defaults::run },
    Step { name: "regress", run: regress },
    Step { name: "docs", run: docs::run },
    Step { name: "commands", run: commands::run },
];

fn format() -> Result<()> {
    process::run(&mut process::cargo(&["fmt", "--all", "--check"]))
}

fn clippy() -> Result<()> {
    process::run(&mut process::cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

/// Checks that the costs of the engine are in proportion, in an optimised build.
pub(crate) fn regress() -> Result<()> {
    if !needs::provide_one(needs::VALGRIND) {
        return Ok(());
    }
    process::run(&mut process::cargo(&["build", "--release", "--package", "firesteel-bench"]))?;
    process::run(Command::new(defaults::release_folder()?.join("firesteel-bench")).arg("regress"))
}

/// Runs the steps and prints the summary.
pub(crate) fn run() -> Result<()> {
    process::compile_once();
    let (times, outcome) = run_steps(STEPS);
    print!("{}", summary(STEPS, &times, outcome.is_ok()));
    outcome
}

/// Runs steps until one fails; gives the time of each step that ran.
fn run_steps(steps: &[Step]) -> (Vec<Duration>, Result<()>) {
    let mut times = Vec::new();
    for step in steps {
        println!("== {}", step.name);
        let start = Instant::now();
        let outcome = (step.run)();
        times.push(start.elapsed());
        if outcome.is_err() {
            return (times, outcome.with_context(|| format!("ci stopped at the step `{}`", step.name)));
        }
    }
    (times, Ok(()))
}

/// The closing lines: one per step, then the total. When the run failed, it failed at the last step with a time.
fn summary(steps: &[Step], times: &[Duration], passed: bool) -> String {
    let mut text = "== summary\n".to_owned();
    for (index, step) in steps.iter().enumerate() {
        let verdict = match index + 1 {
            ran if ran > times.len() => "not run",
            last if last == times.len() && !passed => "FAILED",
            _ => "ok",
        };
        let time = times.get(index).map_or_else(String::new, |time| seconds(*time));
        text.push_str(format!("  {:<10}{verdict:<8}{time:>8}", step.name).trim_end());
        text.push('\n');
    }
    let verdict = if passed { "passed" } else { "failed" };
    text + &format!("ci {verdict} in {}\n", seconds(times.iter().sum()))
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    const FAILING: &[Step] = &[
        Step { name: "one", run: || Ok(()) },
        Step { name: "two", run: || bail!("bad") },
        Step { name: "three", run: || Ok(()) },
    ];

    #[test]
    fn the_first_failure_ends_the_run() {
        let (times, outcome) = run_steps(FAILING);

        assert_eq!(times.len(), 2);
        assert_eq!(
            format!("{:#}", outcome.expect_err("step two fails")),
            "ci stopped at the step `two`: bad"
        );
    }

    #[test]
    fn the_summary_shows_what_ran_and_what_did_not() {
        let text = summary(FAILING, &[Duration::from_millis(1500), Duration::from_millis(250)], false);

        assert_eq!(
            text,
            "== summary\n  one       ok         1.5 s\n  two       FAILED     0.2 s\n  three     not run\nci failed in 1.8 s\n"
        );
    }
}
