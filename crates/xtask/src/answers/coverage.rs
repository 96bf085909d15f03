//! Which lines of the paths to disk the comparison enters.
//!
//! Builds `firesteel-answers` with the compiler's own instrumentation, runs cases on every backend, and reads the counters
//! with the tools of the same LLVM. What only executors do is not seen: they begin before the counters are set up.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{PROGRAM, target};
use crate::{needs, process};

/// The files that rows go through when memory is short.
const SHORT_OF_MEMORY: &[&str] = &[
    "crates/engine/src/spill/table.rs",
    "crates/engine/src/spill/sort.rs",
    "crates/engine/src/spill/split_files.rs",
    "crates/engine/src/spill/row_file.rs",
    "crates/engine/src/spill/kept.rs",
    "crates/engine/src/spill/watch.rs",
    "crates/engine/src/pair/group.rs",
    "crates/engine/src/pair/cogroup/groups.rs",
    "crates/engine/src/pair/cogroup/spilled.rs",
    "crates/engine/src/pair/join/adaptor.rs",
    "crates/engine/src/pair/join/cut.rs",
    "crates/engine/src/pair/join/lent.rs",
    "crates/engine/src/pair/join/probe.rs",
    "crates/engine/src/pair/join/subtract.rs",
    "crates/engine/src/pair/join/table.rs",
    "crates/engine/src/shuffle/buckets.rs",
    "crates/engine/src/task/shuffles/store.rs",
    "crates/engine/src/task/blocks/keep.rs",
    "crates/engine/src/task/blocks/rows.rs",
    "crates/engine/src/task/blocks/store.rs",
    "crates/engine/src/task/blocks/unroll.rs",
    "crates/storage/src/block/memory_store.rs",
    "crates/storage/src/block/storage_memory.rs",
    "crates/storage/src/memory/consumer.rs",
    "crates/storage/src/memory/manager.rs",
    "crates/storage/src/memory/pools.rs",
];

/// How many cases run on each backend.
const CASES: [(&str, &str); 3] = [("local", "1200"), ("shipped", "600"), ("cluster", "200")];

/// Adds the instrumentation to the crates that hold those files, and to the one that their generic functions are
/// compiled in. Everything else is the build of every day.
const COMPILER: &str = "#!/bin/sh
case \" $* \" in
    *' --crate-name firesteel '* | *' --crate-name firesteel_storage '* | *' --crate-name firesteel_answers '*)
        exec \"$@\" -C instrument-coverage ;;
esac
exec \"$@\"
";

/// Runs the comparison and prints what it entered, and which lines it did not.
pub(super) fn run() -> Result<()> {
    if !needs::provide_one(needs::LLVM) {
        bail!("the counters cannot be read without {}", needs::LLVM.tool());
    }
    let folder = target()?.join("coverage");
    let counters = folder.join("counters");
    let _ = fs::remove_dir_all(&counters);
    fs::create_dir_all(&counters)?;
    let program = build_counting(&folder)?;
    for (backend, cases) in CASES {
        let mut run = Command::new(&program);
        run.args(["run", "--seed", "1", "--cases", cases, "--backend", backend]);
        // Processes add what they counted to a few files, when they end.
        process::run(run.env("LLVM_PROFILE_FILE", counters.join("%4m.profraw")))?;
    }
    let merged = folder.join("merged.profdata");
    let raw = fs::read_dir(&counters).context("no counters were written")?;
    // A process that is killed while it writes its counters leaves a file that cannot be read.
    let raw: Vec<PathBuf> = raw.flatten().map(|entry| entry.path()).collect();
    process::run(
        Command::new("llvm-profdata-22")
            .args(["merge", "--sparse", "--failure-mode=all", "-o"])
            .arg(&merged)
            .args(&raw),
    )?;
    let mut export = Command::new("llvm-cov-22");
    export
        .args(["export", "--format=text", "--skip-functions", "--instr-profile"])
        .arg(&merged)
        .arg(&program);
    export.args(SHORT_OF_MEMORY.iter().map(|file| process::root().join(file)));
    let export: Value = serde_json::from_str(&process::output(&mut export)?)?;
    report(&export, &process::root())
}

/// Builds the comparison so that it counts; gives a copy of the program, which no other build replaces.
fn build_counting(folder: &Path) -> Result<PathBuf> {
    let compiler = folder.join("compiler");
    fs::write(&compiler, COMPILER)?;
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755))?;
    let mut cargo = process::cargo(&["build", "--package", PROGRAM]);
    process::run(cargo.env("RUSTC_WORKSPACE_WRAPPER", &compiler).env("CARGO_TARGET_DIR", target()?))?;
    let program = folder.join(PROGRAM);
    fs::copy(target()?.join("debug").join(PROGRAM), &program).context("the program was not built")?;
    Ok(program)
}

/// Prints a line for each file: how many of its lines ran, how many of the others cannot, and the numbers of the rest.
fn report(export: &Value, root: &Path) -> Result<()> {
    let files = export["data"][0]["files"].as_array().context("the export has no files")?;
    println!("| file | lines | entered | out of reach | not entered |\n|---|---:|---:|---:|---|");
    let (mut all, mut all_entered) = (0, 0);
    let mut reasons = BTreeMap::<&str, usize>::new();
    for name in SHORT_OF_MEMORY {
        let path = root.join(name);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let text: Vec<&str> = text.lines().collect();
        let is_it = |file: &&Value| file["filename"].as_str().is_some_and(|file| Path::new(file) == path);
        let file = files.iter().find(is_it).with_context(|| format!("{name} is not in the export"))?;
        let lines = lines(file, first_line_of_tests(&text));
        let mut missed = Vec::new();
        let mut out_of_reach = 0;
        for (line, _) in lines.iter().filter(|line| !line.1) {
            match why_out_of_reach(&text, *line as usize - 1) {
                Some(reason) => {
                    *reasons.entry(reason).or_default() += 1;
                    out_of_reach += 1;
                }
                None => missed.push(line.to_string()),
            }
        }
        let entered = lines.len() - missed.len() - out_of_reach;
        println!("| {name} | {} | {entered} | {out_of_reach} | {} |", lines.len(), missed.join(" "));
        all += lines.len();
        all_entered += entered;
    }
    println!("| all | {all} | {all_entered} | {} | |\n", reasons.values().sum::<usize>());
    for (reason, lines) in reasons {
        println!("- {lines}: {reason}");
    }
    Ok(())
}

/// The reason of lines that only a broken disk enters.
const DISK_FAILS: &str = "the disk fails, which storage's own tests and those on a small disk do";

/// Why no case can enter a line: what stands on it, and the reason.
const OUT_OF_REACH: &[(&str, &str)] = &[
    ("abort_storage(", DISK_FAILS),
    (".dirs()", DISK_FAILS),
    (".commit()?", DISK_FAILS),
    ("too_many_keys", "more rows or keys than have 32 bits"),
    ("too many for one hash table", "more rows or keys than have 32 bits"),
    ("is_counting()", "the comparison runs with the counting allocator"),
    ("unreachable!(", "a promise of the code itself"),
];

/// Why no case can enter the line at this place, if there is a reason.
fn why_out_of_reach(text: &[&str], place: usize) -> Option<&'static str> {
    let of_line = OUT_OF_REACH.iter().find(|(part, _)| text[place].contains(part));
    // A block stands at the margin from its first line to its last.
    let is_at_margin = |line: &&&str| !line.is_empty() && !line.starts_with([' ', '}', ')']);
    let block = text[..=place].iter().rev().find(is_at_margin);
    let is_debug = block.is_some_and(|line| line.starts_with("impl") && line.contains("Debug for "));
    of_line.map(|(_, reason)| *reason).or_else(|| is_debug.then_some("written for debuggers"))
}

/// Unit tests stand at the end of a file and are no part of the program.
fn first_line_of_tests(text: &[&str]) -> u64 {
    text.iter().position(|line| *line == "#[cfg(test)]").map_or(u64::MAX, |line| line as u64 + 1)
}

/// The lines at which a counter begins, and whether it ever counted.
fn lines(file: &Value, before: u64) -> Vec<(u64, bool)> {
    let mut lines = BTreeMap::<u64, bool>::new();
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

    #[test]
    fn lines_that_no_case_can_enter_have_their_reason() {
        let text = [
            "impl fmt::Debug for Table {",
            "    fn fmt(&self) {",
            "}",
            "",
            "fn spill(&mut self) {",
            "    Err(error) => abort_storage(&error),",
            "    self.rows.clear();",
        ];
        let why = |line| why_out_of_reach(&text, line);

        assert_eq!(why(1), Some("written for debuggers"));
        assert!(why(5).is_some_and(|reason| reason.starts_with("the disk fails")));
        assert_eq!((why(4), why(6)), (None, None));
    }
}
