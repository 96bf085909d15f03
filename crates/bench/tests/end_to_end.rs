//! The real program on small sizes: every workload on the engine and by hand gives one answer.

#![expect(clippy::unwrap_used, reason = "tests fail by panics")]

#[path = "../../../testing/waiting.rs"]
mod waiting;

use std::{
    fs,
    process::{Command, Stdio},
    time::Duration,
};

use firesteel_bench::{
    processes::{descendants, look_up, terminate},
    report::Record,
    workload::{WORKLOADS, Workload},
};
use waiting::found_within;

const PROGRAM: &str = env!("CARGO_BIN_EXE_firesteel-bench");

fn bench(arguments: &[&str]) -> (bool, String, String) {
    let output = Command::new(PROGRAM).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

fn records(arguments: &[&str]) -> Vec<Record> {
    let (passed, out, errors) = bench(arguments);
    assert!(passed, "{arguments:?}\n{out}\n{errors}");
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Those that run on this machine alone, by name.
fn local() -> Vec<&'static Workload> {
    WORKLOADS.iter().filter(|workload| !workload.cluster_only).collect()
}

#[test]
fn the_engine_and_the_program_by_hand_give_the_same_answers() {
    let how = ["--scale=0.0005", "--runs=1", "--json"];
    let names: Vec<&str> = local().iter().map(|workload| workload.name).collect();
    let names = names.join(",");

    let engine = records(&[&["run", &names, "--master=local[2]"][..], &how].concat());
    let by_hand = records(&[&["limit", &names][..], &how].concat());

    assert_eq!(engine.len(), local().len());
    for (engine, by_hand) in engine.iter().zip(&by_hand) {
        assert_eq!(engine.workload, by_hand.workload);
        assert!(engine.checksum.agrees_with(&by_hand.checksum), "{engine:?}\n{by_hand:?}");
        assert!(engine.median_seconds > 0.0 && engine.rate > 0.0, "{engine:?}");
        assert!(engine.peak_resident_bytes > 1 << 20, "{engine:?}");
    }
}

#[test]
fn workloads_of_a_cluster_alone_run_on_one() {
    let names: Vec<&str> =
        WORKLOADS.iter().filter(|workload| workload.cluster_only).map(|workload| workload.name).collect();
    let how = ["--master=local-cluster[2,1,1024]", "--scale=0.0005", "--runs=1", "--json"];

    let records = records(&[&["run", &names.join(",")][..], &how].concat());

    let ran: Vec<&str> = records.iter().map(|record| record.workload.as_str()).collect();
    assert_eq!(ran, names);
}

#[test]
fn a_comparison_writes_its_tables_and_raw_figures() {
    let folder = tempfile::tempdir().unwrap();
    let out = format!("--out={}", folder.path().display());

    let (passed, text, errors) =
        bench(&["compare", "join,cold_start", "--limit", "--scale=0.0005", "--runs=1", "--rounds=2", &out]);

    assert!(passed, "{text}\n{errors}");
    let mut files: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    files.sort_by_key(String::len);
    assert_eq!(files.len(), 3);
    assert!(files.iter().any(|file| file.starts_with("<svg") && file.contains("by hand")));
    assert!(files.iter().any(|file| file.starts_with("# Benchmarks") && file.contains("| join |")));
    assert!(files.iter().any(|file| file.lines().count() == 4 && file.starts_with('{')));
    assert!(text.contains("| cold_start |"), "{text}");
}

#[test]
fn what_cannot_be_run_is_said() {
    let (passed, _, errors) = bench(&["run", "executor_loss"]);
    assert!(!passed);
    assert_eq!(errors.trim(), "error: firesteel local[2] does not have executor_loss");

    let (passed, _, errors) = bench(&["run", "jion"]);
    assert!(!passed && errors.contains("there is no workload `jion`"), "{errors}");
}

#[test]
fn data_are_removed_when_all_is_done() {
    let folder = tempfile::tempdir().unwrap();

    let output = Command::new(PROGRAM)
        .args(["run", "wordcount,terasort_spill", "--scale=0.0005", "--runs=1"])
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();

    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_signal_ends_a_comparison_and_all_that_it_started() {
    let (data, results) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // Ends by itself in a minute or so, if the test should fail before it ends it.
    let program = Command::new(PROGRAM)
        .args(["compare", "efficiency_100ms", "--scale=10", "--rounds=1", "--runs=1", "--out"])
        .arg(results.path())
        .env("TMPDIR", data.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let guard = Duration::from_secs(60);
    let started = found_within(guard, "the process of the workload", || {
        descendants(program.id())
            .into_iter()
            .find(|process| process.arguments.iter().any(|word| word == "child"))
    });

    terminate(program.id()).unwrap();
    let output = program.wait_with_output().unwrap();

    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("stopped by a signal"), "{errors}");
    assert!(look_up(started.pid).is_none_or(|other| other.started != started.started));
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
}
