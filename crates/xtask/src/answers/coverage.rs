//! Which lines of the paths to disk the comparison enters.
//!
//! Builds `firesteel-answers` with the compiler's own instrumentation, runs cases in this machine's process and from the
//! shipped form, and reads the counters with the tools of the same LLVM. Executors that are killed leave no counters, so
//! clusters are left out.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{build, target};
use crate::{needs, process};

/// The files and folders that rows go through when memory is short, below the sources of the engine.
const SHORT_OF_MEMORY: &[&str] = &[
    "spill/table.rs",
    "spill/sort.rs",
    "spill/split_files.rs",
    "spill/row_file.rs",
    "spill/watch.rs",
    "pair/group.rs",
    "pair/cogroup/spilled.rs",
    "pair/join/adaptor.rs",
    "pair/join/lent.rs",
    "pair/join/cut.rs",
    "shuffle/buckets.rs",
    "shuffle/store.rs",
    "cache/unroll.rs",
    "cache/rows.rs",
    "cache/keep.rs",
];

/// How many cases run on each of the two backends.
const CASES: &str = "1500";

/// Runs the comparison and prints what it entered, and which lines it did not.
pub(super) fn run() -> Result<()> {
    if !needs::provide_one(needs::LLVM) {
        bail!("the counters cannot be read without {}", needs::LLVM.tool());
    }
    let folder = target()?.join("coverage");
    let counters = folder.join("counters");
    let _ = fs::remove_dir_all(&counters);
    let program = build(&process::root(), &folder, "-C instrument-coverage")?;
    for backend in ["local", "shipped"] {
        let mut run = Command::new(&program);
        run.args(["run", "--seed", "1", "--cases", CASES, "--backend", backend]);
        process::run(run.env("LLVM_PROFILE_FILE", counters.join("%p-%m.profraw")))?;
    }
    let merged = folder.join("merged.profdata");
    let raw = fs::read_dir(&counters).context("no counters were written")?;
    let raw: Vec<PathBuf> = raw.flatten().map(|entry| entry.path()).collect();
    process::run(Command::new("llvm-profdata-22").args(["merge", "--sparse", "-o"]).arg(&merged).args(&raw))?;
    let mut export = Command::new("llvm-cov-22");
    export.args(["export", "--format=text", "--instr-profile"]).arg(&merged).arg(&program);
    let export: Value = serde_json::from_str(&process::output(&mut export)?)?;
    report(&export, &process::root().join("crates/engine/src"))
}

/// Prints a line for each file: how many of its lines ran, and the numbers of those that did not.
fn report(export: &Value, sources: &Path) -> Result<()> {
    let files = export["data"][0]["files"].as_array().context("the export has no files")?;
    println!("| file | lines | entered | not entered |\n|---|---:|---:|---|");
    let (mut all, mut all_entered) = (0, 0);
    for name in SHORT_OF_MEMORY {
        let path = sources.join(name);
        let file =
            files.iter().find(|file| file["filename"].as_str().is_some_and(|file| Path::new(file) == path));
        let file = file.with_context(|| format!("{name} is not in the export"))?;
        let tests = first_line_of_tests(&path)?;
        let lines = lines(file, tests);
        let missed: Vec<String> =
            lines.iter().filter(|line| !line.1).map(|line| line.0.to_string()).collect();
        println!("| {name} | {} | {} | {} |", lines.len(), lines.len() - missed.len(), missed.join(" "));
        all += lines.len();
        all_entered += lines.len() - missed.len();
    }
    println!("| all | {all} | {all_entered} | |");
    Ok(())
}

/// Unit tests stand at the end of a file and are no part of the program.
fn first_line_of_tests(path: &Path) -> Result<u64> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let place = text.lines().position(|line| line == "#[cfg(test)]");
    Ok(place.map_or(u64::MAX, |line| line as u64 + 1))
}

/// The lines at which a counter begins, and whether it ever counted.
fn lines(file: &Value, before: u64) -> Vec<(u64, bool)> {
    let mut lines = std::collections::BTreeMap::<u64, bool>::new();
    // A segment is line, column, count, whether it has a count, whether it begins a region, whether it is a gap.
    for segment in file["segments"].as_array().into_iter().flatten() {
        let begins = segment[3].as_bool() == Some(true)
            && segment[4].as_bool() == Some(true)
            && segment[5].as_bool() == Some(false);
        if let (true, Some(line), Some(count)) = (begins, segment[0].as_u64(), segment[2].as_u64())
            && line < before
        {
            *lines.entry(line).or_insert(true) &= count > 0;
        }
    }
    lines.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_is_entered_if_each_region_that_begins_on_it_ran() {
        let file = json!({ "segments": [
            [3, 1, 7, true, true, false],
            [4, 1, 0, true, true, false],
            [4, 9, 2, true, true, false],
            [5, 1, 0, false, false, false],
            [90, 1, 0, true, true, false],
        ] });

        assert_eq!(lines(&file, 50), [(3, true), (4, false)]);
    }
}
