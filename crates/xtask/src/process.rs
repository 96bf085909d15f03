//! Starting other programs: cargo above all, always from the root of the repository.
//!
//! Does not decide anything; [`crate::ci`] and [`crate::suite`] say what runs.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};

/// The root of the repository, two levels above this crate.
///
/// Asks the environment first, so that a copy of the repository never works on the place it was copied from.
pub(crate) fn root() -> PathBuf {
    let crate_dir = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    crate_dir.ancestors().nth(2).map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Whether cargo keeps what a later compilation of a changed crate would use.
static IS_INCREMENTAL: AtomicBool = AtomicBool::new(true);

/// Has all further calls of cargo compile as for one time: from nothing, that takes less time and half the disk.
pub(crate) fn compile_once() {
    IS_INCREMENTAL.store(false, Ordering::Relaxed);
}

/// A cargo call at the root, with the same cargo that started us and the same target directory.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(args).current_dir(root());
    if !IS_INCREMENTAL.load(Ordering::Relaxed) {
        command.env("CARGO_INCREMENTAL", "0");
    }
    // What `cargo run` sets for this crate must not look like a change to the build scripts of others.
    for (key, _) in env::vars_os() {
        if key.to_str().is_some_and(|key| key.starts_with("CARGO_PKG_") || key.starts_with("CARGO_MANIFEST_"))
        {
            command.env_remove(key);
        }
    }
    command
}

/// Runs `command` with our terminal, and fails unless it succeeds.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = shown(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed: {status}");
    }
    Ok(())
}

/// Runs `command` quietly and gives what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let line = shown(command);
    let output = command.output().with_context(|| format!("cannot start `{line}`"))?;
    if !output.status.success() {
        bail!("`{line}` failed: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr).trim_end());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` printed something that is not text"))
}

/// Whether `tool` lies on the search path.
pub(crate) fn is_installed(tool: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|dir| dir.join(tool).is_file()))
}

/// The command as a person would type it: the file name of the program, then the arguments.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut line = program.to_string_lossy().into_owned();
    for arg in command.get_args() {
        line.push(' ');
        line.push_str(&arg.to_string_lossy());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_holds_the_workspace() {
        assert!(root().join("crates/xtask/Cargo.toml").is_file());
    }

    #[test]
    fn a_failing_program_is_an_error_that_names_it() {
        let error = output(Command::new("false").arg("--now")).expect_err("`false` always fails");

        assert!(error.to_string().starts_with("`false --now` failed: exit status: 1"), "{error}");
    }
}
