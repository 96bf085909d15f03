//! `cargo xtask answers`: random jobs with random faults, compared with a plain model.
//!
//! Builds `firesteel-answers` as the tests are built, since an optimised build takes longer than it saves, and passes the
//! arguments to it. With `--defects` it puts known defects back instead ([`defects`]), with `--coverage` it says which
//! lines ran ([`coverage`]).

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

/// Runs the comparison.
pub(crate) fn run(args: &[String]) -> Result<()> {
    match args {
        [flag, names @ ..] if flag == "--defects" => defects::run(names),
        [flag] if flag == "--coverage" => coverage::run(),
        [flag, file] if flag == "--case" => {
            process::run(Command::new(build(&process::root(), &target()?)?).arg("case").arg(file))
        }
        [flag, ..] if flag == "--case" => bail!("`answers --case` takes the name of one file"),
        _ => process::run(Command::new(build(&process::root(), &target()?)?).arg("run").args(args)),
    }
}

/// The target directory that this program was built in.
fn target() -> Result<PathBuf> {
    let program = env::current_exe().context("cannot find this program")?;
    Ok(program.ancestors().nth(2).context("this program lies in no build")?.to_owned())
}

/// Builds the comparison of the tree at `root`; gives its program.
fn build(root: &Path, target: &Path) -> Result<PathBuf> {
    let mut cargo = process::cargo(&["build", "--package", PROGRAM]);
    process::run(cargo.current_dir(root).env("CARGO_TARGET_DIR", target))?;
    Ok(target.join("debug").join(PROGRAM))
}
