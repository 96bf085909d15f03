//! What tasks leave behind: files, accumulators, errors.

use std::fs;

use firesteel::prelude::*;

use crate::cluster;

/// Behaviours: COMMIT-001, COMMIT-002.
#[test]
fn tasks_of_both_executors_commit_their_files_also_after_a_failure() {
    let ctx = cluster();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let rows = ctx.range_into(0..12_u64, 6).map(|x| {
        let task = TaskContext::current().unwrap();
        assert!(x != 7 || task.attempt_number().0 > 0, "fails once");
        x
    });

    rows.save_as_text_file(out.to_str().unwrap()).unwrap();

    let saved = ctx.text_file(out.to_str().unwrap()).unwrap().collect().unwrap();
    assert_eq!(saved, (0..12).map(|x| x.to_string()).collect::<Vec<_>>());
    let mut names: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(
        names,
        ["_SUCCESS", "part-00000", "part-00001", "part-00002", "part-00003", "part-00004", "part-00005"]
    );
}

/// Behaviours: ACC-001, ACC-003.
#[test]
fn accumulators_count_what_succeeded_on_all_executors() {
    let ctx = cluster();
    let (rows, pids) = (ctx.long_accumulator("rows"), ctx.collection_accumulator::<u32>("pids"));

    let counted = ctx.range_into(0..100_i64, 10).with((rows.clone(), pids.clone()));
    let done = counted.for_each(|(rows, pids), x| {
        rows.add(x);
        let task = TaskContext::current().unwrap();
        if x % 10 == 9 {
            pids.add(std::process::id());
        }
        assert!(x != 55 || task.attempt_number().0 == 2, "fails twice in the middle");
    });

    done.unwrap();
    assert_eq!((rows.value().sum, rows.value().count), (4950, 100));
    let pids = pids.value().0;
    assert_eq!(pids.len(), 10);
    assert!(!pids.contains(&std::process::id()), "no task runs on the driver");
}

#[test]
fn the_error_of_a_panic_on_an_executor_names_operator_line_executor_and_the_number_of_failures() {
    let ctx = cluster();

    let error = ctx.range_into(0..10, 2).map(|x| 1 / (x - 5)).count().unwrap_err().to_string();

    for part in
        ["count at ", "failed 4 times", "on executor-", "attempt to divide by zero", "map at ", "output.rs:"]
    {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}
