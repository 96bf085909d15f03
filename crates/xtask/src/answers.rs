//! `cargo xtask answers`: random jobs with random faults, compared with a plain model.
//!
//! Builds `firesteel-answers` with assertions on, and passes the arguments to it. With `--defects` it puts
//! known defects back instead ([`defects`]), with `--coverage` it says which lines ran ([`coverage`]).

mod coverage;
mod defects;

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::process;

/// The package and its program.
const PROGRAM: &str = "firesteel-answers";

/// How it is built.
#[derive(Clone, Copy)]
enum Profile {
    /// With some speed, for long runs.
    Answers,
    /// As the tests are, which is quick to build.
    Dev,
    /// The same with counters of what runs.
    Counting,
}

/// Runs the comparison.
pub(crate) fn run(args: &[String]) -> Result<()> {
    match args {
        [flag, names @ ..] if flag == "--defects" => defects::run(names),
        [flag, file] if flag == "--case" => process::run(
            Command::new(build(&process::root(), &target()?, Profile::Answers)?).arg("case").arg(file),
        ),
        [flag, ..] if flag == "--case" => bail!("`answers --case` takes the name of one file"),
        _ => process::run(
            Command::new(build(&process::root(), &target()?, Profile::Answers)?).arg("run").args(args),
        ),
    }
}

/// The target directory that this program was built in.
fn target() -> Result<PathBuf> {
    let program = env::current_exe().context("cannot find this program")?;
    Ok(program.ancestors().nth(2).context("this program lies in no build")?.to_owned())
}

/// Builds the comparison of the tree at `root`; gives its program.
fn build(root: &Path, target: &Path, profile: Profile) -> Result<PathBuf> {
    let (name, folder) = match profile {
        Profile::Answers => ("answers", "answers"),
        Profile::Dev | Profile::Counting => ("dev", "debug"),
    };
    let mut cargo = process::cargo(&["build", "--profile", name, "--package", PROGRAM]);
    if matches!(profile, Profile::Counting) {
        cargo.env("RUSTFLAGS", "-C instrument-coverage");
    }
    process::run(cargo.current_dir(root).env("CARGO_TARGET_DIR", target))?;
    Ok(target.join(folder).join(PROGRAM))
}
