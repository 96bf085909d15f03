//! Builds and runs every test, and says how many there were.

use anyhow::{Result, bail};

use super::{
    executables,
    lanes::{self, Job},
    outcome::{failed, summary},
};
use crate::{needs, process};

/// How many executables run at a time. Each has a thread per core already, but many tests wait for processes, for
/// deadlines or for the disk: a second executable computes meanwhile.
const LANES: usize = 2;

/// What runs longest, the longest first, so that no long one is left alone at the end.
const LONGEST: &[&str] = &[
    "-p firesteel --test memory",
    "-p firesteel --test keyed",
    DOC_TESTS,
    "-p firesteel --lib",
    "-p firesteel --test engine",
    "-p firesteel-answers --test fixed_seeds",
    "-p firesteel-cli --test faults",
    "-p firesteel-scheduler --test random",
    "-p firesteel-answers --bin firesteel-answers",
    "-p firesteel --test joins",
    "-p firesteel-cli --test cli",
    "-p firesteel --test cluster",
    "-p firesteel --test actions",
];

/// The doc tests of all crates, which cargo compiles and runs itself.
const DOC_TESTS: &str = "--workspace --doc";

/// What nextest does not do: the doc tests, and the examples, which plain `cargo test` builds by itself.
const BESIDE_NEXTEST: &[&[&str]] =
    &[&["test", "--workspace", "--doc"], &["build", "--workspace", "--examples"]];

/// Provides what the tests need, then runs them all.
pub(crate) fn run() -> Result<()> {
    needs::provide();
    if process::is_installed(needs::NEXTEST) {
        process::run(&mut process::cargo(&["nextest", "run", "--workspace", "--no-tests=pass"]))?;
        return BESIDE_NEXTEST.iter().try_for_each(|args| process::run(&mut process::cargo(args)));
    }

    let libraries = executables::libraries()?;
    let executables = executables::build()?;
    let mut jobs: Vec<Job> = executables
        .iter()
        .map(|executable| Job { name: executable.to_string(), command: executable.command(&libraries) })
        .collect();
    jobs.push(Job {
        name: DOC_TESTS.to_owned(),
        command: process::cargo(&["test", "--workspace", "--doc", "--no-fail-fast"]),
    });
    println!("running {} test executables and the doc tests, {LANES} at a time", executables.len());
    let outcomes = lanes::run(jobs, LONGEST, LANES);
    print!("{}", summary(&outcomes));
    match failed(&outcomes)[..] {
        [] => Ok(()),
        ref failed => {
            bail!("{} test programs failed:\n  cargo test {}", failed.len(), failed.join("\n  cargo test "))
        }
    }
}
